import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import { readUntil } from '../../../shared/bus/read-until.ts';
import type { MoneyMoved } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import { count } from '../../../shared/lib/metrics.ts';
import { formatMicro } from '../../../shared/lib/micro.ts';
import { type ForeignRow, findByMessage } from '../settlements/store/foreign-payments.ts';
import { x402FailureOf } from './model/x402-reasons.ts';
import { readX402Request, type X402Refusal } from './model/x402-request.ts';
import { type PayDeps, pay } from './pay.ts';
import { type FindService, getVendor } from './vendor.ts';
import { x402OrderOf } from './x402-order.ts';
import { errorOf, movedBy, toX402 } from './x402-refusal.ts';
import { type TermsDeps, termsFor } from './x402-terms.ts';

type Deps = PayDeps & TermsDeps & { findService: FindService };
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

type Known = { network: string; row?: ForeignRow; txHash?: string | null };

const failureAnswer = (
  refusal: X402Refusal,
  { network, row, txHash = row?.tx_hash ?? null }: Known,
  moved: MoneyMoved = 'no',
): Answer => ({
  success: false,
  transaction: txHash ?? '',
  network,
  ...(row !== undefined && { payer: row.payer_address! }),
  errorReason: refusal.reason,
  errorMessage: refusal.message,
  ...(row !== undefined && { extra: { quittance: { settlement_id: row.settlement_id } } }),
  error: errorOf(refusal, moved),
});

const pending = (known: Known): Answer =>
  failureAnswer(
    {
      reason: 'settlement_pending',
      message: 'the payment is being confirmed: settle the same payload again',
    },
    known,
    'unknown',
  );

const success = (row: ForeignRow, network: string, handOutId: string): Answer => ({
  success: true,
  transaction: row.tx_hash!,
  network,
  payer: row.payer_address!,
  amount: formatMicro(row.quote_amount),
  extra: { quittance: { settlement_id: row.settlement_id, hand_out_id: handOutId } },
});

const duplicate = (row: ForeignRow, network: string): Answer => {
  count('quittance_idempotent_replays_total', 1, { operation: 'x402Settle' });
  const message = `the payment was settled by ${row.tx_hash}, and its success was handed out before`;
  return failureAnswer({ reason: 'duplicate_settlement', message }, { network, row }, 'yes');
};

/** The answer of a settlement that is no longer pending: its success is handed out once. */
const answerEnded = async (
  deps: Deps,
  ended: ForeignRow,
  { network, until }: { network: string; until: number },
): Promise<Answer> => {
  const { pool, group, waiting } = deps;
  const handOutId = randomUUID();
  const reread = (row: ForeignRow, done: (row: ForeignRow) => boolean, timeoutMs: number) =>
    readUntil(waiting, row.settlement_id, {
      read: async () => (await findByMessage(pool, row.message_hash)) ?? row,
      ...{ done, timeoutMs, againMs: HAND_OUT_POLL_MS },
    });
  for (let row = ended; ; ) {
    if (row.status === 'issued' && row.hand_out_id !== null && !row.handed_out) {
      if (until - performance.now() < CONFIRM_GRACE_MS) return pending({ network, row });
      row = await reread(row, ({ status }) => status !== 'issued', CONFIRM_GRACE_MS);
    }
    if (row.status === 'failed') {
      const message = row.failure_message ?? 'the payment failed';
      return failureAnswer({ reason: x402FailureOf(row.failure_code), message }, { network, row });
    }
    if (row.status !== 'issued') return duplicate(row, network);
    const handedOut = await group.handOut({ settlement_id: row.settlement_id, hand_out_id: handOutId });
    if (handedOut !== null) return success(handedOut, network, handOutId);
    if (performance.now() >= until)
      return row.handed_out ? duplicate(row, network) : pending({ network, row });
    row = await reread(
      row,
      ({ status, handed_out, chain_status }) =>
        status !== 'issued' || (!handed_out && chain_status !== 'pending'),
      until - performance.now(),
    );
  }
};

/**
 * POST /v1/x402/settle (docs/design/interop.md, section 4). It checks everything that verify
 * checks, because a vendor may settle without verifying.
 */
export const x402Settle =
  (deps: Deps): Handler<typeof settlement.operations.x402Settle> =>
  async (request, caller) => {
    const until = performance.now() + WAIT_MS;
    const vendor = await getVendor(deps, caller);
    const read = readX402Request(request, await termsFor(deps, vendor));
    const { network } = request.paymentRequirements;
    if ('reason' in read) return failureAnswer(read, { network });
    const outcome = await pay(deps, x402OrderOf(vendor, read), until);
    if (outcome.kind === 'refused')
      return failureAnswer(toX402(outcome.refusal), { network }, movedBy(outcome.refusal));
    if (outcome.kind === 'pending') return pending({ network, row: outcome.row, txHash: outcome.txHash });
    return answerEnded(deps, outcome.row, { network, until });
  };
