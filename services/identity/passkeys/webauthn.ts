import { createHash } from 'node:crypto';
import {
  generateAuthenticationOptions,
  generateRegistrationOptions,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';
import { decodeAttestationObject } from '@simplewebauthn/server/helpers';
import { z } from 'zod';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Environment } from '../../../shared/contract/primitives.ts';
import type { Deps } from '../deps.ts';
import { type Ceremony, CHALLENGE_MINUTES, useChallenge } from './store/passkey_challenges.ts';

/** @simplewebauthn/server is known to this file alone. */
export type RelyingParty = {
  id: string;
  name: string;
  /** Exact origins of the pages that may use passkeys. */
  origins: readonly string[];
};

type Operations = typeof identity.operations;
type Registration = z.infer<Operations['passkeyRegisterVerify']['input']>['response'];
type Assertion = z.infer<Operations['passkeyLoginVerify']['input']>['response'];

const TIMEOUT_MS = CHALLENGE_MINUTES * 60_000;
/** Ed25519, ES256, RS256: what every authenticator offers one of. */
const ALGORITHMS = [-8, -7, -257];

/**
 * What an authenticator stores as the user: says nothing about the person, and differs per environment, so that a
 * passkey of one can never be taken for one of the other even where both share an rp id.
 */
export const userHandle = (environment: Environment, accountId: string): Buffer =>
  createHash('sha256').update(`quittance-user\n${environment}\n${accountId}`).digest();

const ClientData = z.object({ challenge: z.string(), crossOrigin: z.boolean().optional() });

/**
 * The challenge that an answer carries, used up by looking: handed out by us for this ceremony, not answered yet, and
 * from no frame of another site. Null otherwise.
 */
export const takeChallenge = async (
  { pool }: Pick<Deps, 'pool'>,
  ceremony: Ceremony,
  sessionId: string | null,
  clientDataJSON: string,
): Promise<string | null> => {
  let data: unknown;
  try {
    data = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString('utf8'));
  } catch {
    return null;
  }
  const client = ClientData.safeParse(data);
  if (!client.success || client.data.crossOrigin === true) return null;
  const { challenge } = client.data;
  // A lone NUL would make Postgres refuse the parameter; ours are base64url.
  if (!/^[A-Za-z0-9_-]{43}$/.test(challenge)) return null;
  return (await useChallenge(pool, { challenge, ceremony, session_id: sessionId })) ? challenge : null;
};

/** For the log: the library repeats what the client sent, so not all of it. */
const refusedBy = (error: unknown): { refused: string } => ({
  refused: (error as Error).message.slice(0, 120),
});

/** What navigator.credentials.create is called with. */
export const registrationOptions = async (
  { rp, environment }: Pick<Deps, 'rp' | 'environment'>,
  account: { account_id: string; email: string; display_name: string | null },
  known: readonly { credential_id: string; transports: string[] }[],
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
    excludeCredentials: known.map(({ credential_id: id, transports }) => ({
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

/** What navigator.credentials.get is called with: no credential is named, the authenticator finds its own. */
export const loginOptions = async ({
  rp,
}: Pick<Deps, 'rp'>): Promise<z.infer<Operations['passkeyLoginOptions']['output']>> => {
  const { challenge } = await generateAuthenticationOptions({ rpID: rp.id, userVerification: 'required' });
  return { challenge, rpId: rp.id, timeout: TIMEOUT_MS, userVerification: 'required' };
};

/**
 * Whether an attestation names no certificate. None is asked for, and one that comes all the same is not looked at: its
 * chain would be checked against lists that are fetched from addresses which stand in the certificates. Browsers send
 * `none`, or `packed` signed by the new key itself.
 */
const namesNoCertificate = (attestationObject: string): boolean => {
  const attestation = decodeAttestationObject(new Uint8Array(Buffer.from(attestationObject, 'base64url')));
  const format = attestation.get('fmt');
  return format === 'none' || (format === 'packed' && attestation.get('attStmt').get('x5c') === undefined);
};

export type NewCredential = {
  credential_id: string;
  public_key: Uint8Array;
  counter: number;
  transports: string[];
  backed_up: boolean;
};

/** The credential that a registration proves, or null with the reason for the log. Never throws on a client's bytes. */
export const verifyRegistration = async (
  { rp }: Pick<Deps, 'rp'>,
  response: Registration,
  challenge: string,
): Promise<{ credential: NewCredential } | { refused: string }> => {
  try {
    if (!namesNoCertificate(response.response.attestationObject)) return { refused: 'attestation' };
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: response as Parameters<typeof verifyRegistrationResponse>[0]['response'],
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
    return refusedBy(error);
  }
};

/** The counter that an assertion proves, or null with the reason. The counter rule is the store's, not checked here. */
export const verifyAssertion = async (
  { rp }: Pick<Deps, 'rp'>,
  response: Assertion,
  challenge: string,
  stored: { credential_id: string; public_key: Uint8Array },
): Promise<{ counter: number; backedUp: boolean } | { refused: string }> => {
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: response as Parameters<typeof verifyAuthenticationResponse>[0]['response'],
      expectedChallenge: challenge,
      expectedOrigin: [...rp.origins],
      expectedRPID: rp.id,
      requireUserVerification: true,
      credential: {
        id: stored.credential_id,
        publicKey: new Uint8Array(stored.public_key),
        // With 0 the library leaves the rule to us: it has to be one statement, and the owner is told.
        counter: 0,
      },
    });
    if (!verified) return { refused: 'the signature is wrong' };
    return { counter: authenticationInfo.newCounter, backedUp: authenticationInfo.credentialBackedUp };
  } catch (error) {
    return refusedBy(error);
  }
};
