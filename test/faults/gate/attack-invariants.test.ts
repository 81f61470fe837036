import { expect, test } from '@jest/globals';
import type { SettlementRow } from '../checks/final-records.ts';
import { type AttackCase, judgeAttacks } from './attack-invariants.ts';
import { type Attack, GOODS_PRICE, TAB_PRICE, type Try } from './attacks.ts';

/** The invariants about attackers find what they are for. A campaign only shows that they hold. */
const row = (more: Partial<SettlementRow> = {}) =>
  ({
    settlement_id: 'stl_tab',
    status: 'redeemed',
    chain_status: 'finalized',
    quote_amount: String(TAB_PRICE),
    scope: { resource: 'http://shop/tab/1' },
    ...more,
  }) as SettlementRow;
const paid = (calls: bigint) => row({ quote_amount: String(calls * TAB_PRICE) });
const unpaid = row({ status: 'voided', chain_status: 'none' });
const open = row({ status: 'authorized', chain_status: 'none' });
const shop = { quote_amount: String(GOODS_PRICE) };

/** A call from second 10 to second 11, whose buyer has the whole answer. */
const tried = (more: Partial<Try> = {}): Try => ({
  ...{ form: 'plain', id: 'call-0', replica: 0, from: 10_000, to: 11_000, status: 200, reason: null },
  ...{ hasBegun: true, isWhole: true, isSwitched: false },
  ...more,
});
const refused = tried({ status: 402, reason: 'spent', hasBegun: true });
const lost = tried({ status: null, hasBegun: false, isWhole: false });
const left = tried({ form: 'leaves', isWhole: false });
const stalled = tried({ form: 'stalls', isWhole: false });

type Given = {
  tries?: Try[];
  attack?: Partial<Attack>;
  row?: SettlementRow;
  used?: bigint;
  gateDied?: number;
  apiDied?: number;
  reportedAt?: number;
  spent?: bigint;
};
const caseOf = (given: Given): AttackCase => {
  const { tries = [tried()], attack, row: record = paid(1n), used = TAB_PRICE } = given;
  const of: Attack = {
    ...{ ware: 'tab', mishap: { kind: 'none' }, buyer: 'wallet', path: '/tab/1' },
    ...{ resource: 'http://shop/tab/1', settlementId: 'stl_tab', from: 9000, to: 30_000 },
    ...{ tries, runs: 1, deliveries: new Set(['one']), isMet: true },
    ...attack,
  };
  const isPaid = record.chain_status === 'finalized';
  return {
    ended: [{ attack: of, row: record, used }],
    rows: [record],
    deaths: {
      gates: given.gateDied === undefined ? [] : [{ replica: 0, at: given.gateDied }],
      upstream: given.apiDied === undefined ? [] : [given.apiDied],
    },
    reportedBy: () => given.reportedAt ?? null,
    refused: 0,
    moved: [{ who: 'wallet', spent: given.spent ?? (isPaid ? BigInt(record.quote_amount) : 0n) }],
  };
};
const goods: Partial<Attack> = { ware: 'goods' };
const again: Partial<Attack> = { ware: 'again' };
const twice = [tried(), tried({ replica: 1 })];

test.each<[string, Given, string[]]>([
  ['a call that is paid', {}, []],
  ['one call, asked for twice', { tries: twice }, []],
  [
    'one call that is charged twice',
    { tries: twice, used: 2n * TAB_PRICE, row: paid(2n) },
    ['a-request-is-charged-once'],
  ],
  [
    'without stored answers, each is charged',
    { attack: again, tries: twice, used: 2n * TAB_PRICE, row: paid(2n) },
    [],
  ],
  ['without stored answers, a free repeat', { attack: again, tries: twice }, ['delivered-is-charged']],
  [
    'use beyond the ceiling',
    {
      tries: Array.from({ length: 17 }, (_, at) => tried({ id: `call-${at}` })),
      used: 17n * TAB_PRICE,
      row: paid(17n),
    },
    ['used-is-within-the-ceiling'],
  ],
  [
    'an answer of which nothing was reported',
    { used: 0n, row: unpaid },
    ['delivered-is-charged', 'void-has-delivered-nothing'],
  ],
  ['a refused call that costs nothing', { tries: [refused], used: 0n, row: unpaid }, []],
  ['a call without an answer that was charged', { tries: [lost] }, []],
  ['a call without an answer that was not', { tries: [lost], used: 0n, row: unpaid }, []],
  ['a buyer who left, and pays', { tries: [left] }, []],
  [
    'a buyer who left, and pays nothing',
    { tries: [left], used: 0n, row: unpaid },
    ['delivered-is-charged', 'void-has-delivered-nothing'],
  ],
  [
    'a buyer who stalled, and pays nothing',
    { tries: [stalled], used: 0n, row: unpaid },
    ['delivered-is-charged', 'void-has-delivered-nothing'],
  ],
  ['an answer that its API broke off', { tries: [stalled], used: 0n, row: unpaid, apiDied: 10_500 }, []],
  ['a gate that died before it reported', { used: 0n, row: unpaid, gateDied: 11_500 }, []],
  [
    'a gate that died after a report of the call',
    { used: 0n, row: unpaid, gateDied: 15_000, reportedAt: 14_000 },
    ['delivered-is-charged', 'void-has-delivered-nothing'],
  ],
  [
    'a gate that died before the call',
    { used: 0n, row: unpaid, gateDied: 5000 },
    ['delivered-is-charged', 'void-has-delivered-nothing'],
  ],
  [
    'use that is captured in part',
    { used: 2n * TAB_PRICE, tries: [tried(), tried({ id: 'call-1' })] },
    ['used-is-captured'],
  ],
  ['use that is voided', { row: unpaid }, ['used-is-captured', 'void-has-delivered-nothing']],
  ['a tab that stays open', { row: open }, ['every-tab-ends', 'used-is-captured']],
  ['an upgrade that was accepted', { tries: [tried({ isSwitched: true })] }, ['nothing-is-switched']],
  ['goods that are paid', { attack: goods, used: 0n, row: row(shop) }, []],
  [
    'goods that were delivered twice',
    { attack: { ...goods, deliveries: new Set(['one', 'two']) }, used: 0n, row: row(shop) },
    ['a-fixed-price-delivers-once'],
  ],
  [
    'goods that were made twice',
    { attack: { ...goods, runs: 2 }, used: 0n, row: row(shop) },
    ['a-fixed-price-delivers-once'],
  ],
  [
    'goods that were made again after a death',
    { attack: { ...goods, runs: 2 }, used: 0n, row: row(shop), gateDied: 10_500 },
    [],
  ],
  [
    'goods whose payment was not redeemed',
    { attack: goods, used: 0n, row: row({ ...shop, status: 'issued' }) },
    ['goods-are-paid'],
  ],
  ['a wallet that spent more than its payments', { spent: 2n * TAB_PRICE }, ['balances-equal-the-payments']],
])('%s', (_name, given, expected) => {
  expect(judgeAttacks(caseOf(given)).map(({ invariant }) => invariant)).toEqual(expected);
});
