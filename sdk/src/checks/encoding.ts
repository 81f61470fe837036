/** Encodings of the payment protocols' headers, with what browsers, workers and Node have. */

const bytesOf = (binary: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(binary, (character) => character.charCodeAt(0));

const base64 = (bytes: Uint8Array): string => {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
};

/** Without padding. */
export const base64Url = (bytes: Uint8Array): string =>
  base64(bytes).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');

/** Bytes of either alphabet. Null: no base64. */
export const fromBase64 = (text: string): Uint8Array<ArrayBuffer> | null => {
  try {
    return bytesOf(atob(text.replaceAll('-', '+').replaceAll('_', '/')));
  } catch {
    return null;
  }
};

export const utf8 = (text: string): Uint8Array<ArrayBuffer> =>
  new TextEncoder().encode(text) as Uint8Array<ArrayBuffer>;

export const jsonBase64 = (value: unknown): string => base64(utf8(JSON.stringify(value)));
export const jsonBase64Url = (value: unknown): string => base64Url(utf8(JSON.stringify(value)));

/** The object in base64 of JSON. Null: something else. */
export const objectOfBase64 = (text: string): Record<string, unknown> | null => {
  const bytes = fromBase64(text);
  if (bytes === null) return null;
  try {
    return objectOr(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)));
  } catch {
    return null;
  }
};

/** The value if it is an object, otherwise null. */
export const objectOr = (value: unknown): Record<string, unknown> | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;

type Canonical = string | boolean | number | readonly Canonical[] | { readonly [name: string]: Canonical };

/** JSON in the canonical form of RFC 8785, of safe integers only: fields in order, no spaces. */
export const canonicalJson = (value: Canonical): string => {
  if (typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const fields = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${fields.map(([name, each]) => `${JSON.stringify(name)}:${canonicalJson(each)}`).join(',')}}`;
};

/**
 * JSON with its names in order, as RFC 8785 has it for what JSON itself can express. Equal values
 * have equal texts.
 */
export const sortedJson = (value: unknown): string =>
  JSON.stringify(value, (_name, each: unknown) => {
    const fields = objectOr(each);
    if (fields === null) return each;
    return Object.fromEntries(Object.entries(fields).sort(([one], [other]) => (one < other ? -1 : 1)));
  });

export const hash = async (bytes: Uint8Array): Promise<Uint8Array> =>
  new Uint8Array(await crypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>));

/** The digest of a body, as RFC 9530 writes it. */
export const bodyDigest = async (bytes: Uint8Array): Promise<string> =>
  `sha-256=:${base64(await hash(bytes))}:`;

export const hex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
/** @param digits two for each byte */
export const fromHex = (digits: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));

/** As hexadecimal digits. */
export const hexHash = async (bytes: Uint8Array): Promise<string> => hex(await hash(bytes));

/** Derived, because Node's and the browsers' types name it differently. */
export type HmacKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

export const hmacKey = (secret: Uint8Array<ArrayBuffer>): Promise<HmacKey> =>
  crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify']);

export const sign = async (key: HmacKey, text: string): Promise<string> =>
  base64Url(new Uint8Array(await crypto.subtle.sign('HMAC', key, utf8(text))));

/** Compares in constant time. @param mac base64url */
export const isSigned = async (key: HmacKey, text: string, mac: string): Promise<boolean> => {
  const bytes = fromBase64(mac);
  return bytes !== null && crypto.subtle.verify('HMAC', key, bytes, utf8(text));
};
