import { KEY_PREFIXES } from '../../../shared/lib/tokens/key-text.ts';

/**
 * Reads the credential of a request, and names what is wrong with its form. A message depends only
 * on what the caller sent, so it shows nothing about credentials that exist. It never repeats the
 * text, which may be a secret at the wrong place.
 */

/** A credential by its form, or why there is none. The credential need not exist. */
export type Bearer =
  | { kind: 'key' | 'access_token'; text: string }
  /** A text for the caller: what is wrong, then what to do. */
  | { kind: 'none'; refusal: string };

/**
 * Keys have 60 characters and access tokens about 500. A longer text is neither hashed nor parsed.
 */
const MAX_LENGTH = 4096;

const SEND = 'send the header Authorization: Bearer <credential>';
const KEY_KINDS = KEY_PREFIXES.join(', ');

/**
 * Schemes that may be named in a message. A first word that is none of them may be the credential.
 */
const OTHER_SCHEMES = [
  'Basic',
  'Digest',
  'Negotiate',
  'Token',
  'ApiKey',
  'Key',
  'AWS4-HMAC-SHA256',
  'Payment',
];

/** Tokens of ours that are no credentials, by their prefix, and their place. */
const OTHER_TOKENS: readonly (readonly [RegExp, string])[] = [
  [
    /^rt_(test|live)_/,
    'a refresh token is no credential; exchange it for an access token at POST /v1/auth/refresh',
  ],
  [
    /^ml_(test|live)_/,
    'the token of a sign-in link is no credential; send it to POST /v1/auth/magic-link/verify',
  ],
  [
    /^rv_(test|live)_/,
    'the token of a reveal link is no credential; send it in the body of key/reveal/verify',
  ],
  [
    /^[A-Za-z0-9_-]{40,}\.[A-Za-z0-9_-]{40,}$/,
    'a quote token or settlement token is no credential; send it in the body, and a key or an access token in the header Authorization',
  ],
];

const refused = (refusal: string): Bearer => ({ kind: 'none', refusal });

const hasKeyPrefix = (text: string): boolean => KEY_PREFIXES.some((prefix) => text.startsWith(prefix));
/** Three parts of base64url. The signature is checked later. */
const isJwt = (text: string): boolean => /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]*){2}$/.test(text);

const withoutBearer = (value: string): string => {
  const [first = ''] = value.split(' ', 1);
  const scheme = OTHER_SCHEMES.find((each) => each.toLowerCase() === first.toLowerCase());
  if (scheme !== undefined) return `the header Authorization has the scheme ${scheme}; ${SEND}`;
  if (hasKeyPrefix(value) || isJwt(value))
    return 'the word Bearer before the credential is missing; send the header Authorization: Bearer <credential>';
  return `the header Authorization does not begin with the word Bearer; ${SEND}`;
};

/** @param rawHeaders names and values in turn, as Node has received them */
export const readBearer = (rawHeaders: readonly string[]): Bearer => {
  // Node uses the first of several Authorization headers and drops the rest silently, so the raw
  // list is read. The server has already refused such a request; this is the second check.
  const values = rawHeaders.filter(
    (_, i) => i % 2 === 1 && rawHeaders[i - 1]!.toLowerCase() === 'authorization',
  );
  const [value = ''] = values;
  if (values.length > 1) return refused('the header Authorization was sent several times; send it once');
  if (value === '') return refused(`the header Authorization is missing; ${SEND}`);
  if (value.length > MAX_LENGTH)
    return refused(
      `the credential is longer than ${MAX_LENGTH} characters; send one key or one access token`,
    );
  const match = /^Bearer(?: +(.*))?$/i.exec(value);
  if (match === null) return refused(withoutBearer(value));
  const text = match[1]?.trim() ?? '';
  if (text === '') return refused(`the header Authorization has no credential after Bearer; ${SEND}`);
  if (/[\s,]/.test(text))
    return refused('the header Authorization has several words after Bearer; send one credential');
  const other = OTHER_TOKENS.find(([pattern]) => pattern.test(text));
  if (other !== undefined) return refused(other[1]);
  if (hasKeyPrefix(text)) return { kind: 'key', text };
  if (isJwt(text)) return { kind: 'access_token', text };
  return refused(
    `the credential is neither a key nor an access token; a key begins with one of ${KEY_KINDS}, and an access token has three parts separated by dots`,
  );
};
