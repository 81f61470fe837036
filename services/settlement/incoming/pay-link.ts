import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import { pageHandleOf } from '../../../shared/lib/page-handle.ts';
import { failedError, moneyMovedBy } from '../record/model/refusal.ts';
import { QUOTE_SETTLED } from './accept-new.ts';
import { type FindReceiptDeps, findReceipt } from './find-receipt.ts';
import {
  EXPIRED,
  isPayable,
  type LinkQuote,
  type LinkQuoteDeps,
  orderOfLink,
  readLinkQuote,
} from './link-quote.ts';
import { acceptErrorOf } from './model/accept-error.ts';
import { mismatchOf, type Refusal } from './model/refusal.ts';
import type { Presented } from './order.ts';
import { type PayDeps, pay } from './pay.ts';

export type PayLinkDeps = PayDeps & FindReceiptDeps & LinkQuoteDeps;

/** The page repeats the call after 202. */
const WAIT_MS = 8000;

const presented = (
  { clock }: Pick<PayLinkDeps, 'clock'>,
  quote: LinkQuote,
  paid: { transaction: string; pageHandle: string },
): Presented<Refusal> => {
  const { claims, memo } = quote;
  const order = orderOfLink(quote, paid);
  const { vendor, amountMicro } = order;
  return {
    vendor,
    transaction: paid.transaction,
    refuse: (refusal) => refusal,
    orderNow: async () => (isPayable(quote, clock()) ? order : { refused: EXPIRED }),
    mismatch: (row) => mismatchOf(row, { rail: 'x402', amountMicro, memo, quoteId: claims.quote_id }),
  };
};

/**
 * POST /v1/payment-links/payments: the platform stands for the vendor, which has no server. The
 * insert of the settlement claims the quote, and only then is the transaction signed.
 */
export const payLink =
  (deps: PayLinkDeps): Handler<typeof settlement.operations.payLink> =>
  async ({ quote_token, secret, transaction }) => {
    const until = performance.now() + WAIT_MS;
    const quote = readLinkQuote(deps, quote_token);
    const pageHandle = pageHandleOf(secret, quote.paymentLinkId);
    const outcome = await pay(deps, presented(deps, quote, { transaction, pageHandle }), until);
    if (outcome.kind === 'refused') throw acceptErrorOf(outcome.refusal, outcome.moved);
    const { row } = outcome;
    if (row.status === 'failed') throw failedError(row);
    // Everybody can read the transaction on the chain. What was paid is its buyer's to know.
    if (row.page_handle !== pageHandle) throw acceptErrorOf(QUOTE_SETTLED, moneyMovedBy(row));
    const { settlement_id } = row;
    if (outcome.kind === 'pending') return { settlement_id, status: 'pending', tx_hash: outcome.txHash };
    // A fork has removed it, and it is confirmed again soon.
    if (row.chain_status === 'pending') return { settlement_id, status: 'pending', tx_hash: row.tx_hash };
    return {
      settlement_id,
      status: 'confirmed',
      tx_hash: row.tx_hash!,
      receipt_url: await findReceipt(deps, settlement_id),
    };
  };
