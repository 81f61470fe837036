import bs58 from 'bs58';

/**
 * A private key on a PKCS#11 token, as an RFC 7512 URI names it:
 * `pkcs11:token=<label>;object=<label>?module-path=<file>&pin-source=file:<file>`. The attributes
 * of the path select one token and one key. An absent attribute matches everything.
 */
export type KeyUri = {
  token: TokenAttributes;
  /** CKA_LABEL of the key. */
  object: string | null;
  /** CKA_ID of the key. */
  id: Buffer | null;
  /** The shared library of the token; null: the one of PKCS11_MODULE. */
  modulePath: string | null;
  /** The file that contains the PIN; null: the one of PKCS11_PIN_FILE. */
  pinFile: string | null;
  /**
   * The address that the key must have, from our attribute `x-address`. It is required for a token
   * that stores no public key.
   */
  address: string | null;
};

/** The fields of C_GetTokenInfo that a URI can name. */
export type TokenAttributes = Partial<Record<'token' | 'manufacturer' | 'model' | 'serial', string>>;

/** A URI that cannot be used. The message names attributes and never repeats a value. */
export class KeyUriError extends Error {}

const TOKEN_ATTRIBUTES = ['token', 'manufacturer', 'model', 'serial'] as const;
const PATH_ATTRIBUTES: readonly string[] = [...TOKEN_ATTRIBUTES, 'object', 'id', 'type'];
const QUERY_ATTRIBUTES: readonly string[] = ['module-path', 'pin-source', 'x-address'];

/** Decodes `%xx` to bytes. @throws KeyUriError */
const decodeBytes = (name: string, value: string): Buffer => {
  if (/[^!-~]|%(?![0-9a-fA-F]{2})/.test(value))
    throw new KeyUriError(`the attribute "${name}" is not percent-encoded`);
  const octets = value.replace(/%(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(octets, 'latin1');
};

/** `a=b;c=d` as a map. @throws KeyUriError for an unknown or repeated attribute */
const parseAttributes = (text: string, separator: string, known: readonly string[]): Map<string, Buffer> => {
  const found = new Map<string, Buffer>();
  for (const part of text.split(separator).filter((each) => each !== '')) {
    const at = part.indexOf('=');
    const name = at === -1 ? part : part.slice(0, at);
    if (name === 'pin-value')
      throw new KeyUriError(
        'the attribute "pin-value" is not allowed; write the PIN to a file and name it by "pin-source"',
      );
    if (!known.includes(name))
      throw new KeyUriError(`an attribute is unknown; allowed here are ${known.join(', ')}`);
    if (found.has(name)) throw new KeyUriError(`the attribute "${name}" is repeated`);
    found.set(name, decodeBytes(name, part.slice(at + 1)));
  }
  return found;
};

/** `file:/path`, `file:///path` or `/path`. @throws KeyUriError */
const parsePinSource = (text: string | undefined): string | null => {
  if (text === undefined) return null;
  const file = text.replace(/^file:(\/\/)?/, '');
  if (!file.startsWith('/')) throw new KeyUriError('"pin-source" must be file: and an absolute path');
  return file;
};

const parseAddress = (text: string | undefined): string | null => {
  if (text === undefined) return null;
  if (!/^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(text) || bs58.decode(text).length !== 32)
    throw new KeyUriError('"x-address" must be the base58 address of the key');
  return text;
};

/** Parses a `pkcs11:` URI. @throws KeyUriError */
export const parseKeyUri = (uri: string): KeyUri => {
  const [path = '', query = '', ...rest] = uri.slice('pkcs11:'.length).split('?');
  if (!uri.startsWith('pkcs11:') || rest.length > 0)
    throw new KeyUriError('it must begin with pkcs11: and have one "?"');
  const attributes = parseAttributes(path, ';', PATH_ATTRIBUTES);
  const options = parseAttributes(query, '&', QUERY_ATTRIBUTES);
  const id = attributes.get('id') ?? null;
  const object = attributes.get('object')?.toString() ?? null;
  const token = Object.fromEntries(
    TOKEN_ATTRIBUTES.flatMap((name) =>
      attributes.has(name) ? [[name, attributes.get(name)!.toString()]] : [],
    ),
  );
  if ((attributes.get('type')?.toString() ?? 'private') !== 'private')
    throw new KeyUriError('the attribute "type" must be "private"');
  if (object === null && id === null) throw new KeyUriError('it must name the key by "object" or "id"');
  if (Object.keys(token).length === 0) throw new KeyUriError('it must name the token by "token" or "serial"');
  const modulePath = options.get('module-path')?.toString() ?? null;
  if (modulePath !== null && !modulePath.startsWith('/'))
    throw new KeyUriError('"module-path" must be an absolute path');
  return {
    token,
    object,
    id,
    modulePath,
    pinFile: parsePinSource(options.get('pin-source')?.toString()),
    address: parseAddress(options.get('x-address')?.toString()),
  };
};
