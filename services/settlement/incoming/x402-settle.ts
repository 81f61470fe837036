import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import { readUntil } from '../../../shared/bus/read-until.ts';
import type { MoneyMoved } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import { formatMicro } from '../../../shared/lib/money/micro.ts';
import { count } from '../../../shared/lib/telemetry/metrics.ts';
import { POLL_MS } from '../core/wait.ts';
import { moneyMovedBy } from '../record/model/refusal.ts';
import { findByMessage, type IncomingRow } from '../record/store/incoming/incoming-payments.ts';
import { CONFIRM_GRACE_MS, hasChanged, isConfirmed, nextStep, type Step } from './model/hand-out.ts';
import type { X402Refusal } from './model/x402-request.ts';
import { type PayDeps, pay } from './pay.ts';
import { getVendor } from './vendor.ts';
import { presentX402, type TermsDeps } from './x402-order.ts';
import { errorOf, failureOf, REFUNDED } from './x402-refusal.ts';

export type X402SettleDeps = PayDeps & TermsDeps;
type Answer = z.infer<typeof settlement.operations.x402Settle.output>;

/** The gateway repeats the call while the answer is pending (`repeatsWhile` of the contract). */
const WAIT_MS = 8000;
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

const duplicate = ({ row, network }: Known): Answer => {
  count('quittance_idempotent_replays_total', 1, { operation: 'x402Settle' });
  const message = `the payment was settled by ${row.tx_hash}, and its success was handed out before`;
  return knownAnswer({ reason: 'duplicate_settlement', message }, { network, row });
};

const ANSWERS = {
  failed: (known: Known) => knownAnswer(failureOf(known.row), known),
  refunded: (known: Known) => knownAnswer(REFUNDED, known),
  duplicate,
  pending,
};

/** The answer of a settlement that is no longer pending: its success is handed out once. */
const answerEnded = async (
  { pool, group, waiting }: X402SettleDeps,
  ended: IncomingRow,
  { network, until }: { network: string; until: number },
): Promise<Answer> => {
  const handOutId = randomUUID();
  const leftMs = () => until - performance.now();
  const reread = (row: IncomingRow, done: (row: IncomingRow) => boolean, timeoutMs: number) =>
    readUntil(waiting, row.settlement_id, {
      read: async () => (await findByMessage(pool, row.message_hash)) ?? row,
      done,
      timeoutMs,
      againMs: POLL_MS,
    });
  let row = ended;
  for (let previous: Step | null = null; ; ) {
    const step: Step = nextStep(row, previous, leftMs());
    if (step === 'await confirmation') row = await reread(row, isConfirmed, CONFIRM_GRACE_MS);
    else if (step === 'await change') row = await reread(row, hasChanged, leftMs());
    else if (step !== 'hand out') return ANSWERS[step]({ network, row });
    else {
      const handedOut = await group.handOut({ settlement_id: row.settlement_id, hand_out_id: handOutId });
      if (handedOut !== null) return success(handedOut, network, handOutId);
    }
    previous = step;
  }
};

/**
 * POST /v1/x402/settle (docs/design/interop.md, section 4). It checks of a new payment everything
 * that verify checks, because a vendor may settle without verifying.
 */
export const x402Settle =
  (deps: X402SettleDeps): Handler<typeof settlement.operations.x402Settle> =>
  async (request, caller) => {
    const until = performance.now() + WAIT_MS;
    const vendor = await getVendor(deps, caller);
    const { network } = request.paymentRequirements;
    const outcome = await pay(deps, presentX402(deps, request, vendor), until);
    if (outcome.kind === 'refused') return refusalAnswer(outcome.refusal, network, outcome.moved);
    if (outcome.kind === 'pending') return pending({ network, row: outcome.row, txHash: outcome.txHash });
    return answerEnded(deps, outcome.row, { network, until });
  };
