import { sharedMap } from '../shared-map.ts';
import type { PaymentRecord } from './store.ts';

/** What a call to a vendor has cost who is paid for what was used. */
export type Usage = {
  settlementId: string;
  /** The cost of the call, USDC micro-units. Null: a stream, whose cost is known at its end. */
  chargedMicro: string | null;
  /** What is left of its tab. Null if the authorization was for this call. */
  leftMicro: string | null;
};

const HEADER = 'quittance-usage';
const usages = sharedMap<Response, Usage>('usages');

const amountIn = (header: string, name: string): string | null =>
  new RegExp(`(?:^|, ?)${name}=(0|[1-9][0-9]{0,18})(?:,|$)`).exec(header)?.[1] ?? null;

/** What a vendor says that a call has cost. Null: nothing, or the call was not paid by use. */
export const readUsage = ({ settlement }: PaymentRecord, { headers }: Response): Usage | null => {
  const header = headers.get(HEADER);
  if (header === null || settlement === null) return null;
  return {
    settlementId: settlement.settlement_id,
    chargedMicro: amountIn(header, 'charged'),
    leftMicro: amountIn(header, 'left'),
  };
};

export const withUsage = (response: Response, usage: Usage | null): Response => {
  if (usage !== null) usages.set(response, usage);
  return response;
};

/**
 * What an answer of `payingFetch` has cost, as its vendor says. `settlement.get` shows what the
 * vendor has reported. Null if it was not paid by its use.
 */
export const usageOf = (response: Response): Usage | null => usages.get(response) ?? null;
