import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '../../../shared/contract/errors.ts';
import type { CredentialKind, Principal } from '../../../shared/contract/principal.ts';
import type { HttpOperation } from '../../../shared/contract/service.ts';
import { verifyAccessToken } from '../../../shared/lib/access-token.ts';
import { cached } from '../../../shared/lib/cached.ts';
import { parseKeyText } from '../../../shared/lib/key-text.ts';
import type { PublicKeys } from '../../../shared/lib/keys.ts';
import { CREDENTIAL_MAX_AGE_MS, type GatewayEnvironment } from '../environments/environment.ts';
import type { RefusedKeys } from './refused-keys.ts';

/**
 * The caller, the environment, and the factor by which an operator has raised the limits of the
 * account.
 */
export type Authenticated = { environment: GatewayEnvironment; principal: Principal; limitFactor: number };

/**
 * Finds the caller by the Bearer credential of a request.
 * @throws ServiceError unauthorized, rate_limited
 */
export type Authenticate = (rawHeaders: readonly string[], address: string) => Promise<Authenticated>;

/**
 * Keys have 60 characters and access tokens about 500. A longer text is neither hashed nor parsed.
 */
const MAX_CREDENTIAL_LENGTH = 4096;

/**
 * The minimum time of a refusal, so that a credential refused by its shape and one refused after a
 * query take the same time.
 */
const REFUSAL_FLOOR_MS = 20;

/** The only Bearer credential of the request. Null for none, several or another scheme. */
const bearerOf = (rawHeaders: readonly string[]): string | null => {
  // Node uses the first of several Authorization headers and drops the rest silently, so the raw
  // list is read. The server has already refused such a request; this is the second check.
  const values = rawHeaders.filter(
    (_, i) => i % 2 === 1 && rawHeaders[i - 1]!.toLowerCase() === 'authorization',
  );
  const [value = ''] = values;
  if (values.length !== 1 || value.length > MAX_CREDENTIAL_LENGTH) return null;
  return /^Bearer +([A-Za-z0-9._-]+)$/i.exec(value)?.[1] ?? null;
};

const KIND_NAMES: Record<CredentialKind, string> = {
  service_key: 'a service key',
  delegate_key: 'a delegate key',
  jwt: 'an access token',
};

/** Checks the Bearer credentials of all environments. Reads the Authorization header only. */
export const createAuthenticate = ({
  environments,
  publicKeys,
  refusedKeys,
  now,
}: {
  environments: ReadonlyMap<string, GatewayEnvironment>;
  publicKeys: PublicKeys;
  refusedKeys: RefusedKeys;
  now: () => number;
}): Authenticate => {
  const fromKey = async (text: string, address: string): Promise<Authenticated | null> => {
    const key = parseKeyText(text);
    const environment = key === null ? undefined : environments.get(key.environment);
    if (key === null || environment === undefined) return null;
    const attempt = { environment: environment.name, hash: key.hash, address };
    refusedKeys.admit(attempt);
    const found = await environment.findKey(key.hash);
    // The prefix of the text and the record must agree about the kind of the key.
    const isGood = found?.principal.kind === key.kind;
    await refusedKeys.record(attempt, isGood);
    return isGood ? { environment, principal: found.principal, limitFactor: found.limit_factor } : null;
  };

  // Calls of one session come in bursts. The signature of its token is verified once per burst, its
  // expiry with every call.
  const verified = cached((text) => verifyAccessToken(text, { keys: publicKeys, now: now() }), {
    maxAgeMs: CREDENTIAL_MAX_AGE_MS,
    isCacheable: (claims) => claims !== null,
  });
  const fromAccessToken = async (text: string): Promise<Authenticated | null> => {
    const claims = await verified(text);
    const environment = claims === null ? undefined : environments.get(claims.env);
    if (claims === null || environment === undefined || now() >= claims.expiresAt) return null;
    const { open, frozen, limit_factor: limitFactor } = await environment.findSession(claims);
    if (!open) return null;
    const { accountId, sessionId, authTime } = claims;
    return {
      environment,
      principal: {
        kind: 'jwt',
        account_id: accountId,
        session_id: sessionId,
        auth_time: authTime,
        ...(frozen && { frozen }),
      },
      limitFactor,
    };
  };

  return async (rawHeaders, address) => {
    const startedAt = performance.now();
    const text = bearerOf(rawHeaders);
    const caller =
      text === null ? null : await (text.includes('.') ? fromAccessToken(text) : fromKey(text, address));
    if (caller === null) {
      await sleep(Math.max(0, REFUSAL_FLOOR_MS - (performance.now() - startedAt)));
      throw new ServiceError(
        'unauthorized',
        'a valid credential is required; send the header Authorization: Bearer <credential>. A key is valid in one environment, an access token for 15 minutes',
      );
    }
    return caller;
  };
};

/**
 * Checks that an operation is open to the credential.
 * @throws ServiceError forbidden for another kind of credential or another environment
 */
export const authorize = (
  { principal, environment }: Authenticated,
  { access, onlyIn }: Pick<HttpOperation, 'access' | 'onlyIn'>,
): void => {
  if (!access.some((kind) => kind === principal.kind)) {
    const accepted = access.map((kind) => KIND_NAMES[kind]).join(' or ');
    throw new ServiceError('forbidden', `this call requires ${accepted}`);
  }
  if (onlyIn !== undefined && !onlyIn.some((name) => name === environment.name)) {
    throw new ServiceError(
      'forbidden',
      `this call is available only in the environment ${onlyIn.join(', ')}; use a credential of it`,
    );
  }
};
