import { isWholeKey } from './key-checksum.ts';
import { MissingOptionError } from './options.ts';

/** Recognizes credentials by their form, so that a wrong one is refused before it is sent. */

const KINDS = {
  'service key': {
    form: /^vendor_(test|live)_/,
    shown: 'vendor_test_… or vendor_live_…',
    use: 'a vendor sells',
  },
  'delegate key': { form: /^dk_(test|live)_/, shown: 'dk_test_… or dk_live_…', use: 'an agent pays' },
  'access token': {
    form: /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/,
    shown: 'of a sign-in',
    use: 'a person uses the API',
  },
  'refresh token': { form: /^rt_(test|live)_/, shown: 'rt_…', use: 'a sign-in is renewed' },
  'webhook secret': { form: /^whsec_/, shown: 'whsec_…', use: 'webhooks are verified' },
} as const;
type CredentialKind = keyof typeof KINDS;

const kindOf = (credential: string): CredentialKind | null =>
  (Object.keys(KINDS) as CredentialKind[]).find((kind) => KINDS[kind].form.test(credential)) ?? null;

/** Refuses what is no credential: a placeholder, a header's value, a text with line breaks. */
export const checkCredential = (name: string, value: string): void => {
  if (value === '') throw new MissingOptionError(`${name} is empty: set it to a key or an access token`);
  if (/^bearer\s/i.test(value)) throw new TypeError(`${name}: leave out "Bearer", which the SDK adds`);
  if (/\s/.test(value)) throw new TypeError(`${name}: remove spaces and line breaks`);
  if (!/^[\x21-\x7e]+$/.test(value))
    throw new TypeError(
      `${name} has characters that no credential has: replace the placeholder by the whole key`,
    );
  const kind = kindOf(value);
  if (kind === 'refresh token')
    throw new TypeError(
      `${name}: a refresh token is no credential; pass memoryTokens({ access_token, refresh_token })`,
    );
  if (kind === 'webhook secret')
    throw new TypeError(`${name}: a webhook secret is no credential; pass a key or an access token`);
};

/**
 * Refuses another kind of credential than the needed one.
 * @param name of the option
 * @throws TypeError, without the text, because it may be another secret
 */
export const checkKey = (name: string, value: unknown, needed: 'service key' | 'delegate key'): void => {
  const { form, shown } = KINDS[needed];
  if (typeof value !== 'string' || value === '')
    throw new MissingOptionError(`${name} is missing: set it to a ${needed} (${shown})`);
  checkCredential(name, value);
  if (form.test(value)) return;
  const kind = kindOf(value);
  const given =
    kind === null
      ? 'this is none'
      : `this is ${kind === 'access token' ? 'an' : 'a'} ${kind}, by which ${KINDS[kind].use}`;
  throw new TypeError(`${name} must be a ${needed} (${shown}); ${given}`);
};

/**
 * Refuses a key that is mistyped or incomplete, or a placeholder of a build.
 * @param name of the option
 * @throws MissingOptionError, without the text
 */
export const checkWholeKey = (name: string, key: string): void => {
  if (isWholeKey(key)) return;
  throw new MissingOptionError(
    `${name} is mistyped or incomplete: its last 6 characters, which are a checksum, do not match the others; copy the whole key again`,
  );
};
