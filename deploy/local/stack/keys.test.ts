import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { nkeyOf } from '../../../shared/bus/nkey.ts';
import { environmentKeys, genesisMint } from './keys.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'keys-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('keys are created once, and only their owner can read the file', () => {
  const first = environmentKeys(folder, 'test');
  expect(environmentKeys(folder, 'test')).toEqual(first);
  expect(statSync(path.join(folder, 'keys-test.json')).mode & 0o777).toBe(0o600);
});

test('environments share no secret', () => {
  const secrets = (text: string) => text.match(/[A-Za-z0-9_-]{43,}/g) ?? [];
  const test = secrets(JSON.stringify(environmentKeys(folder, 'test')));
  const live = secrets(JSON.stringify(environmentKeys(folder, 'live')));
  expect(test.length).toBeGreaterThan(25);
  expect(new Set([...test, ...live]).size).toBe(new Set(test).size + new Set(live).size);
});

test('the keys have the formats that their users expect', () => {
  const keys = environmentKeys(folder, 'live');
  expect(keys.signing.session.kid).toBe('live.session.1');
  expect(Buffer.from(keys.signing.quote.seed, 'base64url')).toHaveLength(32);
  expect(Buffer.from(keys.cursorKey, 'base64url')).toHaveLength(32);
  const seed = Buffer.from(keys.signing.quote.seed, 'base64url');
  const derived = Keypair.fromSeed(seed).publicKey.toBytes();
  expect(Buffer.from(keys.signing.quote.publicKey, 'base64url')).toEqual(Buffer.from(derived));
  const feePayer = Keypair.fromSecretKey(bs58.decode(keys.feePayer.secretKey));
  expect(feePayer.publicKey.toBase58()).toBe(keys.feePayer.address);
});

test('the mint is the USDC that clients know, and its authority is in the genesis of the chain', () => {
  const [test, live] = ['test', 'live'].map((name) => environmentKeys(folder, name));
  expect(test!.mint).toBe('4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU');
  expect(live!.mint).toBe('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v');
  expect(genesisMint(live!)).toBe(`${live!.mint}:${live!.mintAuthority.address}`);
});

test('a file of an earlier version keeps its keys and gets the missing ones', () => {
  const file = path.join(folder, 'keys-test.json');
  const first = environmentKeys(folder, 'test');
  const { identitySecret: _, natsSeeds, ...older } = first;
  writeFileSync(file, JSON.stringify({ ...older, natsSeeds: { quote: natsSeeds.quote } }));

  const second = environmentKeys(folder, 'test');

  expect(second.natsSeeds.quote).toBe(natsSeeds.quote);
  expect(nkeyOf(second.natsSeeds.wallet)).toMatch(/^U[A-Z2-7]{55}$/);
  expect(second.identitySecret).toMatch(/^[\w-]{43}$/);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(second);
});

test('a damaged file is an error and does not lead to new keys', () => {
  writeFileSync(path.join(folder, 'keys-test.json'), '{');
  expect(() => environmentKeys(folder, 'test')).toThrow(/--fresh/);
});
