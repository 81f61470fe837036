import { expect, jest, test } from '@jest/globals';
import { z } from 'zod';
import { loadConfig } from './config.ts';
import { databaseUrlWithTls, plainConnections, splitDatabaseUrl } from './transport.ts';

const SAFE = {
  NATS_URL: 'tls://nats:4222',
  POSTGRES_URL:
    'postgres://quote:secret@postgres-rw:5432/quittance_live?sslmode=verify-full&sslrootcert=/ca.crt',
  REDIS_URL: 'rediss://:secret@redis:6379',
};
const paths = (config: Record<string, unknown>) => plainConnections(config).map(({ path }) => path);

test.each<[string, Record<string, unknown>, string[]]>([
  ['all encrypted', SAFE, []],
  ['NATS in the clear', { ...SAFE, NATS_URL: 'nats://nats:4222' }, ['NATS_URL']],
  ['NATS without a scheme', { ...SAFE, NATS_URL: 'nats:4222' }, ['NATS_URL']],
  [
    'Postgres without sslmode',
    { ...SAFE, POSTGRES_URL: 'postgres://postgres-rw/quittance_live' },
    ['POSTGRES_URL'],
  ],
  [
    'Postgres that is not verified',
    { ...SAFE, POSTGRES_URL: 'postgres://pg/db?sslmode=require' },
    ['POSTGRES_URL'],
  ],
  ['Postgres by a socket', { ...SAFE, POSTGRES_URL: 'postgres:///db?host=/var/run' }, ['POSTGRES_URL']],
  ['Redis in the clear', { ...SAFE, REDIS_URL: 'redis://redis:6379' }, ['REDIS_URL']],
  [
    'a name that begins like a local one',
    { ...SAFE, NATS_URL: 'nats://localhost.example:4222' },
    ['NATS_URL'],
  ],
  [
    'an address that begins like a local one',
    { ...SAFE, NATS_URL: 'nats://127.0.0.1.example:4222' },
    ['NATS_URL'],
  ],
  [
    'servers on this machine',
    {
      NATS_URL: 'nats://127.0.0.1:4222',
      POSTGRES_URL: 'postgres://localhost/db',
      REDIS_URL: 'redis://[::1]:6379',
    },
    [],
  ],
])('live connections: %s', (_name, config, expected) => {
  expect(paths({ ENVIRONMENT: 'live', ...config })).toEqual(expected);
  expect(paths({ ENVIRONMENT: 'test', ...config })).toEqual([]);
});

test('the gateway’s connections to live and to Redis are encrypted, those to test need not be', () => {
  const [plain, encrypted] = ['nats://nats.a.svc:4222', 'tls://nats.a.svc:4222'];
  const gateway = (live: string, REDIS_URL: string) =>
    paths({
      REDIS_URL,
      ENVIRONMENTS: [
        { name: 'test', nats_url: plain },
        { name: 'live', nats_url: live },
      ],
    });
  expect(gateway(encrypted, SAFE.REDIS_URL)).toEqual([]);
  expect(gateway(plain, 'redis://redis:6379')).toEqual(['ENVIRONMENTS.live.nats_url', 'REDIS_URL']);
  expect(paths({ REDIS_URL: 'redis://redis', ENVIRONMENTS: [{ name: 'test', nats_url: plain }] })).toEqual(
    [],
  );
});

test('a live process with a plain connection ends at its start, and names the setting without its value', () => {
  const lines: string[] = [];
  const print = jest.spyOn(console, 'error').mockImplementation((line: string) => void lines.push(line));
  const exit = jest.spyOn(process, 'exit').mockImplementation(() => {
    throw new Error('ended');
  });
  const schema = z.object({ ENVIRONMENT: z.string(), NATS_URL: z.string(), POSTGRES_URL: z.string() });
  const env = { ...SAFE, ENVIRONMENT: 'live', POSTGRES_URL: 'postgres://quote:secret@postgres-rw/db' };
  expect(() => loadConfig(schema, env)).toThrow('ended');
  expect(exit).toHaveBeenCalledWith(78);
  expect(lines.map((line) => JSON.parse(line).msg)).toEqual([
    'config: POSTGRES_URL: must be encrypted in live (?sslmode=verify-full), or on this machine',
  ]);
  expect(loadConfig(schema, { ...SAFE, ENVIRONMENT: 'live' })).toMatchObject({ ENVIRONMENT: 'live' });
  print.mockRestore();
  exit.mockRestore();
});

test('the parameters of TLS leave the URL for the pool, and no others', () => {
  const url = 'postgres://a:b%2Fc@postgres:5432/db?options=-c%20search_path%3Dquote&sslmode=verify-full';
  expect(splitDatabaseUrl(url)).toEqual({
    url: 'postgres://a:b%2Fc@postgres:5432/db?options=-c+search_path%3Dquote',
    tls: {},
  });
  const plain = 'postgres://a:b@postgres:5432/db?sslmode=require';
  expect(splitDatabaseUrl(plain)).toEqual({ url: plain, tls: undefined });
});

test.each([
  ['no authority', 'postgres://o:p@pg:5432/db', undefined, 'postgres://o:p@pg:5432/db'],
  [
    'the authority of our servers',
    'postgresql://o:p@pg:5432/db',
    '/ca.crt',
    'postgresql://o:p@pg:5432/db?sslmode=verify-full&sslrootcert=%2Fca.crt',
  ],
  [
    'parameters of its own',
    'postgres://o:p@pg/db?sslmode=verify-full&sslrootcert=/own.crt',
    '/ca.crt',
    'postgres://o:p@pg/db?sslmode=verify-full&sslrootcert=/own.crt',
  ],
])('the URL of a job with %s', (_name, url, caFile, expected) => {
  expect(databaseUrlWithTls(url, caFile)).toBe(expected);
});
