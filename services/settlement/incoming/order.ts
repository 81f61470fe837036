import type { IncomingRail } from '../../../shared/contract/settlement.ts';
import type { QuoteClaims } from '../../../shared/contract/tokens.ts';
import { formatMicro } from '../../../shared/lib/money/micro.ts';
import type { IncomingRow } from '../record/store/incoming/incoming-payments.ts';
import type { Refusal } from './model/refusal.ts';
import type { Vendor } from './vendor.ts';

/** A payment link, and the page that is told of the payment. */
type Link = {
  paymentLinkId: string;
  pageHandle: string;
  /** Claimed by the settlement. */
  quoteId: string;
  scope: QuoteClaims['scope'];
};

/** A new payment that a client of another protocol has signed, and what it must do. */
export type IncomingOrder = {
  rail: IncomingRail;
  vendor: Vendor;
  amountMicro: bigint;
  /** The part that the transaction transfers to the fee wallet. Zero: the fee accrues. */
  feeMicro: bigint;
  /** The exact memo. Null: the offer names none. */
  memo: string | null;
  transaction: string;
  externalId: string | null;
  resource: string | null;
  /** Null: an offer of the vendor. */
  link: Link | null;
  /** The buyer signs after our fee payer, and who asked for that. Unset: it is signed. */
  signsLast?: { askedFrom: string | null };
};

/**
 * A request about a signed transaction. Its record decides first, so what depends on the
 * configuration of today is computed for a new payment only.
 * @typeParam R a refusal in the words of the rail
 */
export type Presented<R> = {
  vendor: Vendor;
  /** base64 */
  transaction: string;
  /** The order of a payment without a record, by the terms of today. */
  orderNow: () => Promise<IncomingOrder | { refused: R }>;
  /** Why a recorded payment is not what the request asks for, or null. */
  mismatch: (row: IncomingRow) => R | null;
  refuse: (refusal: Refusal) => R;
};

type Transfers = {
  payee: string;
  amountMicro: bigint;
  feeMicro: bigint;
  memo: string | null;
};

const toPayment = (transaction: string, { payee, ...of }: Transfers, feeWallet: string) => ({
  transaction,
  legs: [
    { owner: payee, amount: formatMicro(of.amountMicro - of.feeMicro) },
    ...(of.feeMicro > 0n ? [{ owner: feeWallet, amount: formatMicro(of.feeMicro) }] : []),
  ],
  memos: of.memo === null ? null : [of.memo],
});

/** The transaction of a new payment with its transfers, as chain-submitter checks them. */
export const paymentOf = (
  { vendor, transaction, signsLast, ...order }: IncomingOrder,
  feeWallet: string,
) => ({
  ...toPayment(transaction, { ...order, payee: vendor.payoutAddress }, feeWallet),
  ...(signsLast !== undefined && { signs_last: true as const }),
});

/** The same for a recorded payment, with the transfers that it was accepted with. */
export const recordedPaymentOf = (row: IncomingRow, transaction: string, feeWallet: string) =>
  toPayment(
    transaction,
    {
      payee: row.payout_address!,
      amountMicro: row.quote_amount,
      feeMicro: row.fee_amount,
      memo: row.memo,
    },
    feeWallet,
  );
