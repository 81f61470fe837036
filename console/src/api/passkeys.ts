import { startAuthentication, startRegistration } from '@simplewebauthn/browser';
import type { Input } from '../../../sdk/src/main.ts';
import { session } from './store.ts';

/**
 * Passkeys of this origin (docs/spec/decisions.md, Sign-in). `passkeyProblem` explains
 * errors of the browser.
 */

/**
 * Signs in with a passkey of this environment, whichever account it belongs to.
 * @returns the account that is signed in now
 * @throws an error of the browser (`passkeyProblem`), or of the API
 */
export const signInWithPasskey = async () => {
  const { client, environment } = session.get();
  const optionsJSON = await client.identity.passkeyLoginOptions({ environment });
  const given = await startAuthentication({ optionsJSON });
  // The results of extensions stay in this page.
  const response = {
    ...given,
    clientExtensionResults: {},
  } as Input<'identity.passkeyLoginVerify'>['response'];
  const answer = await client.identity.passkeyLoginVerify({ environment, response, refresh_in: 'cookie' });
  session.signedIn(answer, environment);
  return answer.account;
};

/**
 * Approves a payment. The passkey signs a challenge that the API computes from this payment.
 * @returns the approval as it is now
 * @throws an error of the browser (`passkeyProblem`), or of the API
 */
export const approveWithPasskey = async (approval_id: string) => {
  const { client } = session.get();
  const optionsJSON = await client.identity.approvalOptions({ approval_id });
  const given = await startAuthentication({ optionsJSON: optionsJSON as never });
  const response = { ...given, clientExtensionResults: {} } as Input<'identity.approve'>['response'];
  return client.identity.approve({ approval_id, response });
};

/**
 * Registers a passkey, with PRF if the authenticator supports it. Needs a fresh sign-in.
 * @returns the passkey as the API stores it
 */
export const registerPasskey = async (label: string) => {
  const { client } = session.get();
  const options = await client.identity.passkeyRegisterOptions({});
  const extensions = { ...options.extensions, prf: {} };
  const given = await startRegistration({ optionsJSON: { ...options, extensions } as never });
  const response = {
    ...given,
    clientExtensionResults: {},
  } as Input<'identity.passkeyRegisterVerify'>['response'];
  return client.identity.passkeyRegisterVerify({ response, label });
};

/** A salt for any passkey of this site, or one for each of certain passkeys. */
type Salts =
  | { salt: Uint8Array<ArrayBuffer> }
  | { among: readonly { credentialId: string; salt: Uint8Array<ArrayBuffer> }[] };

/**
 * Gets the 32 bytes that a passkey's PRF derives from a salt. They are unique for this passkey and
 * salt, and never leave the page. The user confirms with the device's lock.
 * @returns null if the passkey has no PRF
 * @throws an error of the browser (`passkeyProblem`), or of the API
 */
export const passkeySecret = async (
  salts: Salts,
): Promise<{ credentialId: string; output: Uint8Array<ArrayBuffer> } | null> => {
  const { client, environment } = session.get();
  // The challenge stays unused, because the result is not sent to the API.
  const options = await client.identity.passkeyLoginOptions({ environment });
  const prf =
    'salt' in salts
      ? { eval: { first: salts.salt } }
      : {
          evalByCredential: Object.fromEntries(
            salts.among.map(({ credentialId, salt }) => [credentialId, { first: salt }]),
          ),
        };
  const given = await startAuthentication({
    optionsJSON: {
      ...options,
      ...('among' in salts && {
        allowCredentials: salts.among.map(({ credentialId: id }) => ({ id, type: 'public-key' as const })),
      }),
      extensions: { prf } as AuthenticationExtensionsClientInputs,
    },
  });
  const results = given.clientExtensionResults as { prf?: { results?: { first?: ArrayBuffer } } };
  const first = results.prf?.results?.first;
  return first === undefined ? null : { credentialId: given.id, output: new Uint8Array(first) };
};

/** Explains an error of the browser. Null for any other error. */
export const passkeyProblem = (error: unknown): string | null => {
  const { name, cause } = (error ?? {}) as { name?: string; cause?: { name?: string } };
  switch (cause?.name ?? name) {
    case 'NotAllowedError':
      return 'No passkey was used. It was cancelled or took too long, or this device has none for this site.';
    case 'InvalidStateError':
      return 'This device already has a passkey for your account.';
    case 'SecurityError':
      return `Passkeys do not work at ${location.host}. Open the console at its domain name, or locally at localhost.`;
    case 'NotSupportedError':
    case 'AbortError':
      return 'This browser could not use a passkey here.';
    default:
      return null;
  }
};
