import { displayUsdc } from '../../../sdk/src/generated/usdc.ts';
import type { Client, Output } from '../../../sdk/src/main.ts';

export type Sale = Output<'settlement.list'>['data'][number];

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

/** A sale as one line of a terminal, without its time. */
export const saleLine = ({ status, quote_amount, net_amount, scope, settlement_id }: Sale): string => {
  const resource = scope?.resource;
  return [
    status.padEnd(10),
    `${displayUsdc(quote_amount)}, you receive ${displayUsdc(net_amount)}`,
    ...(typeof resource === 'string' ? [resource] : []),
    settlement_id,
  ].join('  ');
};
