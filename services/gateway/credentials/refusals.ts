import type { KeyRefusal } from '../../../shared/contract/identity.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import type { FoundKey } from '../environments/environment.ts';

/**
 * The texts of refused credentials: what is wrong, then what to do. Each follows from the text of
 * the credential, or from the record of a key whose whole text the caller has, so it does not help
 * to guess one.
 */
export const MISTYPED_KEY =
  'the key is mistyped or incomplete: its last 6 characters, which are a checksum, do not match the others; copy the whole key again';
export const INVALID_TOKEN =
  'the access token is not signed by this service, or it was changed; sign in again';
export const ENDED_SIGN_IN = 'the sign-in of the access token has ended; sign in again';

/** @param expiredAt epoch milliseconds */
export const expiredToken = (expiredAt: number): string =>
  `the access token expired at ${isoTime(expiredAt)}; get a new one with POST /v1/auth/refresh, or sign in again`;

/** A credential of an environment that this gateway does not serve. */
export const unservedEnvironment = (environment: string, served: Iterable<string>): string =>
  `the credential is for the environment ${environment}, which is not served here; use a credential for ${[...served].join(' or ')}`;

const KEY_REFUSALS: Record<KeyRefusal, (since: string) => string> = {
  revoked: (since) => `the key was revoked or replaced at ${since}; use the current key`,
  delegate_deleted: (since) =>
    `the delegate of the key was deleted at ${since}; use the key of another delegate`,
  delegate_expired: (since) => `the delegate of the key expired at ${since}; use the key of another delegate`,
};

/** @param found null if identity has never had such a key */
export const refusedKey = (found: FoundKey | null, environment: string): string =>
  found !== null && 'refused' in found
    ? KEY_REFUSALS[found.refused](found.since)
    : `the environment ${environment} has no such key; check that the key is for this server and was not deleted`;

/** @param address of the caller, as the gateway sees it */
export const notAllowedFrom = (address: string): string =>
  `the key may not be used from the address ${address}; add it to allowed_ips of the service, or call from an allowed address`;
