import { expect, test } from '@jest/globals';
import type { SettlementRow } from '../checks/final-records.ts';
import { type Ended, type ExtensionRow, judgeTabs } from './invariants.ts';
import type { Extension, Tab } from './log.ts';

/** The invariants about extensions find what they are for. A campaign only shows that they hold. */
const CEILING = '500000';
const row = (more: Partial<SettlementRow>) =>
  ({ holding: false, ceiling: null, used: null, ...more }) as SettlementRow;
const extension = (more: Partial<Extension> = {}): Extension => ({
  attemptId: 'more',
  quote: { max_amount: '300000' } as Extension['quote'],
  isDecided: true,
  isCounted: true,
  ids: new Set(['ext_more']),
  ceilings: new Set(['800000']),
  ...more,
});
const recorded = (extension_id = 'ext_more'): ExtensionRow => ({
  extension_id,
  settlement_id: 'stl_tab',
  payment_attempt_id: 'more',
  amount: '300000',
});
/** A tab that was extended by 0.3 USDC, used by 0.7 USDC, and captured. */
const ended = ({
  asked = [extension()],
  records = [recorded()],
  max = '800000',
  captured = '700000',
}: {
  asked?: Extension[];
  records?: ExtensionRow[];
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
    ceiling: max,
    used: '700000',
  }),
  uses: new Map([['0/0', 700_000n]]),
  extensions: records,
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
    ended({ records: [recorded(), recorded('ext_again')], max: '1100000' }),
    ['counted-extension-is-recorded'],
  ],
  [
    'whose extension has another amount than its quote',
    ended({ records: [{ ...recorded(), amount: '300001' }], max: '800001' }),
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
