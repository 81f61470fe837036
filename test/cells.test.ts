import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { newDeviceCode } from '../services/identity/devices/codes.ts';
import { loginToken, refreshToken, revealToken } from '../services/identity/sessions/model/tokens.ts';
import { ServiceId, SettlementId } from '../shared/contract/primitives.ts';
import { readsOf } from '../shared/db/reads.ts';
import { cellOf, MAX_CELL, setCell } from '../shared/lib/cell.ts';
import { derivedId, newId, newServiceId } from '../shared/lib/id.ts';
import { createKeyText, parseKeyText } from '../shared/lib/tokens/key-text.ts';
import { listHandler } from '../shared/lists/list.ts';

/** Every public id, key and token names the cell that made it (docs/adr/0071). */

const CELL = 0b10_0110_1011;
const SECRET = Buffer.alloc(32, 7);
beforeEach(() => setCell(CELL));
afterEach(() => setCell(0));

const signed = (claims: object, parts = 2) =>
  [
    ...(parts === 3 ? [Buffer.from('{"alg":"EdDSA"}')] : []),
    Buffer.from(JSON.stringify(claims)),
    Buffer.alloc(64, 3),
  ]
    .map((part) => part.toString('base64url'))
    .join('.');

const cursor = async () => {
  const list = listHandler({ reads: readsOf(null as never), cursorKeys: [SECRET] }, 'l', {
    scope: () => ({}),
    rows: async () => ['b', 'a'],
    place: (row) => row,
    show: (rows) => [...rows],
  });
  return (await list({ limit: '1' }, null)).next_cursor!;
};

const PREFIXES = 'q stl acct wal del dep key ses pk link wd ref fund prep txn evt whe apr dcl sev'.split(
  ' ',
) as Parameters<typeof newId>[0][];

const MADE: [what: string, make: () => string | Promise<string>][] = [
  ...PREFIXES.map((prefix): [string, () => string] => [`an id ${prefix}_`, () => newId(prefix)]),
  ['an id that is derived', () => derivedId('txn', newId('stl'), 'out')],
  ['the id of a service', newServiceId],
  ['a service key', () => createKeyText('vendor_live_')],
  ['a delegate key', () => createKeyText('dk_test_')],
  ['a device code', () => newDeviceCode('test')],
  ['the token of a sign-in link', () => loginToken(SECRET, 'test', newId('link'))],
  ['the token of a link that reveals a key', () => revealToken(SECRET, 'live', newId('link'))],
  ['a refresh token', () => refreshToken(SECRET, 'test', { sessionId: newId('ses'), generation: 12 })],
  ['a quote token', () => signed({ typ: 'quote', quote_id: newId('q') })],
  [
    'a settlement token',
    () => signed({ typ: 'settlement', settlement_id: newId('stl'), quote_id: 'of another cell' }),
  ],
  ['an access token', () => signed({ iss: 'quittance', sub: newId('acct') }, 3)],
  ['a cursor', cursor],
];

describe('the cell', () => {
  test.each(MADE)('is in %s', async (_what, make) => {
    for (const cell of [CELL, 0, 1, 31, 32, MAX_CELL]) {
      setCell(cell);
      const text = await make();
      expect([text, cellOf(text)]).toEqual([text, cell]);
    }
  });

  test('of a derived id and of a link is that of its object, in whatever cell it is made', () => {
    const [settlement, link] = [newId('stl'), newId('link')];
    const [id, token] = [derivedId('txn', settlement, 'in'), loginToken(SECRET, 'test', link)];
    setCell(3);
    expect(derivedId('txn', settlement, 'in')).toBe(id);
    expect(loginToken(SECRET, 'test', link)).toBe(token);
    expect([id, token].map(cellOf)).toEqual([CELL, CELL]);
  });

  test.each([
    ['an id that a client made up', 'q_01kaj5w0c0e8h9x2m4n6p8q0rs', 0b11000_11001],
    ['the highest id', 'stl_7zzzzzzzzzzzzzzzzzzzzzzzzz', MAX_CELL],
    ['a UUID that a client made up', '0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17', 0x317],
    ['no id', 'order-1042-1', null],
    ['no prefix that we know', 'abc_01kaj5w0c0e8h9x2m4n6p8q0rs', 0b11000_11001],
    ['a token without JSON', 'YWJj.c2lnbmF0dXJl', null],
    ['a token without an id', 'eyJ2IjoxfQ.c2lnbmF0dXJl', null],
    ['a token of null', 'bnVsbA.c2lnbmF0dXJl', null],
    ['a cursor with no cell', 'W10.c2lnbmF0dXJl', null],
    ['nothing', '', null],
  ])('of %s is read, never an error', (_what, text, cell) => {
    expect(cellOf(text)).toBe(cell);
  });
});

test('ids stay valid UUIDs, sort by the order in which they were made, and differ', () => {
  const ids = Array.from({ length: 20_000 }, () => newId('stl'));
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.every((id, at) => at === 0 || ids[at - 1]! < id)).toBe(true);
  for (const id of ids.slice(0, 50)) expect(SettlementId.parse(id)).toBe(id);
  const services = Array.from({ length: 1000 }, newServiceId);
  expect(new Set(services).size).toBe(services.length);
  for (const id of services) {
    expect(ServiceId.parse(id)).toBe(id);
    expect(id).toMatch(/^.{14}4.{4}[89ab]/);
  }
  const key = createKeyText('vendor_test_');
  expect(parseKeyText(key)).toMatchObject({ kind: 'service_key', environment: 'test' });
});
