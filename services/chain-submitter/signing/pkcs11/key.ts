import bs58 from 'bs58';
import { type Attribute, CKA, CKK, CKO, ulongs } from './cryptoki.ts';
import type { KeyUri } from './key-uri.ts';
import { KeyRefused } from './return-values.ts';
import { nameOf, type TokenSession } from './token.ts';

/** A text that names a key in messages. */
export const keyName = ({ token, object, id }: KeyUri): string =>
  [
    nameOf(token),
    ...(object === null ? [] : [`object=${object}`]),
    ...(id === null ? [] : [`id=${id.toString('hex')}`]),
  ].join(';');

const templateOf = ({ object, id }: Pick<KeyUri, 'object' | 'id'>, objectClass: number): Attribute[] => [
  [CKA.CLASS, ulongs(objectClass)],
  ...(object === null ? [] : [[CKA.LABEL, Buffer.from(object)] as const]),
  ...(id === null ? [] : [[CKA.ID, id] as const]),
];

/** @throws KeyRefused when not exactly one private key matches */
export const findPrivateKey = async (uri: KeyUri, { cryptoki, session }: TokenSession): Promise<bigint> => {
  const [key, ...others] = await cryptoki.findObjects(session, templateOf(uri, CKO.PRIVATE_KEY));
  if (key === undefined)
    throw new KeyRefused(
      `The token has no private key ${keyName(uri)}. Correct the key's URI or create the key.`,
    );
  if (others.length > 0)
    throw new KeyRefused(`${others.length + 1} private keys are ${keyName(uri)}. Name one by object and id.`);
  return key;
};

const TYPE_NAMES: Record<number, string> = { [CKK.RSA]: 'an RSA key', [CKK.EC]: 'a key of a NIST curve' };
const TRUE = 1;

/** Reads a CK_BBOOL. */
const readFlag = async (
  { cryptoki, session }: TokenSession,
  key: bigint,
  type: number,
): Promise<boolean | null> => {
  const value = await cryptoki.readAttribute(session, key, type);
  return value === null || value.length === 0 ? null : value[0] === TRUE;
};

/**
 * Checks what a private key may be used for.
 * @returns warnings for the operator
 * @throws KeyRefused for a key that cannot sign as Ed25519 or that can leave the token
 */
export const checkPrivateKey = async (uri: KeyUri, at: TokenSession, key: bigint): Promise<string[]> => {
  const { cryptoki, session, slot } = at;
  const name = keyName(uri);
  const type = await cryptoki.readAttribute(session, key, CKA.KEY_TYPE);
  const keyType = type === null ? null : Number(type.readBigUInt64LE());
  if (keyType !== CKK.EC_EDWARDS)
    throw new KeyRefused(
      `The key ${name} is ${TYPE_NAMES[keyType ?? -1] ?? 'a key of another type'} and not an Ed25519 key. Solana needs Ed25519.`,
    );
  if (!(await cryptoki.signsEddsa(slot)))
    throw new KeyRefused(
      `The token of the key ${name} does not sign with CKM_EDDSA. Use a token or firmware that does.`,
    );
  if (
    (await readFlag(at, key, CKA.EXTRACTABLE)) !== false ||
    (await readFlag(at, key, CKA.SENSITIVE)) !== true
  )
    throw new KeyRefused(
      `The key ${name} can leave its token. Create it with CKA_SENSITIVE true and CKA_EXTRACTABLE false.`,
    );
  if (await readFlag(at, key, CKA.ALWAYS_AUTHENTICATE))
    throw new KeyRefused(
      `The key ${name} needs the PIN for each signature. Create it without CKA_ALWAYS_AUTHENTICATE.`,
    );
  return (await readFlag(at, key, CKA.NEVER_EXTRACTABLE)) === true
    ? []
    : [`The key ${name} was imported or was extractable once, so a copy may exist outside of the token.`];
};

/** CKA_EC_POINT: 32 bytes, or a DER OCTET STRING of them, as PKCS#11 2.40 and 3.0 describe it. */
const rawPoint = (point: Buffer | null): Uint8Array | null => {
  if (point?.length === 32) return point;
  return point?.length === 34 && point[0] === 0x04 && point[1] === 32 ? point.subarray(2) : null;
};

/**
 * The address of a key: of the public key object with its id or label, or of its URI.
 * @throws KeyRefused when both exist and differ, or when neither exists
 */
export const readAddress = async (
  uri: KeyUri,
  { cryptoki, session }: TokenSession,
  key: bigint,
): Promise<string> => {
  const readPoint = async (of: bigint, object: bigint) =>
    rawPoint(await cryptoki.readAttribute(of, object, CKA.EC_POINT));
  const id = await cryptoki.readAttribute(session, key, CKA.ID);
  const template = id === null || id.length === 0 ? uri : { object: null, id };
  const [publicKey] = await cryptoki.findObjects(session, templateOf(template, CKO.PUBLIC_KEY));
  // Some tokens have the point at the private key.
  const point =
    (publicKey === undefined ? null : await readPoint(session, publicKey)) ?? (await readPoint(session, key));
  const address = point === null ? uri.address : bs58.encode(point);
  if (address === null)
    throw new KeyRefused(
      `The token has no Ed25519 public key of ${keyName(uri)}. Store one with the same CKA_ID, or add x-address=<base58> to the key's URI.`,
    );
  if (uri.address !== null && uri.address !== address)
    throw new KeyRefused(
      `The key ${keyName(uri)} has the address ${address}, and its URI expects another one.`,
    );
  return address;
};
