import { type ConnectionOptions, nkeys } from 'nats';
import { privateKeyFromSeed, signBytes } from '../lib/chain/ed25519.ts';

/**
 * The logins of the bus. A client holds a seed, and the server knows its public key only: it sends
 * a random text, which the client signs. So nothing that the server holds or hears logs anybody in
 * (docs/adr/0064).
 */
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** A new seed, `SU…`. */
export const newNkeySeed = (): string => new TextDecoder().decode(nkeys.createUser().getSeed());

/**
 * The public key of a seed, `U…`, by which the server's configuration names the user.
 * @throws if it is no seed. The error does not repeat the text.
 */
export const nkeyOf = (seed: string): string => nkeys.fromSeed(bytes(seed)).getPublicKey();

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** The 32 bytes in a seed. Two bytes of its kind come before them, and a checksum after them. */
const rawSeed = (seed: string): Buffer => {
  const value = [...seed].reduce((sum, letter) => sum * 32n + BigInt(BASE32.indexOf(letter)), 0n);
  // 58 letters are 290 bits, of which the last two are padding.
  return Buffer.from((value >> 2n).toString(16).padStart(72, '0'), 'hex').subarray(2, 34);
};

/**
 * The login of a connection. Node signs, because the library's signature in JavaScript takes
 * milliseconds of the two seconds that the server waits for a login.
 * @throws if it is no seed. The error does not repeat the text.
 */
export const loginWith = (seed: string): Required<Pick<ConnectionOptions, 'authenticator'>> => {
  const nkey = nkeyOf(seed);
  const key = privateKeyFromSeed(rawSeed(seed));
  return {
    authenticator: (nonce) => ({
      nkey,
      sig: nonce ? Buffer.from(signBytes(bytes(nonce), key)).toString('base64url') : '',
    }),
  };
};
