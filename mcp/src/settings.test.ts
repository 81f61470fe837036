import { homedir } from 'node:os';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { readSettings, SettingsError } from './settings.ts';

const KEY = 'dk_test_secret';
const TOKEN = 'sixteen-characters';

test('without options: stdio, the gateway of npm start, and only loopback besides public addresses', () => {
  expect(readSettings([], { QUITTANCE_KEY: KEY })).toEqual({
    baseUrl: 'http://127.0.0.1:3000',
    key: KEY,
    askAboveMicro: null,
    reach: 'loopback',
    folder: path.join(homedir(), '.config/quittance'),
    http: null,
  });
});

test.each([
  ['https://api.example.com/', undefined, 'public'],
  ['https://api.example.com', '1', 'private'],
  ['https://api.example.com', 'yes', 'public'],
  ['http://localhost:3000', undefined, 'loopback'],
  ['http://[::1]:3000', undefined, 'loopback'],
  ['http://10.0.0.1:3000', undefined, 'public'],
  ['http://127.0.0.1.example.com', undefined, 'public'],
])('%s with QUITTANCE_ALLOW_PRIVATE=%s reaches %s addresses', (url, allowed, reach) => {
  const env = { QUITTANCE_KEY: KEY, QUITTANCE_URL: url, QUITTANCE_ALLOW_PRIVATE: allowed };
  expect(readSettings([], env)).toMatchObject({ reach });
});

test('--http needs a token, and its port has a default', () => {
  const env = { QUITTANCE_KEY: KEY, QUITTANCE_ASK_ABOVE: '1000000', QUITTANCE_MCP_TOKEN: TOKEN };
  expect(readSettings(['--http'], env)).toMatchObject({
    askAboveMicro: 1_000_000n,
    http: { port: 8403, token: TOKEN },
  });
  expect(readSettings(['--http', '--port', '9000'], env)).toMatchObject({ http: { port: 9000 } });
  expect(readSettings(['--help'], {})).toBeNull();
});

test.each<[string, string[], Record<string, string>]>([
  ['no key', [], {}],
  ['a service key', [], { QUITTANCE_KEY: 'vendor_test_secret' }],
  ['an address that is none', [], { QUITTANCE_KEY: KEY, QUITTANCE_URL: 'api.example.com' }],
  ['dollars', [], { QUITTANCE_KEY: KEY, QUITTANCE_ASK_ABOVE: '0.5' }],
  ['--http without a token', ['--http'], { QUITTANCE_KEY: KEY }],
  ['a short token', ['--http'], { QUITTANCE_KEY: KEY, QUITTANCE_MCP_TOKEN: 'short' }],
  ['a key as an argument', [KEY], { QUITTANCE_KEY: KEY }],
  ['an unknown option', ['--key', 'x'], { QUITTANCE_KEY: KEY }],
])('%s is refused', (_name, args, env) => {
  expect(() => readSettings(args, env)).toThrow(SettingsError);
});
