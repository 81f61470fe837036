import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import { messageHashOf } from '../../../shared/lib/chain/wire-transaction.ts';
import { newId } from '../../../shared/lib/id.ts';
import { asOpen } from '../core/as-open.ts';
import type { Peers } from '../peers.ts';
import { type ApplyProgress, refusedProgress } from '../record/model/progress.ts';
import { type AcceptDeps, acceptNew, check, isRefusal } from './accept-new.ts';
import { EXPIRED, isPayable, type LinkQuoteDeps, orderOfLink, readLinkQuote } from './link-quote.ts';
import { payerErrorOf } from './model/accept-error.ts';
import type { Refusal } from './model/refusal.ts';
import { type IncomingOrder, recordedPaymentOf } from './order.ts';

export type PayLinkByPhoneDeps = AcceptDeps &
  LinkQuoteDeps &
  Pick<Peers, 'buildIncoming' | 'submitIncoming'> & { applyProgress: ApplyProgress };

const refuse = (refusal: Refusal): never => {
  throw payerErrorOf(refusal);
};

/**
 * Commits the payment, and only then has its transaction signed. A refusal deletes it, because its
 * buyer has nothing that could be sent.
 */
const signRecorded = async (deps: PayLinkByPhoneDeps, order: IncomingOrder): Promise<string> => {
  const { transaction } = order;
  const checked = await check(deps, order);
  if (isRefusal(checked)) return refuse(checked);
  const settlementId = newId('stl');
  const accepted = await acceptNew(deps, order, {
    settlementId,
    hash: messageHashOf(transaction)!,
    checked,
  });
  if (isRefusal(accepted)) return refuse(accepted);
  const { row } = accepted;
  const submitted = await asOpen(
    deps.submitIncoming({
      ...recordedPaymentOf(row, transaction, deps.feeWallet),
      signs_last: true,
      settlement_id: row.settlement_id,
      account_id: row.vendor_account_id!,
    }),
  );
  if (submitted.outcome === 'submitted') return submitted.transaction!;
  await deps.applyProgress(refusedProgress(row.settlement_id, submitted));
  return refuse(submitted);
};

/**
 * int.settlement.payLinkByPhone: the payment of a quote that nobody else has. The wallet signs the
 * transaction after our fee payer, and sends it itself.
 */
export const payLinkByPhone =
  (deps: PayLinkByPhoneDeps): Handler<typeof settlement.internal.payLinkByPhone> =>
  async ({ quote_token, handle, account, asked_from }) => {
    const quote = readLinkQuote(deps, quote_token);
    if (!isPayable(quote, deps.clock())) return refuse(EXPIRED);
    const { payout_address: payee, quote_amount: amount } = quote.claims;
    const { memo } = quote;
    const { transaction } = await deps.buildIncoming({ payer: account, payee, amount, memo });
    const order = orderOfLink(quote, { transaction, pageHandle: handle });
    return { transaction: await signRecorded(deps, { ...order, signsLast: { askedFrom: asked_from } }) };
  };
