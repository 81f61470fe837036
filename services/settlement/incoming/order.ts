import type { IncomingRail } from '../../../shared/contract/settlement.ts';
import type { QuoteClaims } from '../../../shared/contract/tokens.ts';
import { formatMicro } from '../../../shared/lib/micro.ts';
import type { IncomingRow } from '../settlements/store/incoming-payments.ts';
import type { Refusal } from './model/refusal.ts';
import type { Vendor } from './vendor.ts';

/** A payment link whose code a phone has scanned, and the handle by which its page follows it. */
type Phone = { paymentLinkId: string; handle: string };

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
  /** The quote of a payment link, which the settlement claims. Null: an offer of the vendor. */
  quote: { id: string; scope: QuoteClaims['scope'] } | null;
  /** The buyer signs after our fee payer. Unset: the transaction is signed. */
  phone?: Phone;
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
  phone?: Phone | undefined;
};

const toPayment = (transaction: string, { payee, ...of }: Transfers, feeWallet: string) => ({
  transaction,
  legs: [
    { owner: payee, amount: formatMicro(of.amountMicro - of.feeMicro) },
    ...(of.feeMicro > 0n ? [{ owner: feeWallet, amount: formatMicro(of.feeMicro) }] : []),
  ],
  memos: of.memo === null ? null : [of.memo],
  ...(of.phone !== undefined && { signs_last: true as const }),
});

/** The transaction of a new payment with its transfers, as chain-submitter checks them. */
export const paymentOf = ({ vendor, transaction, ...order }: IncomingOrder, feeWallet: string) =>
  toPayment(transaction, { ...order, payee: vendor.payoutAddress }, feeWallet);

/** The same for a recorded payment, with the transfers that it was accepted with. */
export const recordedPaymentOf = (row: IncomingRow, transaction: string, feeWallet: string, phone?: Phone) =>
  toPayment(
    transaction,
    {
      payee: row.payout_address!,
      amountMicro: row.quote_amount,
      feeMicro: row.fee_amount,
      memo: row.memo,
      phone,
    },
    feeWallet,
  );
