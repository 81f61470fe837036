import { createHash } from 'node:crypto';
import {
  type AuthenticationResponseJSON,
  generateAuthenticationOptions,
  generateRegistrationOptions,
  type RegistrationResponseJSON,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';
import { decodeAttestationObject, parseAuthenticatorData } from '@simplewebauthn/server/helpers';
import type { z } from 'zod';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Environment } from '../../../shared/contract/primitives.ts';
import type { Terms } from '../terms.ts';
import { CHALLENGE_MINUTES } from './store/passkey_challenges.ts';

/** No other file imports `@simplewebauthn/server`. */
export type RelyingParty = Terms['rp'];

type Operations = typeof identity.operations;
type Registration = z.infer<Operations['passkeyRegisterVerify']['input']>['response'];
type Assertion = z.infer<Operations['passkeyLoginVerify']['input']>['response'];

const TIMEOUT_MS = CHALLENGE_MINUTES * 60_000;
/** Ed25519, ES256 and RS256. Every authenticator supports one of them. */
const ALGORITHMS = [-8, -7, -257];

/**
 * The user id that an authenticator stores. It contains no personal data and differs between
 * environments, so a passkey of one environment is never accepted as one of the other, even where
 * both have the same RP id.
 */
export const userHandle = (environment: Environment, accountId: string): Buffer =>
  createHash('sha256').update(`quittance-user\n${environment}\n${accountId}`).digest();

/** A refusal that the person can change: no PIN, fingerprint or face was asked for. */
export const UNVERIFIED = 'the user was not verified';

/** The reason for the log. It is cut, because the library repeats what the client sent. */
const refusal = (error: unknown): { refused: string } => ({
  refused: (error as Error).message.slice(0, 120),
});

/** The options of `navigator.credentials.create`. */
export const registrationOptions = async (
  { rp, environment }: { rp: RelyingParty; environment: Environment },
  account: { account_id: string; email: string; display_name: string | null },
  existing: readonly { credential_id: string; transports: string[] }[],
): Promise<z.infer<Operations['passkeyRegisterOptions']['output']>> => {
  const options = await generateRegistrationOptions({
    rpName: rp.name,
    rpID: rp.id,
    userID: new Uint8Array(userHandle(environment, account.account_id)),
    userName: account.email,
    userDisplayName: account.display_name ?? account.email,
    timeout: TIMEOUT_MS,
    attestationType: 'none',
    supportedAlgorithmIDs: ALGORITHMS,
  });
  return {
    challenge: options.challenge,
    rp: { id: rp.id, name: rp.name },
    user: options.user,
    pubKeyCredParams: options.pubKeyCredParams.map(({ alg }) => ({ type: 'public-key', alg })),
    timeout: TIMEOUT_MS,
    excludeCredentials: existing.map(({ credential_id: id, transports }) => ({
      id,
      type: 'public-key',
      transports,
    })),
    authenticatorSelection: {
      residentKey: 'required',
      requireResidentKey: true,
      userVerification: 'required',
    },
    attestation: 'none',
    extensions: { credProps: true },
  };
};

/**
 * The options of `navigator.credentials.get`. They name no credential: the authenticator finds its
 * own.
 */
export const loginOptions = async ({
  rp,
}: {
  rp: RelyingParty;
}): Promise<z.infer<Operations['passkeyLoginOptions']['output']>> => {
  const { challenge } = await generateAuthenticationOptions({ rpID: rp.id, userVerification: 'required' });
  return { challenge, rpId: rp.id, timeout: TIMEOUT_MS, userVerification: 'required' };
};

/** The same for a challenge of the caller, which only these passkeys may sign. */
export const assertionOptions = (
  { rp }: { rp: RelyingParty },
  challenge: string,
  passkeys: readonly { credential_id: string; transports: string[] }[],
): z.infer<Operations['approvalOptions']['output']> => ({
  challenge,
  rpId: rp.id,
  timeout: TIMEOUT_MS,
  userVerification: 'required',
  allowCredentials: passkeys.map(({ credential_id: id, transports }) => ({
    id,
    type: 'public-key',
    transports,
  })),
});

/**
 * Whether an attestation contains no certificate. The options request none. A certificate that
 * comes anyway is refused unread, because its chain would be checked against lists that are fetched
 * from addresses inside the certificate. Browsers send `none`, or `packed` signed by the new key
 * itself.
 */
const namesNoCertificate = (attestationObject: string): boolean => {
  const attestation = decodeAttestationObject(new Uint8Array(Buffer.from(attestationObject, 'base64url')));
  const format = attestation.get('fmt');
  return format === 'none' || (format === 'packed' && attestation.get('attStmt').get('x5c') === undefined);
};

/** The flag UV of a new credential (WebAuthn, 6.1). */
const isUserVerified = (attestationObject: string): boolean => {
  const attestation = decodeAttestationObject(new Uint8Array(Buffer.from(attestationObject, 'base64url')));
  return parseAuthenticatorData(attestation.get('authData')).flags.uv;
};

type NewCredential = {
  credential_id: string;
  public_key: Uint8Array;
  counter: number;
  transports: string[];
  backed_up: boolean;
};

/**
 * The credential that a registration proves, or the reason of a refusal for the log. Never throws,
 * whatever the client sent.
 */
export const verifyRegistration = async (
  { rp }: { rp: RelyingParty },
  response: Registration,
  challenge: string,
): Promise<{ credential: NewCredential } | { refused: string }> => {
  try {
    const { attestationObject } = response.response;
    if (!namesNoCertificate(attestationObject)) return { refused: 'attestation' };
    if (!isUserVerified(attestationObject)) return { refused: UNVERIFIED };
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: response as RegistrationResponseJSON,
      expectedChallenge: challenge,
      expectedOrigin: [...rp.origins],
      expectedRPID: rp.id,
      requireUserVerification: true,
      supportedAlgorithmIDs: ALGORITHMS,
    });
    if (!verified || registrationInfo === undefined) return { refused: 'not verified' };
    const { credential, credentialBackedUp } = registrationInfo;
    return {
      credential: {
        credential_id: credential.id,
        public_key: credential.publicKey,
        counter: credential.counter,
        transports: response.response.transports ?? [],
        backed_up: credentialBackedUp,
      },
    };
  } catch (error) {
    return refusal(error);
  }
};

/**
 * The counter that an assertion proves, or the reason of a refusal for the log. The store checks
 * the counter rule.
 */
export const verifyAssertion = async (
  { rp }: { rp: RelyingParty },
  response: Assertion,
  challenge: string,
  stored: { credential_id: string; public_key: Uint8Array },
): Promise<{ counter: number; backedUp: boolean } | { refused: string }> => {
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: response as AuthenticationResponseJSON,
      expectedChallenge: challenge,
      expectedOrigin: [...rp.origins],
      expectedRPID: rp.id,
      requireUserVerification: true,
      credential: {
        id: stored.credential_id,
        publicKey: new Uint8Array(stored.public_key),
        // With 0 the library does not check the counter. The store does, in one statement, and the
        // owner is notified.
        counter: 0,
      },
    });
    if (!verified) return { refused: 'the signature is wrong' };
    return { counter: authenticationInfo.newCounter, backedUp: authenticationInfo.credentialBackedUp };
  } catch (error) {
    return refusal(error);
  }
};
