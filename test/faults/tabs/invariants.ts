import { CEILING } from '../../support/actors/tab-calls.ts';
import type { Break } from '../break.ts';
import type { SettlementRow } from '../checks/final-records.ts';
import { sumOf, type Tab, usageId } from './log.ts';

/** The smallest fee: use that does not exceed it is void. */
const FEE = 10_000n;

/** An extension as settlement records it. */
export type ExtensionRow = {
  extension_id: string;
  settlement_id: string;
  payment_attempt_id: string;
  amount: string;
};

/** A tab with its records. */
export type Ended = {
  tab: Tab;
  row: SettlementRow | undefined;
  uses: ReadonlyMap<string, bigint>;
  extensions: readonly ExtensionRow[];
};
type Moved = { who: string; expected: bigint; balance: bigint };
export type Case = { tabs: readonly Ended[]; moved: readonly Moved[]; forks: number };

const ENDS = ['issued', 'redeemed', 'expired', 'voided', 'failed'];

export const isCaptured = (row: SettlementRow | undefined): boolean =>
  row !== undefined &&
  ['issued', 'redeemed', 'expired'].includes(row.status) &&
  row.chain_status !== 'failed' &&
  row.chain_status !== 'none';
const usedOf = ({ uses }: Ended): bigint => [...uses.values()].reduce((sum, one) => sum + one, 0n);

/** What must hold of a tab. Null: it does. */
const ofTab: Record<string, (ended: Ended, forks: number) => string | null> = {
  'authorized-is-recorded': ({ tab, row }) =>
    tab.settlement === null || row?.settlement_id === tab.settlement.settlement_id
      ? null
      : `answered ${tab.settlement.settlement_id}, recorded ${row?.settlement_id}`,

  'used-is-the-sum-within-the-ceiling': (ended) => {
    const { row } = ended;
    if (row === undefined) return ended.uses.size === 0 ? null : 'uses without a settlement';
    const used = usedOf(ended);
    return used === BigInt(row.used!) && used <= BigInt(row.ceiling!)
      ? null
      : `${used} in uses, ${row.used} recorded, of ${row.ceiling}`;
  },

  /** Each use counts once with its amount, and those of a call all or none. */
  'counted-use-is-recorded': ({ tab, uses }) => {
    let known = 0;
    for (const { number, amounts, isCounted } of tab.reports) {
      const found = amounts.filter((amount, at) => uses.get(usageId(number, at)) === BigInt(amount)).length;
      known += found;
      if (isCounted && found < amounts.length)
        return `report ${number} was counted, and ${found} of ${amounts.length} are recorded`;
      if (found > 0 && found < amounts.length) return `${found} of ${amounts.length} of report ${number}`;
    }
    return known === uses.size ? null : `${uses.size} uses are recorded, ${known} were reported`;
  },

  /** An extension that was answered with 200 is recorded once, with its amount. */
  'counted-extension-is-recorded': ({ tab, extensions }) => {
    for (const { attemptId, quote, isCounted, ids, ceilings } of tab.extensions) {
      const own = extensions.filter((row) => row.payment_attempt_id === attemptId);
      const [row] = own;
      if (own.length > 1) return `the extension ${attemptId} is recorded ${own.length} times`;
      if (row === undefined && isCounted)
        return `the extension ${attemptId} was counted, and is not recorded`;
      if (row !== undefined && row.amount !== quote.max_amount)
        return `the extension ${row.extension_id} has ${row.amount}, its quote ${quote.max_amount}`;
      if ([...ids].some((id) => id !== row?.extension_id))
        return `the extension ${row?.extension_id} was answered as ${[...ids]}`;
      const least = CEILING + BigInt(quote.max_amount);
      if ([...ceilings].some((ceiling) => BigInt(ceiling) < least))
        return `the extension ${attemptId} of ${quote.max_amount} was answered with ${[...ceilings]}`;
    }
    return null;
  },

  'ceiling-is-the-sum-of-the-quotes': ({ tab, row, extensions }) => {
    if (row === undefined) return extensions.length === 0 ? null : 'extensions of no settlement';
    const known = new Set(tab.extensions.map(({ attemptId }) => attemptId));
    const stranger = extensions.find(({ payment_attempt_id: id }) => !known.has(id));
    if (stranger !== undefined) return `nobody asked for the extension ${stranger.extension_id}`;
    const sum = extensions.reduce((all, { amount }) => all + BigInt(amount), CEILING);
    if (BigInt(row.ceiling!) !== sum) return `the ceiling is ${row.ceiling}, the quotes say ${sum}`;
    return isCaptured(row) && BigInt(row.quote_amount) > sum
      ? `${row.quote_amount} captured of ${sum}`
      : null;
  },

  /** Used = captured + released: nobody pays for nothing, and an honest buyer pays what it used. */
  'captured-is-what-was-used': (ended, forks) => {
    const { tab, row } = ended;
    if (row === undefined) return null;
    const used = usedOf(ended);
    if (row.holding) return 'it still holds';
    if (isCaptured(row))
      return BigInt(row.quote_amount) === used ||
        (tab.asked.has(row.quote_amount) && used < BigInt(row.quote_amount))
        ? null
        : `${row.quote_amount} captured, ${used} used, asked ${[...tab.asked]}`;
    if (row.status === 'voided') return tab.isGivenUp || used <= FEE ? null : `void, and ${used} were used`;
    return tab.buyer.cheats || forks > 0 ? null : `${row.status}, and ${used} were used by an honest buyer`;
  },

  /** What a vendor was told stays true. */
  'answers-stay-true': ({ tab, row }, forks) => {
    if (tab.captured.size > 1) return `told of captures of ${[...tab.captured]}`;
    const [captured] = tab.captured;
    if (tab.isVoided && row?.status !== 'voided') return `told that it is void, and it is ${row?.status}`;
    if (captured === undefined || (row?.status === 'failed' && (tab.buyer.cheats || forks > 0))) return null;
    return row?.quote_amount === captured && row.status !== 'voided'
      ? null
      : `told that ${captured} are captured, and it is ${row?.status} with ${row?.quote_amount}`;
  },

  'every-tab-ends': ({ tab, row }) => {
    if (!tab.isDecided) return 'its buyer could not learn what became of it';
    if (tab.extensions.some(({ isDecided }) => !isDecided))
      return 'its buyer could not learn what became of an extension';
    return row === undefined || ENDS.includes(row.status) ? null : `it is ${row.status}`;
  },
};

/** Checks every invariant of tabs. */
export const judgeTabs = ({ tabs, moved, forks }: Case): Omit<Break, 'traffic'>[] => [
  ...tabs.flatMap((ended) =>
    Object.entries(ofTab).flatMap(([invariant, check]) => {
      const what = check(ended, forks);
      const { tab, row } = ended;
      if (what === null) return [];
      const named = `${what} (attempt ${tab.attemptId}, settlement ${row?.settlement_id ?? 'none'}, ${tab.end})`;
      return [{ invariant, what: named, span: [tab.from, tab.to] as [number, number] }];
    }),
  ),
  ...moved
    .filter(({ expected, balance }) => expected !== balance)
    .map(({ who, expected, balance }) => ({
      invariant: 'balances-equal-the-captures',
      what: `${who} has ${balance}, by the records ${expected}`,
    })),
];

/** What was used and is not paid, of the tabs of cheaters, in micro-units. */
export const lossOf = (tabs: readonly Ended[]): { total: bigint; most: bigint; tabs: number } => {
  const lost = tabs.filter(({ row }) => row?.status === 'failed').map(usedOf);
  return {
    total: lost.reduce((sum, one) => sum + one, 0n),
    most: lost.reduce((most, one) => (one > most ? one : most), 0n),
    tabs: lost.length,
  };
};

/** How many extensions were asked for, counted and recorded. */
export const extensionsOf = (tabs: readonly Ended[]) => ({
  asked: tabs.reduce((sum, { tab }) => sum + tab.extensions.length, 0),
  counted: tabs.reduce((sum, { tab }) => sum + tab.extensions.filter(({ isCounted }) => isCounted).length, 0),
  recorded: tabs.reduce((sum, { extensions }) => sum + extensions.length, 0),
  beyond: tabs.filter(({ row }) => isCaptured(row) && BigInt(row!.quote_amount) > CEILING).length,
});

/** How many uses were reported, counted and recorded. */
export const usesOf = (tabs: readonly Ended[]) => ({
  reported: tabs.reduce((sum, { tab }) => sum + sumOf(tab.reports.map(({ amounts }) => amounts.length)), 0),
  recorded: tabs.reduce((sum, { uses }) => sum + uses.size, 0),
});
