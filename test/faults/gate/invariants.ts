import type { Break } from '../break.ts';
import type { SettlementRow } from '../checks/final-records.ts';
import { METERED_PRICE, PRICE } from './lane.ts';
import type { Purchase } from './log.ts';

/** A purchase with the settlements of its address. */
type Ended = { purchase: Purchase; rows: readonly SettlementRow[] };
type Moved = { who: string; expected: bigint; spent: bigint };
export type Case = { ended: readonly Ended[]; moved: readonly Moved[] };

/** The payments that are on the chain. */
export const paidOf = ({ rows }: Pick<Ended, 'rows'>): SettlementRow[] =>
  rows.filter(
    ({ status, chain_status }) =>
      ['issued', 'redeemed', 'expired'].includes(status) &&
      (chain_status === 'confirmed' || chain_status === 'finalized'),
  );

/** A gate that dies loses the use that it has not reported (docs/guides/metered.md). */
const mayBeLost = ({ kind, point, killedAt }: Purchase): boolean =>
  kind === 'metered' && killedAt !== null && point?.victim === 'gate';
export const isLost = (ended: Ended): boolean =>
  mayBeLost(ended.purchase) && ended.purchase.outcome === 'goods' && paidOf(ended).length === 0;

/** What must hold of a purchase. Null: it does. */
const ofPurchase: Record<string, (ended: Ended) => string | null> = {
  'every-buyer-ends': ({ purchase: { outcome } }) => (outcome === 'open' ? 'its buyer knows nothing' : null),

  'goods-are-exact': ({ purchase: { outcome } }) => (outcome === 'wrong' ? 'other bytes' : null),

  'nobody-pays-twice': (ended) => (paidOf(ended).length <= 1 ? null : `${paidOf(ended).length} payments`),

  'goods-or-money': (ended) => {
    const [paid] = paidOf(ended);
    return ended.purchase.outcome === 'goods' || paid === undefined
      ? null
      : `${paid.settlement_id} is ${paid.status}, and its buyer has nothing`;
  },

  'goods-are-paid': (ended) => {
    const { purchase } = ended;
    if (purchase.outcome !== 'goods' || isLost(ended)) return null;
    const price = String(purchase.kind === 'metered' ? METERED_PRICE : PRICE);
    const [paid] = paidOf(ended);
    if (paid === undefined) return 'the goods are not paid';
    return paid.status === 'redeemed' && paid.quote_amount === price
      ? null
      : `${paid.settlement_id} is ${paid.status} with ${paid.quote_amount}`;
  },

  /**
   * So that the API can make side effects once. A metered call that has failed and costs nothing is
   * undone, and its repeat is another delivery.
   */
  'one-delivery-for-a-payment': ({ purchase: { kind, deliveries }, rows }) =>
    kind === 'metered' || deliveries.size <= rows.length
      ? null
      : `${deliveries.size} deliveries of ${rows.length} payments`,
};

/** Checks every invariant. */
export const judgeGate = ({ ended, moved }: Case): Omit<Break, 'traffic'>[] => [
  ...ended.flatMap((one) =>
    Object.entries(ofPurchase).flatMap(([invariant, check]) => {
      const what = check(one);
      const { kind, path, killedAt, from, to, answers } = one.purchase;
      if (what === null) return [];
      const named = `${what} (${kind} ${path}, killed at ${killedAt}: ${answers.slice(-3).join(', ')})`;
      return [{ invariant, what: named, span: [from, to] as [number, number] }];
    }),
  ),
  ...moved
    .filter(({ expected, spent }) => expected !== spent)
    .map(({ who, expected, spent }) => ({
      invariant: 'balances-equal-the-payments',
      what: `${who} has spent ${spent}, by the records ${expected}`,
    })),
];
