import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import { readUntil } from '../../../shared/bus/read-until.ts';
import type { MoneyMoved } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import { count } from '../../../shared/lib/metrics.ts';
import { formatMicro } from '../../../shared/lib/micro.ts';
import { moneyMovedBy } from '../settlements/model/refusal.ts';
import { findByMessage, type IncomingRow } from '../settlements/store/incoming-payments.ts';
import type { X402Refusal } from './model/x402-request.ts';
import { type PayDeps, pay } from './pay.ts';
import { getVendor } from './vendor.ts';
import { presentX402 } from './x402-order.ts';
import { errorOf, failureOf, REFUNDED } from './x402-refusal.ts';
import type { TermsDeps } from './x402-terms.ts';

type Deps = PayDeps & TermsDeps;
type Answer = z.infer<typeof settlement.operations.x402Settle.output>;

/** The gateway repeats the call while the answer is pending (`repeatsWhile` of the contract). */
const WAIT_MS = 8000;
/** Another call has the success, and may fail to send it. */
const HAND_OUT_POLL_MS = 1000;
/**
 * A gateway repeats the confirmation of a hand-out every 1.25 s at most. While this service was
 * unavailable it was refused, so it gets this time before the hand-out counts as lost.
 */
const CONFIRM_GRACE_MS = 2000;

/** A refusal without the settlement. The request does not say that it is its own. */
const refusalAnswer = (refusal: X402Refusal, network: string, moved: MoneyMoved): Answer => ({
  success: false,
  transaction: '',
  network,
  errorReason: refusal.reason,
  errorMessage: refusal.message,
  error: errorOf(refusal, moved),
});

type Known = { network: string; row: IncomingRow; txHash?: string | null };

/** A refusal about the request's own settlement. */
const knownAnswer = (refusal: X402Refusal, { network, row, txHash = row.tx_hash }: Known): Answer => ({
  ...refusalAnswer(refusal, network, moneyMovedBy(row)),
  transaction: txHash ?? '',
  payer: row.payer_address!,
  extra: { quittance: { settlement_id: row.settlement_id } },
});

const pending = (known: Known): Answer =>
  knownAnswer(
    {
      reason: 'settlement_pending',
      message: 'the payment is being confirmed: settle the same payload again',
    },
    known,
  );

const success = (row: IncomingRow, network: string, handOutId: string): Answer => ({
  success: true,
  transaction: row.tx_hash!,
  network,
  payer: row.payer_address!,
  amount: formatMicro(row.quote_amount),
  extra: { quittance: { settlement_id: row.settlement_id, hand_out_id: handOutId } },
});

const duplicate = (row: IncomingRow, network: string): Answer => {
  count('quittance_idempotent_replays_total', 1, { operation: 'x402Settle' });
  const message = `the payment was settled by ${row.tx_hash}, and its success was handed out before`;
  return knownAnswer({ reason: 'duplicate_settlement', message }, { network, row });
};

/** The answer of a settlement that is no longer pending: its success is handed out once. */
const answerEnded = async (
  deps: Deps,
  ended: IncomingRow,
  { network, until }: { network: string; until: number },
): Promise<Answer> => {
  const { pool, group, waiting } = deps;
  const handOutId = randomUUID();
  const reread = (row: IncomingRow, done: (row: IncomingRow) => boolean, timeoutMs: number) =>
    readUntil(waiting, row.settlement_id, {
      read: async () => (await findByMessage(pool, row.message_hash)) ?? row,
      ...{ done, timeoutMs, againMs: HAND_OUT_POLL_MS },
    });
  for (let row = ended; ; ) {
    if (row.status === 'issued' && row.hand_out_id !== null && !row.handed_out) {
      if (until - performance.now() < CONFIRM_GRACE_MS) return pending({ network, row });
      row = await reread(row, ({ status }) => status !== 'issued', CONFIRM_GRACE_MS);
    }
    if (row.status === 'failed') return knownAnswer(failureOf(row), { network, row });
    if (row.status !== 'issued') return duplicate(row, network);
    if (row.is_refunded) return knownAnswer(REFUNDED, { network, row });
    const handedOut = await group.handOut({ settlement_id: row.settlement_id, hand_out_id: handOutId });
    if (handedOut !== null) return success(handedOut, network, handOutId);
    if (performance.now() >= until)
      return row.handed_out ? duplicate(row, network) : pending({ network, row });
    row = await reread(
      row,
      ({ status, handed_out, chain_status, is_refunded }) =>
        status !== 'issued' || is_refunded || (!handed_out && chain_status !== 'pending'),
      until - performance.now(),
    );
  }
};

/**
 * POST /v1/x402/settle (docs/design/interop.md, section 4). It checks of a new payment everything
 * that verify checks, because a vendor may settle without verifying.
 */
export const x402Settle =
  (deps: Deps): Handler<typeof settlement.operations.x402Settle> =>
  async (request, caller) => {
    const until = performance.now() + WAIT_MS;
    const vendor = await getVendor(deps, caller);
    const { network } = request.paymentRequirements;
    const outcome = await pay(deps, presentX402(deps, request, vendor), until);
    if (outcome.kind === 'refused') return refusalAnswer(outcome.refusal, network, outcome.moved);
    if (outcome.kind === 'pending') return pending({ network, row: outcome.row, txHash: outcome.txHash });
    return answerEnded(deps, outcome.row, { network, until });
  };
