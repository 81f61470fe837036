import { expect, test } from '@jest/globals';
import { privateKeyFromSeed, rawPublicKey } from '../shared/lib/chain/ed25519.ts';
import { newId } from '../shared/lib/id.ts';
import { isRefused, signAccessToken, verifyAccessToken } from '../shared/lib/tokens/access-token.ts';
import { PublicKeyList, SigningKeys } from '../shared/lib/tokens/keys.ts';
import { compromise, type KeyConfig, publish, retire, use } from './signing-keys.ts';

const seed = Buffer.alloc(32, 1);
const xOf = (bytes: Buffer) => Buffer.from(rawPublicKey(privateKeyFromSeed(bytes))).toString('base64url');
const start: KeyConfig = {
  signingKeys: `test.session.1:${seed.toString('base64url')}`,
  publicKeys: JSON.stringify([
    { kid: 'test.session.1', x: xOf(seed) },
    { kid: 'test.quote.7', x: xOf(Buffer.alloc(32, 2)) },
    { kid: 'live.session.9', x: xOf(Buffer.alloc(32, 3)) },
  ]),
};
const NOW = Date.parse('2026-11-21T12:00:00Z');

/** A token signed by identity with this configuration. */
const signed = ({ signingKeys }: KeyConfig, now = NOW) =>
  signAccessToken(
    {
      accountId: newId('acct'),
      sessionId: newId('ses'),
      environment: 'test',
      amr: ['email'],
      authTime: now / 1000,
      now,
    },
    SigningKeys.parse(signingKeys)[0]!,
  );
/** Whether a gateway with this configuration accepts it. */
const taken = async ({ publicKeys }: KeyConfig, token: string, now = NOW) =>
  !isRefused(await verifyAccessToken(token, { keys: PublicKeyList.parse(publicKeys), now }));

test('after each of the three steps, processes that are one step behind or ahead still accept each other’s tokens', async () => {
  const published = publish(start);
  const used = use(published);
  const retired = retire(used, new Date(NOW));
  expect(SigningKeys.parse(used.signingKeys).map(({ kid }) => kid)).toEqual([
    'test.session.2',
    'test.session.1',
  ]);
  expect(SigningKeys.parse(retired.signingKeys).map(({ kid }) => kid)).toEqual(['test.session.2']);
  const steps = [start, published, used, retired];
  for (const [i, signer] of steps.entries()) {
    for (const verifier of steps.slice(Math.max(0, i - 1), i + 2)) {
      // One verifier lacks a key that was just added. Publishing therefore comes before use.
      expect(await taken(verifier, await signed(signer))).toBe(true);
    }
  }
  expect(await taken(start, await signed(used))).toBe(false);
  // A token that the old key signed just before its retirement is valid until it expires. A later
  // one is not.
  const last = await signed(published, NOW - 1000);
  expect(await taken(retired, last, NOW + 14 * 60_000)).toBe(true);
  expect(await taken(retired, await signed(published, NOW + 60 * 60_000), NOW + 60 * 60_000)).toBe(false);
});

test('after a theft nothing that the old key signed is accepted, however it is dated', async () => {
  const stolen = compromise(use(publish(start)), new Date(NOW));
  expect(await taken(stolen, await signed(start, NOW - 1000), NOW)).toBe(false);
  expect(await taken(stolen, await signed(stolen))).toBe(true);
  expect(stolen.publicKeys).toContain('"compromised_at":"2026-11-21T12:00:00.000Z"');
});

test('the next key has the same environment and use and the next number, and a second `use` goes back', () => {
  const twice = publish(retire(use(publish(start))));
  expect((JSON.parse(twice.publicKeys) as { kid: string }[]).map(({ kid }) => kid)).toEqual([
    'test.session.1',
    'test.quote.7',
    'live.session.9',
    'test.session.2',
    'test.session.3',
  ]);
  expect(use(use(twice))).toEqual(twice);
});

test.each([
  ['publish twice', () => publish(publish(start))],
  ['use without a next key', () => use(start)],
  ['use of a key that is not published', () => use({ ...publish(start), publicKeys: start.publicKeys })],
  ['retire without an old key', () => retire(start)],
  ['keys that a service would refuse', () => publish({ ...start, signingKeys: 'test.session.1:short' })],
])('a step out of order is refused: %s', (_name, step) => {
  expect(step).toThrow();
});
