import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, expect, test } from '@jest/globals';
import bs58 from 'bs58';
import { signBytes } from '../../../../shared/lib/chain/ed25519.ts';
import { waitFor } from '../../../../test/support/base/wait.ts';
import {
  createCryptokiStandIn,
  DEVICE_REMOVED,
} from '../../../../test/support/stand-ins/cryptoki-stand-in.ts';
import { SignerUnavailable } from '../signer.ts';
import { CKA, CKK, ulongs } from './cryptoki.ts';
import { parseKeyUri } from './key-uri.ts';
import { createKeyOpener } from './open.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'pkcs11-'));
const pinFile = path.join(folder, 'pin');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const PIN = 'pin-1';
const message = Buffer.from('a message');

const openWith = (uri = 'pkcs11:token=vault;object=payer', { signWithinMs = 5000 } = {}) => {
  writeFileSync(pinFile, `${PIN}\n`);
  const { cryptoki, state } = createCryptokiStandIn(PIN);
  const lines: unknown[][] = [];
  const line = (...args: unknown[]) => void lines.push(args);
  const logger = { info: line, warn: line, error: line };
  const open = createKeyOpener(
    { modulePath: '/token.so', pinFile },
    { logger: logger as never, load: async () => cryptoki, signWithinMs },
  );
  return { state, lines, open: () => open(parseKeyUri(uri)) };
};

test('a key of a token signs like the same key in memory', async () => {
  const { state, open } = openWith();
  const signer = await open();
  expect(signer.publicKey).toBe(bs58.encode(state.publicPoint!));
  expect(await signer.sign(message)).toEqual(Buffer.from(signBytes(message, state.privateKey)));
});

test('signatures run at the same time, at most three, by one login', async () => {
  const { state, open } = openWith();
  const [first, second] = [await open(), await open()];
  const release: (() => void)[] = [];
  state.sign = (bytes) =>
    new Promise((resolve) => release.push(() => resolve(signBytes(bytes, state.privateKey))));
  const all = Promise.all(
    Array.from({ length: 20 }, (_, index) => [first, second][index % 2]!.sign(message)),
  );
  let done = false;
  void all.then(() => {
    done = true;
  });
  while (!done) {
    release.shift()?.();
    await nextTurn();
  }
  expect([state.maxRunning, state.calls.login, state.calls.initialize]).toEqual([3, 1, 1]);
});

test('a session that the token has forgotten is opened again within the same call', async () => {
  const { state, open } = openWith();
  const signer = await open();
  state.forgetSessions();
  const signatures = await Promise.all([1, 2, 3].map(() => signer.sign(message)));
  expect(signatures).toHaveLength(3);
  expect([state.calls.finalize, state.calls.login]).toEqual([1, 2]);
});

test('an absent token is refused at once until it is back, and is not tried more than once a second', async () => {
  const { state, lines, open } = openWith();
  const signer = await open();
  state.isPresent = false;
  for (let calls = 0; calls < 10; calls += 1)
    await expect(signer.sign(message)).rejects.toThrow(SignerUnavailable);
  expect(state.calls.initialize).toBeLessThanOrEqual(4);
  state.isPresent = true;
  await waitFor(
    () => signer.sign(message).catch(() => null),
    (signature) => signature !== null,
    5000,
    20,
  );
  const texts = lines.map(([, text]) => text);
  expect(texts.slice(1)).toEqual([
    'key of the token cannot sign, work waits',
    'key of the token signs again',
  ]);
});

test('a removed device is finalised only after its other calls have ended', async () => {
  const { state, open } = openWith();
  const signer = await open();
  let release = () => {};
  const { sign } = state;
  state.sign = async (bytes) => {
    await new Promise<void>((resolve) => {
      release = resolve;
    });
    return sign(bytes);
  };
  const slow = signer.sign(message);
  await waitFor(
    async () => state.running,
    (running) => running === 1,
    1000,
    1,
  );
  state.sign = sign;
  state.failures = [DEVICE_REMOVED];
  const failing = signer.sign(message);
  await nextTurn();
  expect(state.calls.finalize).toBe(0);
  release();
  expect(await Promise.all([slow, failing])).toHaveLength(2);
  expect(state.calls.finalize).toBe(1);
});

test('a token that does not answer is refused in time, and signs again when it answers', async () => {
  const { state, open } = openWith(undefined, { signWithinMs: 100 });
  const signer = await open();
  const { sign } = state;
  const release: (() => void)[] = [];
  state.sign = async (bytes) => {
    await new Promise<void>((resolve) => release.push(resolve));
    return sign(bytes);
  };
  const hanging = await Promise.allSettled([1, 2, 3, 4, 5].map(() => signer.sign(message)));
  expect(hanging.map(({ status }) => status)).toEqual(Array.from({ length: 5 }, () => 'rejected'));
  expect(String((hanging[4] as PromiseRejectedResult).reason)).toMatch(/did not answer within 0.1 s/);
  // What waited was not started afterwards.
  const started = state.calls.sign;
  state.sign = sign;
  for (const each of release) each();
  await waitFor(
    () => signer.sign(message).catch(() => null),
    (signature) => signature !== null,
    5000,
    10,
  );
  expect(state.calls.sign).toBeLessThanOrEqual(started + 2);
});

test('a wrong signature is never returned', async () => {
  const { state, open } = openWith();
  const signer = await open();
  state.sign = async (bytes) => signBytes(Buffer.concat([bytes, Buffer.of(0)]), state.privateKey);
  await expect(signer.sign(message)).rejects.toThrow(/is wrong and was discarded/);
});

test('a refused PIN is tried once, and again when its file has changed; no message contains it', async () => {
  const { state, lines, open } = openWith();
  const signer = await open();
  state.pin = 'changed-2';
  state.forgetSessions();
  const messages: string[] = [];
  const failed = () => signer.sign(message).catch((error: Error) => messages.push(error.message));
  await failed();
  expect(messages[0]).toMatch(/refused the PIN \(.*\)\. Correct the file/);
  // The token is opened again, and the PIN in the file is still the refused one.
  await waitFor(
    async () => {
      await failed();
      return messages.at(-1)!;
    },
    (text) => /refused the PIN\. Correct the file/.test(text),
    5000,
    20,
  );
  expect(state.calls.login).toBe(2);
  writeFileSync(pinFile, 'changed-2');
  await waitFor(
    () => signer.sign(message).catch(() => null),
    (signature) => signature !== null,
    5000,
    20,
  );
  expect(JSON.stringify([messages, lines.map(String)])).not.toMatch(/pin-1|changed-2/);
});

test.each<[string, RegExp, (state: ReturnType<typeof openWith>['state']) => void]>([
  [
    'a wrong PIN',
    /token=vault refused the PIN \(C_Login returned CKR_PIN_INCORRECT\)/,
    (state) => (state.pin = 'x'),
  ],
  ['the last try of a PIN', /One more wrong PIN locks/, (state) => (state.info.isFinalTry = true)],
  ['a locked PIN', /is locked/, (state) => (state.info.isLocked = true)],
  [
    'an RSA key',
    /is an RSA key and not an Ed25519 key/,
    (state) => state.attributes.set(CKA.KEY_TYPE, ulongs(CKK.RSA)),
  ],
  [
    'an extractable key',
    /can leave its token/,
    (state) => state.attributes.set(CKA.EXTRACTABLE, Buffer.of(1)),
  ],
  [
    'a key that is not sensitive',
    /can leave its token/,
    (state) => state.attributes.set(CKA.SENSITIVE, Buffer.of(0)),
  ],
  [
    'a key that needs the PIN each time',
    /needs the PIN/,
    (state) => state.attributes.set(CKA.ALWAYS_AUTHENTICATE, Buffer.of(1)),
  ],
  ['a key without a public half', /x-address=/, (state) => (state.publicPoint = null)],
  ['a public key of another key', /is wrong/, (state) => (state.publicPoint = Buffer.alloc(32, 1))],
  ['an absent token', /No token is token=vault/, (state) => (state.isPresent = false)],
  ['another token', /has the tokens "other"/, (state) => (state.info.token = 'other')],
])('%s is refused at the start', async (_name, expected, change) => {
  const { state, open } = openWith();
  change(state);
  await expect(open()).rejects.toThrow(expected);
});

test('the address in the URI must be that of the key, and replaces an absent public key', async () => {
  await expect(
    openWith('pkcs11:token=vault;object=payer?x-address=11111111111111111111111111111111').open(),
  ).rejects.toThrow(/expects another one/);
  const { state, open } = openWith('pkcs11:token=vault;object=payer');
  const address = bs58.encode(state.publicPoint!);
  const named = openWith(`pkcs11:token=vault;object=payer?x-address=${address}`);
  [named.state.publicPoint, named.state.sign] = [null, state.sign];
  expect([(await named.open()).publicKey, (await open()).publicKey]).toEqual([address, address]);
  await expect(openWith('pkcs11:token=vault;object=other').open()).rejects.toThrow(/no private key/);
});

test('a key that was imported is used with a warning', async () => {
  const { state, lines, open } = openWith();
  state.attributes.set(CKA.NEVER_EXTRACTABLE, Buffer.of(0));
  await open();
  expect(String(lines[0]![1])).toMatch(/a copy may exist outside/);
});
