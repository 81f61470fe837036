import type { z } from 'zod';
import type { MoneyMoved } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import { carryOut, type NotAccepted } from '../core/carry-out.ts';
import { accruedFeeMicro, type Credit, hasCreditFor } from '../fee-accounts/model.ts';
import { getFeeAccount } from '../fee-accounts/store.ts';
import { moneyMovedBy } from '../record/model/refusal.ts';
import { findByMessage, type IncomingRow } from '../record/store/incoming/incoming-payments.ts';
import { type AcceptDeps, check, findConflict, isRefusal } from './accept-new.ts';
import { findLost, type LostDeps } from './lost.ts';
import type { X402Refusal } from './model/x402-request.ts';
import type { Presented } from './order.ts';
import { findKnown, NO_MESSAGE, refusedBy, refuseOther } from './pay.ts';
import { INCOMING } from './rail.ts';
import { getVendor } from './vendor.ts';
import { presentX402, type TermsDeps } from './x402-order.ts';
import { errorOf, failureOf, REFUNDED, toX402 } from './x402-refusal.ts';

export type X402VerifyDeps = AcceptDeps & LostDeps & TermsDeps & { credit: Credit };
type Answer = z.infer<typeof settlement.operations.x402Verify.output>;
type Request = Presented<X402Refusal>;

const invalidAnswer = (refusal: X402Refusal, moved: MoneyMoved, payer?: string): Answer => ({
  isValid: false,
  invalidReason: refusal.reason,
  invalidMessage: refusal.message,
  ...(payer !== undefined && { payer }),
  error: errorOf(refusal, moved),
});

/** The answer for a payload that was presented to settle before. */
const ofKnown = (request: Request, row: IncomingRow): Answer => {
  const payer = row.payer_address!;
  const other = refuseOther(request, row);
  if (other !== null) return invalidAnswer(other.refusal, other.moved);
  const invalid = (refusal: X402Refusal) => invalidAnswer(refusal, moneyMovedBy(row), payer);
  if (row.status === 'failed') return invalid(failureOf(row));
  if (row.status === 'redeemed' || row.handed_out)
    return invalid({
      reason: 'duplicate_settlement',
      message: `the payment was settled by ${row.tx_hash}`,
    });
  if (row.status === 'issued' && row.is_refunded) return invalid(REFUNDED);
  return { isValid: true, payer };
};

/** A refusal, and the address that would pay if it is known. */
type Judged = { refusal: X402Refusal; payer?: string };

/** Judges a payment that has no record as settle would do it. */
const judgeNew = async (
  deps: X402VerifyDeps,
  { request, hash }: { request: Request; hash: string | null },
): Promise<Answer | NotAccepted<Judged>> => {
  const order = await request.orderNow();
  if ('refused' in order) return { refused: { refusal: order.refused } };
  if (hash === null) return { refused: { refusal: toX402(NO_MESSAGE) } };
  const checked = await check(deps, order);
  if (isRefusal(checked)) return { refused: { refusal: toX402(checked) } };
  const { payer } = checked;
  const conflict = await findConflict(deps, order, checked);
  if (conflict !== null) return { refused: { refusal: toX402(conflict), payer } };
  const fee = accruedFeeMicro(order.amountMicro, BigInt(checked.lamports), deps.accruedFee);
  const account = await getFeeAccount(deps.pool, order.vendor.accountId);
  if (hasCreditFor(account, fee, deps.credit)) return { isValid: true, payer };
  const message = 'the accrued fees of this vendor exceed its credit';
  return { refused: { refusal: { reason: 'facilitator_credit_exhausted', message }, payer } };
};

/** POST /v1/x402/verify: checks and simulates, and writes nothing. */
export const x402Verify =
  (deps: X402VerifyDeps): Handler<typeof settlement.operations.x402Verify> =>
  async (input, caller) => {
    const request = presentX402(deps, input, await getVendor(deps, caller));
    const { hash, row } = await findKnown(deps.group, request);
    if (row !== null) return ofKnown(request, row);
    return carryOut<Answer, Judged, { known: IncomingRow | null }>(INCOMING, {
      acceptNew: () => judgeNew(deps, { request, hash }),
      readRecords: async () => ({ known: hash === null ? null : await findByMessage(deps.pool, hash) }),
      repeat: async (known) => ofKnown(request, known),
      findLost: () => findLost(deps, request),
      refuse: async ({ refusal, payer }) =>
        invalidAnswer(refusal, refusedBy(request, refusal, null).moved, payer),
    });
  };
