import type { z } from 'zod';
import type { MoneyMoved } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import { accruedFeeMicro, type Credit, hasCreditFor } from '../fee-accounts/model.ts';
import { getFeeAccount } from '../fee-accounts/store.ts';
import type { ForeignRow } from '../settlements/store/foreign-payments.ts';
import { x402FailureOf } from './model/x402-reasons.ts';
import { readX402Request, type X402Refusal } from './model/x402-request.ts';
import { findConflict, inspect, type PayDeps } from './pay.ts';
import { type FindService, getVendor } from './vendor.ts';
import { x402OrderOf } from './x402-order.ts';
import { errorOf, movedBy, toX402 } from './x402-refusal.ts';
import { type TermsDeps, termsFor } from './x402-terms.ts';

type Deps = PayDeps & TermsDeps & { findService: FindService; credit: Credit };
type Answer = z.infer<typeof settlement.operations.x402Verify.output>;

const invalidAnswer = (refusal: X402Refusal, payer?: string, moved: MoneyMoved = 'no'): Answer => ({
  isValid: false,
  invalidReason: refusal.reason,
  invalidMessage: refusal.message,
  ...(payer !== undefined && { payer }),
  error: errorOf(refusal, moved),
});

/** The answer for a payload that was presented to settle before. */
const ofKnown = (row: ForeignRow): Answer => {
  const payer = row.payer_address!;
  if (row.status === 'failed') {
    const message = row.failure_message ?? 'the payment failed';
    return invalidAnswer({ reason: x402FailureOf(row.failure_code), message }, payer);
  }
  if (row.status === 'redeemed' || row.handed_out) {
    const message = `the payment was settled by ${row.tx_hash}`;
    return invalidAnswer({ reason: 'duplicate_settlement', message }, payer, 'yes');
  }
  return { isValid: true, payer };
};

/** POST /v1/x402/verify: checks and simulates, and writes nothing. */
export const x402Verify =
  (deps: Deps): Handler<typeof settlement.operations.x402Verify> =>
  async (request, caller) => {
    const vendor = await getVendor(deps, caller);
    const read = readX402Request(request, await termsFor(deps, vendor));
    if ('reason' in read) return invalidAnswer(read);
    const order = x402OrderOf(vendor, read);
    const inspected = await inspect(deps, order);
    if (inspected.kind === 'refused')
      return invalidAnswer(toX402(inspected.refusal), undefined, movedBy(inspected.refusal));
    if (inspected.kind === 'known') return ofKnown(inspected.row);
    const { checked } = inspected;
    const conflict = await findConflict(deps, order, checked);
    if (conflict !== null) return invalidAnswer(toX402(conflict.refusal), checked.payer);
    const fee = accruedFeeMicro(order.amountMicro, BigInt(checked.lamports), deps.accruedFee);
    const account = await getFeeAccount(deps.pool, vendor.accountId);
    if (!hasCreditFor(account, fee, deps.credit)) {
      const message = 'the accrued fees of this vendor exceed its credit';
      return invalidAnswer({ reason: 'facilitator_credit_exhausted', message }, checked.payer);
    }
    return { isValid: true, payer: checked.payer };
  };
