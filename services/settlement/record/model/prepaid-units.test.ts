import { expect, test } from '@jest/globals';
import { consumeRefusal, prepaidUnits } from './prepaid-units.ts';
import type { ChainStatus, Status } from './status.ts';

test.each<[string, Parameters<typeof prepaidUnits>[0], number | null]>([
  ['no scope', null, null],
  ['a scope without units', { resource: 'GET /forecast' }, null],
  ['one', { units: 1 }, 1],
  ['the maximum', { units: 1_000_000_000 }, 1_000_000_000],
  ['one more than the maximum', { units: 1_000_000_001 }, null],
  ['none', { units: 0 }, null],
  ['a negative number', { units: -1 }, null],
  ['a fraction', { units: 1.5 }, null],
  ['a text', { units: '5' }, null],
  ['null', { units: null }, null],
  ['a list', { units: [5] }, null],
  ['a field of something else', { nested: { units: 5 } }, null],
])('units of a scope: %s', (_name, scope, expected) => {
  expect(prepaidUnits(scope)).toBe(expected);
});

type Flags = { elapsed?: boolean; closed?: boolean; reserved?: bigint; total?: number | null };
test.each<[Status, ChainStatus, Flags, units: number, string | null]>([
  ['pending', 'pending', {}, 1, 'conflict'],
  ['failed', 'failed', {}, 1, 'conflict'],
  ['issued', 'confirmed', {}, 1, null],
  ['issued', 'finalized', {}, 4, null],
  ['issued', 'finalized', {}, 5, 'settlement_exhausted'],
  ['issued', 'confirmed', { elapsed: true }, 1, 'settlement_expired'],
  ['issued', 'pending', {}, 1, 'conflict'],
  ['expired', 'finalized', { elapsed: true }, 1, 'settlement_expired'],
  ['redeemed', 'confirmed', { elapsed: true }, 4, null],
  ['redeemed', 'finalized', { elapsed: true, closed: true }, 1, 'settlement_expired'],
  ['redeemed', 'finalized', {}, 5, 'settlement_exhausted'],
  ['redeemed', 'pending', {}, 1, 'conflict'],
  ['redeemed', 'failed', {}, 1, 'conflict'],
  ['redeemed', 'finalized', { reserved: 1n }, 1, 'conflict'],
  ['issued', 'confirmed', { reserved: 1n }, 5, 'conflict'],
  ['issued', 'confirmed', { total: null }, 1, 'conflict'],
])('%s/%s with 4 units left, %j: %s', (status, chain, flags, units, expected) => {
  const { elapsed = false, closed = false, reserved = 0n, total = 10 } = flags;
  const state = { status, chain, elapsed, closed, unitsTotal: total, reservedMicro: reserved };
  expect(consumeRefusal({ ...state, unitsConsumed: 6n }, units)?.code ?? null).toBe(expected);
});
