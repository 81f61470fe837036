import { setTimeout as sleep } from 'node:timers/promises';
import { DEVICE_REFUSAL, deviceRefusal, isOpenToDevices } from '../../../shared/contract/device-access.ts';
import { ServiceError } from '../../../shared/contract/errors.ts';
import type { CredentialKind, Principal } from '../../../shared/contract/principal.ts';
import type { HttpOperation } from '../../../shared/contract/service.ts';
import { cached } from '../../../shared/lib/cached.ts';
import { isRefused, verifyAccessToken } from '../../../shared/lib/tokens/access-token.ts';
import { parseKeyText } from '../../../shared/lib/tokens/key-text.ts';
import type { PublicKeys } from '../../../shared/lib/tokens/keys.ts';
import {
  CREDENTIAL_MAX_AGE_MS,
  type FoundKey,
  type GatewayEnvironment,
} from '../environments/environment.ts';
import { isAllowedFrom } from './allowed-ips.ts';
import { type Bearer, readBearer } from './bearer.ts';
import {
  ENDED_SIGN_IN,
  expiredToken,
  INVALID_TOKEN,
  MISTYPED_KEY,
  notAllowedFrom,
  refusedKey,
  unservedEnvironment,
} from './refusals.ts';
import type { RefusedKeys } from './refused-keys.ts';

/**
 * The caller, the environment, and the factor by which an operator has raised the limits of the
 * account.
 */
export type Authenticated = { environment: GatewayEnvironment; principal: Principal; limitFactor: number };

/**
 * Finds the caller by the Bearer credential of a request.
 * @throws ServiceError unauthorized, rate_limited; forbidden for a key that may not be used from
 *   the address
 */
export type Authenticate = (rawHeaders: readonly string[], address: string) => Promise<Authenticated>;

/**
 * The minimum time of a refusal, so that a credential refused by its shape and one refused after a
 * query take the same time.
 */
const REFUSAL_FLOOR_MS = 20;

/** Each kind of credential, and how a person gets one. */
const KINDS: Record<CredentialKind, { name: string; from: string }> = {
  service_key: { name: 'a service key', from: 'the console shows a service key (vendor_…) under Services' },
  delegate_key: { name: 'a delegate key', from: 'the console shows a delegate key (dk_…) under Delegates' },
  jwt: { name: 'an access token', from: 'a sign-in gives an access token (POST /v1/auth/magic-link)' },
};

const wrongKind = (given: CredentialKind | 'none', needed: readonly CredentialKind[]): string => {
  const accepted = needed.map((kind) => KINDS[kind].name).join(' or ');
  const sent = given === 'none' ? '' : `, and ${KINDS[given].name} was sent`;
  return `this call requires ${accepted}${sent}; ${needed.map((kind) => KINDS[kind].from).join(', and ')}`;
};

/** Why a credential is refused: a text for the caller, what is wrong and then what to do. */
type Refused = { refusal: string };

type Deps = {
  environments: ReadonlyMap<string, GatewayEnvironment>;
  publicKeys: PublicKeys;
  refusedKeys: RefusedKeys;
  now: () => number;
};

/** The record of a valid key. The prefix of its text must agree with it about the kind. */
const validKey = (found: FoundKey | null, kind: CredentialKind) =>
  found !== null && 'principal' in found && found.principal.kind === kind ? found : null;

/**
 * Checks the Bearer credentials of all environments. Reads the Authorization header only. A refusal
 * says only what follows from the text of the credential, or from the record of a key whose whole
 * text the caller has.
 */
export const createAuthenticate = ({ environments, publicKeys, refusedKeys, now }: Deps): Authenticate => {
  const unserved = (name: string): Refused => ({ refusal: unservedEnvironment(name, environments.keys()) });

  const fromKey = async (text: string, address: string): Promise<Authenticated | Refused> => {
    const key = parseKeyText(text);
    if (key === null) return { refusal: MISTYPED_KEY };
    const environment = environments.get(key.environment);
    if (environment === undefined) return unserved(key.environment);
    const attempt = { environment: environment.name, hash: key.hash, address };
    refusedKeys.admit(attempt);
    const found = await environment.findKey(key.hash);
    const good = validKey(found, key.kind);
    await refusedKeys.record(attempt, good !== null);
    if (good === null) return { refusal: refusedKey(found, environment.name) };
    if (!isAllowedFrom(good.allowed_ips, address))
      throw new ServiceError('forbidden', notAllowedFrom(address));
    return { environment, principal: good.principal, limitFactor: good.limit_factor };
  };

  // Calls of one session come in bursts. The signature of its token is verified once per burst, its
  // expiry with every call.
  const verified = cached((text: string) => verifyAccessToken(text, { keys: publicKeys, now: now() }), {
    maxAgeMs: CREDENTIAL_MAX_AGE_MS,
    isCacheable: (access) => !isRefused(access),
  });
  const fromAccessToken = async (text: string): Promise<Authenticated | Refused> => {
    const access = await verified(text);
    const expiredAt = isRefused(access) ? access.expiredAt : access.expiresAt;
    if (expiredAt === null) return { refusal: INVALID_TOKEN };
    if (isRefused(access) || now() >= expiredAt) return { refusal: expiredToken(expiredAt) };
    const environment = environments.get(access.env);
    if (environment === undefined) return unserved(access.env);
    const { open, frozen, limit_factor: limitFactor } = await environment.findSession(access);
    if (!open) return { refusal: ENDED_SIGN_IN };
    const { accountId, sessionId, amr, authTime } = access;
    return {
      environment,
      principal: {
        kind: 'jwt',
        account_id: accountId,
        session_id: sessionId,
        auth_time: authTime,
        ...(amr.includes('device') && { device: true }),
        ...(frozen && { frozen }),
      },
      limitFactor,
    };
  };

  const find = async (bearer: Bearer, address: string): Promise<Authenticated | Refused> => {
    if (bearer.kind === 'none') return bearer;
    return bearer.kind === 'key' ? fromKey(bearer.text, address) : fromAccessToken(bearer.text);
  };

  return async (rawHeaders, address) => {
    const startedAt = performance.now();
    const found = await find(readBearer(rawHeaders), address);
    if (!('refusal' in found)) return found;
    await sleep(Math.max(0, REFUSAL_FLOOR_MS - (performance.now() - startedAt)));
    throw new ServiceError('unauthorized', found.refusal);
  };
};

/** Whether the caller is a device that a person has signed in. */
const isDevice = ({ principal }: Authenticated): boolean =>
  principal.kind === 'jwt' && principal.device === true;

/**
 * Checks that an operation is open to the credential.
 * @throws ServiceError forbidden for another kind of credential, another environment, or a device
 */
export const authorize = (caller: Authenticated, operation: HttpOperation): void => {
  const { principal, environment } = caller;
  const { access, onlyIn } = operation;
  if (!access.some((kind) => kind === principal.kind)) {
    throw new ServiceError('forbidden', wrongKind(principal.kind, access));
  }
  if (onlyIn !== undefined && !onlyIn.some((name) => name === environment.name)) {
    throw new ServiceError(
      'forbidden',
      `this call is available only in the environment ${onlyIn.join(', ')}; use a credential of it`,
    );
  }
  if (isDevice(caller) && !isOpenToDevices(operation)) throw new ServiceError('forbidden', DEVICE_REFUSAL);
};

/**
 * Checks the input of a call by the sign-in of a device.
 * @throws ServiceError forbidden
 */
export const authorizeInput = (caller: Authenticated, operation: HttpOperation, input: unknown): void => {
  const refusal = isDevice(caller) ? deviceRefusal(operation, input) : null;
  if (refusal !== null) throw new ServiceError('forbidden', refusal);
};
