import { type ConnectionOptions, nkeys } from 'nats';
import { privateKeyFromSeed, rawPublicKey, signBytes } from '../lib/chain/ed25519.ts';

/**
 * The logins of the bus. A client holds a seed, and the server knows its public key only: it sends
 * a random text, which the client signs. So nothing that the server holds or hears logs anybody in
 * (docs/adr/0064).
 */
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** A new seed, `SU…`. */
export const newNkeySeed = (): string => new TextDecoder().decode(nkeys.createUser().getSeed());

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** The text of 35 bytes: 56 letters, without padding. */
const base32 = (bytes35: Buffer): string =>
  BigInt(`0x${bytes35.toString('hex')}`)
    .toString(32)
    .padStart(56, '0')
    .replace(/./g, (digit) => BASE32[Number.parseInt(digit, 32)]!);

/** CRC-16/XMODEM. */
const checksum = (of: Uint8Array): number =>
  of.reduce((sum, byte) => {
    let next = sum ^ (byte << 8);
    for (let bit = 0; bit < 8; bit += 1) next = ((next << 1) ^ (next & 0x8000 ? 0x1021 : 0)) & 0xffff;
    return next;
  }, 0);

/**
 * The 32 bytes in a seed, and its kind. The first two bytes tell that it is a seed, and of what
 * kind. A checksum follows the others.
 * @throws if it is no seed. The error does not repeat the text.
 */
const partsOf = (seed: string): { kind: number; raw: Buffer } => {
  nkeys.fromSeed(bytes(seed));
  const value = [...seed].reduce((sum, letter) => sum * 32n + BigInt(BASE32.indexOf(letter)), 0n);
  // 58 letters are 290 bits, of which the last two are padding.
  const all = Buffer.from((value >> 2n).toString(16).padStart(72, '0'), 'hex');
  return { kind: ((all[0]! & 7) << 5) | (all[1]! >> 3), raw: all.subarray(2, 34) };
};

/** The text of a public key, `U…` of a user. */
const textOf = (kind: number, key: ReturnType<typeof privateKeyFromSeed>): string => {
  const named = Buffer.concat([Buffer.of(kind), rawPublicKey(key)]);
  const check = Buffer.alloc(2);
  check.writeUInt16LE(checksum(named));
  return base32(Buffer.concat([named, check]));
};

/**
 * The public key of a seed, `U…`, by which the server's configuration names the user. Node derives
 * it, because the library's derivation in JavaScript takes milliseconds.
 * @throws if it is no seed. The error does not repeat the text.
 */
export const nkeyOf = (seed: string): string => {
  const { kind, raw } = partsOf(seed);
  return textOf(kind, privateKeyFromSeed(raw));
};

/**
 * The login of a connection. Node signs, because the library's signature in JavaScript takes
 * milliseconds of the two seconds that the server waits for a login.
 * @throws if it is no seed. The error does not repeat the text.
 */
export const loginWith = (seed: string): Required<Pick<ConnectionOptions, 'authenticator'>> => {
  const { kind, raw } = partsOf(seed);
  const key = privateKeyFromSeed(raw);
  const nkey = textOf(kind, key);
  return {
    authenticator: (nonce) => ({
      nkey,
      sig: nonce ? Buffer.from(signBytes(bytes(nonce), key)).toString('base64url') : '',
    }),
  };
};
