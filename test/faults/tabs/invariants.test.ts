import { expect, test } from '@jest/globals';
import type { SettlementRow } from '../checks/final-records.ts';
import { type Ended, judgeTabs } from './invariants.ts';
import type { Extension, Tab } from './log.ts';

/** The invariants about extensions find what they are for. A campaign only shows that they hold. */
const CEILING = '500000';
const row = (more: Partial<SettlementRow>) =>
  ({ extends: null, holding: false, max_amount: null, units_consumed: 0, ...more }) as SettlementRow;
const extension = (more: Partial<Extension> = {}): Extension => ({
  attemptId: 'more',
  quote: { max_amount: '300000' } as Extension['quote'],
  isDecided: true,
  isCounted: true,
  ids: new Set(['stl_more']),
  ceilings: new Set(['800000']),
  ...more,
});
const merged = (more: Partial<SettlementRow> = {}) =>
  row({
    settlement_id: 'stl_more',
    payment_attempt_id: 'more',
    status: 'merged',
    chain_status: 'none',
    quote_amount: '300000',
    extends: 'stl_tab',
    ...more,
  });
/** A tab that was extended by 0.3 USDC, used by 0.7 USDC, and captured. */
const ended = ({
  asked = [extension()],
  records = [merged()],
  max = '800000',
  captured = '700000',
}: {
  asked?: Extension[];
  records?: SettlementRow[];
  max?: string;
  captured?: string;
} = {}): Ended => ({
  tab: {
    ...{ attemptId: 'tab', buyer: { cheats: false }, end: 'captured', from: 0, to: 0 },
    ...{ settlement: { settlement_id: 'stl_tab' }, isDecided: true, isGivenUp: false, isVoided: false },
    ...{ reports: [{ number: 0, amounts: [700_000], isCounted: true }], extensions: asked },
    ...{ asked: new Set<string>(), captured: new Set([captured]) },
  } as unknown as Tab,
  row: row({
    settlement_id: 'stl_tab',
    status: 'redeemed',
    chain_status: 'finalized',
    quote_amount: captured,
    max_amount: max,
    units_consumed: 700_000,
  }),
  uses: new Map([['0/0', 700_000n]]),
  merged: records,
});
const broken = (of: Ended) =>
  judgeTabs({ tabs: [of], moved: [], forks: 0 }).map(({ invariant }) => invariant);

test.each<[string, Ended, string[]]>([
  ['captured within its extended ceiling', ended(), []],
  [
    'extended by an extension whose buyer was refused by a call that came late',
    ended({ asked: [extension({ isCounted: false, ids: new Set(), ceilings: new Set() })] }),
    [],
  ],
  [
    'whose counted extension is not recorded',
    ended({ records: [] }),
    ['counted-extension-is-recorded', 'ceiling-is-the-sum-of-the-quotes'],
  ],
  [
    'whose extension is recorded twice',
    ended({ records: [merged(), merged({ settlement_id: 'stl_again' })], max: '1100000' }),
    ['counted-extension-is-recorded'],
  ],
  [
    'whose extension holds an amount',
    ended({ records: [merged({ holding: true })] }),
    ['counted-extension-is-recorded'],
  ],
  ['extended by more than its quotes', ended({ max: '1100000' }), ['ceiling-is-the-sum-of-the-quotes']],
  [
    'that was not extended',
    ended({ max: CEILING }),
    ['used-is-the-sum-within-the-ceiling', 'ceiling-is-the-sum-of-the-quotes'],
  ],
  [
    'extended by an extension that nobody asked for',
    ended({ asked: [] }),
    ['ceiling-is-the-sum-of-the-quotes'],
  ],
  [
    'captured beyond its quotes',
    ended({ captured: '800001' }),
    ['ceiling-is-the-sum-of-the-quotes', 'captured-is-what-was-used'],
  ],
  ['whose extension is not decided', ended({ asked: [extension({ isDecided: false })] }), ['every-tab-ends']],
])('a tab %s', (_name, of, expected) => {
  expect(broken(of)).toEqual(expected);
});
