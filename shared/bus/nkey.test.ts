import { expect, test } from '@jest/globals';
import { type NKeyAuth, nkeyAuthenticator, nkeys } from 'nats';
import { loginWith, newNkeySeed, nkeyOf } from './nkey.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

test('the login of a seed is the one of the library, for each of many seeds', () => {
  for (let tries = 0; tries < 20; tries += 1) {
    const seed = newNkeySeed();
    const nonce = `nonce-${tries}`;
    const { nkey, sig } = (loginWith(seed).authenticator as (nonce: string) => NKeyAuth)(nonce);
    const library = nkeyAuthenticator(bytes(seed))(nonce) as NKeyAuth;
    expect(nkey).toBe(library.nkey);
    expect(Buffer.from(sig, 'base64url')).toEqual(Buffer.from(library.sig, 'base64'));
    expect(nkeys.fromPublic(nkey).verify(bytes(nonce), Buffer.from(sig, 'base64url'))).toBe(true);
  }
});

test('the public key of a seed is the one of the library, also of another kind', () => {
  const text = (seed: Uint8Array) => new TextDecoder().decode(seed);
  for (const pair of [...Array.from({ length: 20 }, nkeys.createUser), nkeys.createAccount()])
    expect(nkeyOf(text(pair.getSeed()))).toBe(pair.getPublicKey());
});

test('what is no seed is refused without repeating it', () => {
  const seed = newNkeySeed();
  const changed = `${seed.slice(0, -4)}${seed.endsWith('AAAA') ? 'BBBB' : 'AAAA'}`;
  for (const text of ['', 'secret', nkeyOf(seed), changed]) {
    let message = '';
    try {
      loginWith(text);
    } catch (error) {
      message = (error as Error).message;
    }
    expect(message).not.toBe('');
    if (text !== '') expect(message).not.toContain(text);
  }
});
