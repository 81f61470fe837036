import type { z } from 'zod';
import type { Session } from '../../../shared/contract/identity/sign-in.ts';
import type { Environment } from '../../../shared/contract/primitives.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import { ACCESS_TOKEN_SECONDS, signAccessToken } from '../../../shared/lib/tokens/access-token.ts';
import type { SigningKey } from '../../../shared/lib/tokens/keys.ts';
import { refreshToken } from './model/tokens.ts';
import type { SessionRow } from './store/sessions.ts';

/** What makes the tokens of a session. */
export type SessionIssuer = {
  environment: Environment;
  clock: Clock;
  signingKey: SigningKey;
  identitySecrets: readonly Buffer[];
};

/**
 * Issues a new access token and the refresh token of the session's generation. A repeat returns the
 * same refresh token.
 */
export const issueSession = async (
  { environment, clock, signingKey, identitySecrets }: SessionIssuer,
  row: SessionRow,
): Promise<z.infer<typeof Session>> => ({
  access_token: await signAccessToken(
    {
      accountId: row.account_id,
      sessionId: row.session_id,
      environment,
      amr: row.amr,
      authTime: Math.floor(row.signed_in_at / 1000),
      now: clock(),
    },
    signingKey,
  ),
  token_type: 'Bearer',
  expires_in: ACCESS_TOKEN_SECONDS,
  refresh_token: refreshToken(identitySecrets[0]!, environment, {
    sessionId: row.session_id,
    generation: row.generation,
  }),
  account: { account_id: row.account_id, email: row.email },
});
