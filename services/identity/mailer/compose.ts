import { LINK_MINUTES } from '../../../shared/contract/identity/sign-in.ts';
import type { Environment } from '../../../shared/contract/primitives.ts';
import type { MailRow } from '../mails/store.ts';
import { loginToken, revealToken, tokenWithHash } from '../sessions/model/tokens.ts';
import type { Mail } from './mail-text.ts';
import { noticeMail } from './notices.ts';
import { signInMail } from './sign-in-mail.ts';

/** What the links in mails are made of. */
export type LinkSettings = {
  environment: Environment;
  identitySecrets: readonly Buffer[];
  signInUrl: string;
  revealUrl: string;
  consoleUrl: string;
};

/** The mail of a row. Null for a kind that this release does not know. */
export const composeMail = (
  { environment, identitySecrets, signInUrl, revealUrl, consoleUrl }: LinkSettings,
  { kind, to_address: to, link_id, token_hash, details }: MailRow,
): Mail | null => {
  if (kind === 'sign_in' && link_id !== null) {
    const tokenOf = (secret: Buffer) => loginToken(secret, environment, link_id);
    const token = tokenWithHash(identitySecrets, tokenOf, token_hash);
    return signInMail({ to, environment, signInUrl, token, minutes: LINK_MINUTES });
  }
  if (kind === 'payment_declined') {
    const link = { url: `${consoleUrl}/delegates`, label: 'Show the delegates' };
    return noticeMail(kind, { to, environment, details }, link);
  }
  if (link_id === null) return noticeMail(kind, { to, environment, details }, null);
  // The page requires a sign-in and a passkey, so the link holds no secret.
  if (kind === 'approval_requested') {
    return noticeMail(
      kind,
      { to, environment, details },
      { url: `${consoleUrl}/approvals/${link_id}`, label: 'Show the payment' },
    );
  }
  // The page reads the owner of the key from the query. The token is in the fragment, which
  // browsers send to no server.
  const owner = new URLSearchParams({ [details.owner_kind ?? '']: details.owner_id ?? '' });
  const tokenOf = (secret: Buffer) => revealToken(secret, environment, link_id);
  const token = tokenWithHash(identitySecrets, tokenOf, token_hash);
  const link = { url: `${revealUrl}?${owner}#token=${token}`, label: 'Show the new key' };
  return noticeMail(kind, { to, environment, details }, link);
};
