import { setTimeout as sleep } from 'node:timers/promises';
import type { Vendor } from '../../../deploy/local/seed/actors.ts';
import type { Rng } from '../rng.ts';
import type { Client } from './client.ts';
import type { Attempt, ClientLog, Decision } from './client-log.ts';
import { APPROVAL_ABOVE, type Owner } from './owners.ts';

const TRIES = 3;
const MOST = 500_000n;
/** A decision and a payment that begin so close together meet in the acceptance. */
const BESIDE_MS = [0, 300] as const;

/** What owner and agent do about a payment that needs an approval, each in turn. */
const WAYS = [
  'approved, then denied beside the payment',
  'another quote with the approved attempt',
  'another attempt with the approved quote',
  'approved beside the payment',
  'denied',
  'approved, then paid',
] as const;

/**
 * Payments of delegates that need the approval of their owner.
 * @returns one such payment after the other, each in another way
 */
export const createApprovedPayments = ({
  client,
  clientLog,
  owners,
  vendors,
  settle,
  isRunning,
}: {
  client: Client;
  clientLog: ClientLog;
  owners: readonly Owner[];
  vendors: readonly Vendor[];
  /** Sends an attempt, and repeats it for a while. */
  settle: (attempt: Attempt, own: Rng) => Promise<void>;
  isRunning: () => boolean;
}) => {
  let number = 0;

  const amountAbove = (least: bigint, own: Rng): string =>
    String(own.int(Number(least) + 1, Number(MOST) + 1));
  const quoteOf = (vendor: Vendor, quote_amount: string) => client.quote(vendor, { quote_amount }, isRunning);

  const decide = async (owner: Owner, attempt: Attempt, wants: Decision['wants']): Promise<void> => {
    for (let tries = 0; tries < TRIES && isRunning(); tries += 1)
      if (await client.decide(owner, attempt, wants)) return;
  };

  /** Does both at about the same moment, through different gateways. */
  const beside = async (own: Rng, decision: () => Promise<void>, payment: () => Promise<void>) => {
    await Promise.all([sleep(own.int(...BESIDE_MS)).then(decision), payment()]);
  };

  return async (own: Rng): Promise<void> => {
    const way = WAYS[number++ % WAYS.length]!;
    const [owner, vendor] = [own.pick(owners), own.pick(vendors)];
    const { payer } = owner;
    const key = own.pick(owner.keys);
    const quote = await quoteOf(vendor, amountAbove(APPROVAL_ABOVE, own));
    if (quote === null) return;
    const attempt = clientLog.begin(payer, vendor, quote, { key });
    const pay = () => settle(attempt, own);
    const approve = () => decide(owner, attempt, 'approve');
    await pay();
    if (way === 'denied') {
      await decide(owner, attempt, 'deny');
      return pay();
    }
    if (way === 'approved beside the payment') {
      await beside(own, approve, pay);
      return pay();
    }
    await approve();
    if (way === 'approved, then denied beside the payment') {
      await beside(own, () => decide(owner, attempt, 'deny'), pay);
    } else if (way === 'another attempt with the approved quote') {
      const other = clientLog.begin(payer, vendor, quote, { key });
      await settle(other, own);
      await decide(owner, other, 'deny');
      await pay();
    } else if (way === 'another quote with the approved attempt') {
      // One of the same amount, and a dearer one.
      for (const amount of [quote.quote_amount, amountAbove(BigInt(quote.quote_amount), own)]) {
        const other = await quoteOf(vendor, amount);
        if (other !== null) await settle(clientLog.begin(payer, vendor, other, { key, id: attempt.id }), own);
      }
    } else await pay();
  };
};
