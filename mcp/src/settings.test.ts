import { homedir } from 'node:os';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { DELEGATE_KEY, SERVICE_KEY } from '../../test/support/base/keys.ts';
import { readSettings, SettingsError } from './settings.ts';

const KEY = DELEGATE_KEY;
const TOKEN = 'sixteen-characters';

test('without options: stdio, the gateway of npm start, small amounts, and only public addresses', () => {
  expect(readSettings([], { QUITTANCE_KEY: KEY })).toEqual({
    baseUrl: 'http://127.0.0.1:3402',
    key: KEY,
    maxAmountMicro: 1_000_000n,
    maxPerDayMicro: 5_000_000n,
    maxWindowSeconds: 86_400,
    askAboveMicro: 100_000n,
    payees: [],
    allowsUnlimited: false,
    reach: 'public',
    folder: path.join(homedir(), '.config/quittance'),
    http: null,
  });
});

test.each([
  ['https://api.example.com/', undefined, 'public'],
  ['https://api.example.com', '1', 'private'],
  ['https://api.example.com', '', 'public'],
  ['http://localhost:3402', undefined, 'public'],
  ['http://127.0.0.1:3402', '1', 'private'],
])('%s with QUITTANCE_ALLOW_PRIVATE=%s reaches %s addresses', (url, allowed, reach) => {
  const env = { QUITTANCE_KEY: KEY, QUITTANCE_URL: url, QUITTANCE_ALLOW_PRIVATE: allowed };
  expect(readSettings([], env)).toMatchObject({ reach });
});

const ADDRESS = '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T';

test('hosts and ports of private addresses are listed', () => {
  const env = {
    QUITTANCE_KEY: KEY,
    QUITTANCE_ALLOW_PRIVATE: '127.0.0.1:4000, [::1]:80,vendor.internal:8443',
  };
  expect(readSettings([], env)).toMatchObject({
    reach: ['127.0.0.1:4000', '[::1]:80', 'vendor.internal:8443'],
  });
});

test('amounts, payees and a key without a limit are settings', () => {
  const env = {
    QUITTANCE_KEY: KEY,
    QUITTANCE_MAX_AMOUNT: '$0.02',
    QUITTANCE_MAX_PER_DAY: '0.05',
    QUITTANCE_MAX_WINDOW: '3600',
    QUITTANCE_ASK_ABOVE: '0',
    QUITTANCE_PAYEES: `https://api.example.com/, ${ADDRESS},http://localhost:8080`,
    QUITTANCE_ALLOW_UNLIMITED: '1',
  };
  expect(readSettings([], env)).toMatchObject({
    maxAmountMicro: 20_000n,
    maxPerDayMicro: 50_000n,
    maxWindowSeconds: 3600,
    askAboveMicro: 0n,
    payees: ['https://api.example.com', ADDRESS, 'http://localhost:8080'],
    allowsUnlimited: true,
  });
  expect(readSettings([], { ...env, QUITTANCE_PAYEES: 'any' })).toMatchObject({ payees: 'any' });
});

test('--http needs a token, and its port has a default', () => {
  const env = { QUITTANCE_KEY: KEY, QUITTANCE_ASK_ABOVE: '$1', QUITTANCE_MCP_TOKEN: TOKEN };
  expect(readSettings(['--http'], env)).toMatchObject({
    askAboveMicro: 1_000_000n,
    http: { port: 8403, token: TOKEN },
  });
  expect(readSettings(['--http', '--port', '9000'], env)).toMatchObject({ http: { port: 9000 } });
  expect(readSettings(['--help'], {})).toBeNull();
});

test.each<[string, string[], Record<string, string>]>([
  ['no key', [], {}],
  ['a service key', [], { QUITTANCE_KEY: SERVICE_KEY }],
  ['a mistyped key', [], { QUITTANCE_KEY: KEY.replace('secret', 'Secret') }],
  ['a key that was cut off', [], { QUITTANCE_KEY: KEY.slice(0, -1) }],
  ['an address that is none', [], { QUITTANCE_KEY: KEY, QUITTANCE_URL: 'api.example.com' }],
  ['a whole number without a unit', [], { QUITTANCE_KEY: KEY, QUITTANCE_ASK_ABOVE: '500000' }],
  ['an amount with a comma', [], { QUITTANCE_KEY: KEY, QUITTANCE_MAX_AMOUNT: '1,5' }],
  ['a negative maximum', [], { QUITTANCE_KEY: KEY, QUITTANCE_MAX_PER_DAY: '-1' }],
  ['a window in hours', [], { QUITTANCE_KEY: KEY, QUITTANCE_MAX_WINDOW: '1h' }],
  ['a word for private addresses', [], { QUITTANCE_KEY: KEY, QUITTANCE_ALLOW_PRIVATE: 'yes' }],
  ['a private host without a port', [], { QUITTANCE_KEY: KEY, QUITTANCE_ALLOW_PRIVATE: '10.0.0.1' }],
  ['a payee without a scheme', [], { QUITTANCE_KEY: KEY, QUITTANCE_PAYEES: 'api.example.com' }],
  ['a payee with a path', [], { QUITTANCE_KEY: KEY, QUITTANCE_PAYEES: 'https://api.example.com/a' }],
  ['any payee besides a named one', [], { QUITTANCE_KEY: KEY, QUITTANCE_PAYEES: `any,${ADDRESS}` }],
  ['--http without a token', ['--http'], { QUITTANCE_KEY: KEY }],
  ['a short token', ['--http'], { QUITTANCE_KEY: KEY, QUITTANCE_MCP_TOKEN: 'short' }],
  ['a key as an argument', [KEY], { QUITTANCE_KEY: KEY }],
  ['an unknown option', ['--key', 'x'], { QUITTANCE_KEY: KEY }],
])('%s is refused', (_name, args, env) => {
  expect(() => readSettings(args, env)).toThrow(SettingsError);
});

test('what is wrong with a key is named, and never its text', () => {
  const saidOf = (key: string): string => {
    try {
      readSettings([], { QUITTANCE_KEY: key });
    } catch (error) {
      expect((error as Error).message).not.toContain(key.slice(12, 30));
      return (error as Error).message;
    }
    throw new Error('the key was accepted');
  };
  expect(saidOf(SERVICE_KEY)).toMatch(
    /^QUITTANCE_KEY must be a delegate key \(.*\); this is a service key, by which/,
  );
  expect(saidOf(KEY.replace('secret', 'Secret'))).toMatch(
    /^QUITTANCE_KEY is mistyped or incomplete: .*; copy/,
  );
  expect(saidOf(`${KEY}\n`)).toMatch(/^QUITTANCE_KEY: remove spaces and line breaks/);
});

test.each([
  ['0.02', 20_000n],
  ['$0.02', 20_000n],
  ['0.02 USDC', 20_000n],
])('the amount %s is exact', (text, micro) => {
  const env = { QUITTANCE_KEY: KEY, QUITTANCE_MAX_AMOUNT: text };
  expect(readSettings([], env)).toMatchObject({ maxAmountMicro: micro });
});
