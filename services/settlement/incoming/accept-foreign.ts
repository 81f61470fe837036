import type { z } from 'zod';
import { conflict, invalid } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Outbox } from '../../../shared/events/relay.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { type FeeRule, feeMicro } from '../../../shared/lib/money/fee.ts';
import { formatMicro, parseMicro } from '../../../shared/lib/money/micro.ts';
import { count } from '../../../shared/lib/telemetry/metrics.ts';
import { failedError, moneyMovedBy } from '../record/model/refusal.ts';
import { findByMessage, type IncomingRow } from '../record/store/incoming/incoming-payments.ts';
import { acceptErrorOf } from './model/accept-error.ts';
import { mismatchOf, type Refusal } from './model/refusal.ts';
import type { IncomingOrder, Presented } from './order.ts';
import { type PayDeps, pay } from './pay.ts';
import { PROTOCOLS } from './rail.ts';
import { redeemIncoming } from './record-hand-out.ts';
import { getVendor, type Vendor } from './vendor.ts';

export type AcceptForeignDeps = PayDeps & { relay: Outbox; fee: FeeRule };
type Input = z.infer<typeof settlement.operations.acceptForeign.input>;
type Answer = z.infer<typeof settlement.operations.acceptForeign.output>;

/** A vendor repeats the call after 202. */
const WAIT_MS = 8000;

/** The order of a new payment, with the fee of today. */
const orderOf = (
  vendor: Vendor,
  { rail, quote_amount, memo, transaction, resource }: Input,
  rule: FeeRule,
): IncomingOrder => {
  const amountMicro = parseMicro(quote_amount);
  const fee = PROTOCOLS[rail].fee === 'in_transaction' ? feeMicro(amountMicro, rule) : 0n;
  if (fee >= amountMicro)
    throw invalid(
      'quote_amount',
      `must exceed the fee of ${fee} micro-units, or the vendor would receive nothing`,
    );
  return {
    rail,
    vendor,
    amountMicro,
    feeMicro: fee,
    transaction,
    memo: memo ?? null,
    externalId: null,
    link: null,
    resource: resource ?? null,
  };
};

const presented = (vendor: Vendor, input: Input, rule: FeeRule): Presented<Refusal> => ({
  vendor,
  transaction: input.transaction,
  refuse: (refusal) => refusal,
  orderNow: async () => orderOf(vendor, input, rule),
  mismatch: (row) =>
    mismatchOf(row, {
      rail: input.rail,
      amountMicro: parseMicro(input.quote_amount),
      memo: input.memo ?? null,
    }),
});

const confirmed = (row: IncomingRow, redeemedAt: number, redeemId: string, replayed: boolean): Answer => ({
  settlement_id: row.settlement_id,
  status: 'confirmed',
  tx_hash: row.tx_hash!,
  quote_amount: formatMicro(row.quote_amount),
  fee_amount: formatMicro(row.fee_amount),
  payer_address: row.payer_address!,
  source_account: row.source_account!,
  redeemed_at: isoTime(redeemedAt),
  redeem_id: redeemId,
  replayed,
});

/** Redeems a payment that is no longer pending, or reports who has redeemed it. */
const redeemEnded = async (deps: AcceptForeignDeps, row: IncomingRow, redeemId: string): Promise<Answer> => {
  const { settlement_id } = row;
  if (row.status === 'failed') throw failedError(row);
  if (row.status === 'issued')
    await redeemIncoming(deps, { settlement_id, redeem_id: redeemId, hand_out_id: null });
  const now = (await findByMessage(deps.pool, row.message_hash)) ?? row;
  // Reversed between the two reads.
  if (now.status === 'failed') throw failedError(now);
  if (now.status === 'issued') {
    if (now.chain_status === 'pending' || now.handed_out)
      return { settlement_id: now.settlement_id, status: 'pending', tx_hash: now.tx_hash };
    throw conflict('the whole net amount is refunded, or a refund of it is under way', {
      money_moved: moneyMovedBy(now),
    });
  }
  const replayed = row.status === 'redeemed' || now.redeem_id !== redeemId;
  if (replayed) count('quittance_idempotent_replays_total', 1, { operation: 'acceptForeign' });
  return confirmed(now, now.redeemed_at!, now.redeem_id!, replayed);
};

/** POST /v1/settlements/foreign: settles a payment of x402 or MPP, and redeems it. */
export const acceptForeign =
  (deps: AcceptForeignDeps): Handler<typeof settlement.operations.acceptForeign> =>
  async (input, caller) => {
    const until = performance.now() + WAIT_MS;
    const vendor = await getVendor(deps, caller);
    if (PROTOCOLS[input.rail].needsMemo && input.memo === undefined)
      throw invalid('memo', `is required for the rail ${input.rail}, because its offers always have one`);
    const outcome = await pay(deps, presented(vendor, input, deps.fee), until);
    if (outcome.kind === 'refused') throw acceptErrorOf(outcome.refusal, outcome.moved);
    if (outcome.kind === 'pending')
      return { settlement_id: outcome.row.settlement_id, status: 'pending', tx_hash: outcome.txHash };
    return redeemEnded(deps, outcome.row, input.redeem_id);
  };
