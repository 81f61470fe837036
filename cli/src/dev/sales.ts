import { displayUsdc } from '../../../sdk/src/generated/usdc.ts';
import type { Client } from '../../../sdk/src/main.ts';
import {
  isPaid,
  itemOf,
  keptOf,
  type Payment,
  STAGE_WORDS,
  stageOfPayment,
} from '../../../sdk/src/payment.ts';
import { amountText, heldText } from '../text/payment.ts';

export type Sale = Payment;

/** The sales of a service that are new or have another state since the last read, oldest first. */
export const createSalesFeed = (client: Client, signal: AbortSignal) => {
  const seen = new Map<string, string>();
  let started = false;
  return async (): Promise<Sale[]> => {
    const { data } = await client.settlement.list({ limit: '100' }, { signal });
    const changed = data.filter(
      ({ settlement_id, status }) => status !== 'pending' && seen.get(settlement_id) !== status,
    );
    for (const { settlement_id, status } of changed) seen.set(settlement_id, status);
    if (started) return changed.reverse();
    started = true;
    return [];
  };
};

/** What a sale brings. An authorization brings nothing before it is captured, or if it is void. */
const amountsText = (sale: Sale): string => {
  if (isPaid(sale)) return `${displayUsdc(sale.quote_amount)}, you receive ${displayUsdc(keptOf(sale, 0n))}`;
  if (sale.authorization === undefined) return amountText(sale);
  return sale.status === 'authorized' ? `${heldText(sale)} held` : heldText(sale);
};

/** A sale as one line of a terminal, without its time. */
export const saleLine = (sale: Sale): string => {
  const item = itemOf(sale);
  return [
    STAGE_WORDS[stageOfPayment(sale, Date.now())].padEnd(10),
    amountsText(sale),
    ...(item === null ? [] : [item]),
    sale.settlement_id,
  ].join('  ');
};
