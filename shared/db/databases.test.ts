import { expect, test } from '@jest/globals';
import { SERVICE_NAMES } from '../contract/service.ts';
import { Refusal } from '../lib/refusal.ts';
import { databasesIn, distinctDatabases, hasDatabases, oneDatabase } from './databases.ts';

const COMMON = 'postgres://admin@one/quittance_test';
const OWN = 'postgres://admin@two/quittance_test';

test('a service without a database of its own has the common one', () => {
  expect(databasesIn({ POSTGRES_ADMIN_URL: COMMON })).toEqual(oneDatabase(COMMON));
  const databases = databasesIn({
    POSTGRES_ADMIN_URL: COMMON,
    POSTGRES_ADMIN_URL_CHAIN_SUBMITTER: OWN,
    POSTGRES_ADMIN_URL_WALLET: '',
  });
  expect(databases).toEqual({ ...oneDatabase(COMMON), 'chain-submitter': OWN });
  expect(distinctDatabases(databases)).toEqual([
    { url: COMMON, services: SERVICE_NAMES.filter((name) => name !== 'chain-submitter') },
    { url: OWN, services: ['chain-submitter'] },
  ]);
});

test('each service may have its own, and none is common', () => {
  const own = Object.fromEntries(
    SERVICE_NAMES.map((name) => [
      `POSTGRES_ADMIN_URL_${name.replaceAll('-', '_').toUpperCase()}`,
      `postgres://admin@${name}/quittance_test`,
    ]),
  );
  expect(distinctDatabases(databasesIn(own))).toHaveLength(SERVICE_NAMES.length);
});

test.each([
  ['nothing', {}, /^POSTGRES_ADMIN_URL: is missing/],
  [
    'one service without a database',
    { POSTGRES_ADMIN_URL_SETTLEMENT: OWN },
    /POSTGRES_ADMIN_URL_WALLET: is missing: set it, or POSTGRES_ADMIN_URL for all services/,
  ],
  [
    'a service that does not exist',
    { POSTGRES_ADMIN_URL: COMMON, POSTGRES_ADMIN_URL_SETTLEMNT: OWN },
    /^POSTGRES_ADMIN_URL_SETTLEMNT: no service has this setting; those are .*POSTGRES_ADMIN_URL_SETTLEMENT/,
  ],
  [
    'no URL of Postgres',
    { POSTGRES_ADMIN_URL: COMMON, POSTGRES_ADMIN_URL_WALLET: 'https://two/quittance_test' },
    /^POSTGRES_ADMIN_URL_WALLET: must be postgres:/,
  ],
  [
    'the database of another environment',
    { POSTGRES_ADMIN_URL: COMMON, POSTGRES_ADMIN_URL_WALLET: 'postgres://admin@two/quittance_live' },
    /same name: \/quittance_test or \/quittance_live/,
  ],
])('%s is refused by the name of the setting', (_, env, message) => {
  expect(() => databasesIn(env)).toThrow(Refusal);
  expect(() => databasesIn(env)).toThrow(message);
});

test('an authority of the servers is verified on every connection', () => {
  const { wallet, quote } = databasesIn({
    POSTGRES_ADMIN_URL: COMMON,
    POSTGRES_ADMIN_URL_WALLET: OWN,
    TLS_CA_FILE: '/ca.crt',
  });
  for (const url of [wallet, quote]) expect(new URL(url).searchParams.get('sslmode')).toBe('verify-full');
});

test('the setting of one service is enough to mean databases', () => {
  expect(hasDatabases({})).toBe(false);
  expect(hasDatabases({ POSTGRES_ADMIN_URL: '' })).toBe(false);
  expect(hasDatabases({ POSTGRES_ADMIN_URL_QUOTE: OWN })).toBe(true);
});
