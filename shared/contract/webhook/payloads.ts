import { z } from 'zod';
import { extended } from '../extended.ts';
import { Deposit } from '../funding/deposits.ts';
import { Refund } from '../funding/refunds.ts';
import { Withdrawal } from '../funding/withdrawals.ts';
import { COUNTED_CAPS } from '../limits.ts';
import {
  DelegateId,
  EndpointId,
  ExtensionId,
  feeAmount,
  label,
  MicroUsdc,
  MicroUsdcOrZero,
  PaymentLinkId,
  QuoteId,
  quoteAmount,
  ServiceId,
  SettlementId,
  SolanaAddress,
  Timestamp,
  TransactionHash,
  WalletId,
} from '../primitives.ts';
import { Scope } from '../quote/operations.ts';
import { Approval } from '../settlement/approvals.ts';
import { Decline, VENDOR_CODE } from '../settlement/declines.ts';
import { RedeemId } from '../settlement/events.ts';
import { Rail } from '../settlement/rail.ts';
import type { EventType } from './operations.ts';

/**
 * The `data` of every event that accounts receive. services/webhook/events/model.ts derives them,
 * and its test compares both.
 */

const amounts = {
  quote_amount: quoteAmount,
  fee_amount: feeAmount,
  net_amount: MicroUsdcOrZero.meta({ description: 'What the vendor gets of it', examples: ['2487500'] }),
};

const asVendor = z.literal('vendor').describe('The account sells in this payment');
const asPayer = z.literal('payer').describe('The account pays in this payment');

const quoteProgress = z
  .strictObject({
    quote_id: QuoteId,
    service_id: ServiceId,
    settlement_id: SettlementId.meta({ description: 'The settlement that pays the quote' }),
    ...amounts,
  })
  .meta({ id: 'QuoteProgress' });

const payment = {
  settlement_id: SettlementId,
  rail: Rail,
  quote_id: QuoteId.nullable().meta({
    description: 'Null for a payment of another protocol that is of no payment link',
  }),
  service_id: ServiceId.nullable().meta({ description: 'Null for a vendor that does not use Quittance' }),
  ...amounts,
  scope: Scope.nullable().meta({ description: 'The metadata of the quote, as its vendor sent it' }),
};
const soldPayment = z
  .strictObject({
    ...payment,
    role: asVendor,
    payer_address: SolanaAddress.optional().meta({
      description: 'The address that signed a payment of x402 or MPP. Absent for a payer with an account',
    }),
  })
  .meta({ id: 'VendorPaymentChange' });
const ownPayment = z
  .strictObject({
    ...payment,
    role: asPayer,
    wallet_id: WalletId.nullable().describe('The wallet that paid'),
    delegate_id: DelegateId.nullable().meta({ description: 'Null if the owner’s own sign-in has paid' }),
  })
  .meta({ id: 'PayerPaymentChange' });

/**
 * The event of a payment, by the role that the account has in it.
 * @param both further fields of either role
 * @param vendor further fields of the vendor only
 */
const paymentEvent = (both: z.ZodRawShape, vendor: z.ZodRawShape = {}) =>
  z.discriminatedUnion('role', [extended(soldPayment, { ...both, ...vendor }), extended(ownPayment, both)]);

/** What a vendor learns about a refused payment of its quote. */
const { decline_id, quote_id, service_id, service_name, item, amount, created_at } = Decline.shape;
const vendorCode = z.literal(VENDOR_CODE).describe('A vendor does not learn why');
const declined = { decline_id, quote_id, service_id, service_name, item, amount, created_at };
const used = MicroUsdcOrZero.meta({ description: 'What was reported as used', examples: ['480000'] });
const transaction = { tx_hash: TransactionHash.describe('The transaction on chain') };
const delegate = z
  .strictObject({
    delegate_id: DelegateId,
    name: label(80, 'Research agent').describe('A name for the owner'),
    wallet_id: WalletId,
    expires_at: Timestamp.nullable().meta({ description: 'When the key ends. Null: never' }),
  })
  .meta({ id: 'DelegateChange' });
const key = z
  .strictObject({
    service_id: ServiceId.nullable().meta({ description: 'Whose key it is. Null for the key of a delegate' }),
    delegate_id: DelegateId.nullable().meta({
      description: 'Whose key it is. Null for the key of a service',
    }),
    previous_key_expires_at: Timestamp.nullable().meta({
      description: 'Until then the previous key works, too. Null: there is none',
    }),
  })
  .meta({ id: 'KeyChange' });
const deposit = Deposit.omit({ redirect_url: true }).meta({ id: 'DepositChange' });

/** The shape of `data` by the type of the event. */
export const PAYLOADS = {
  'quote.settling': quoteProgress,
  'quote.settled': quoteProgress,
  'quote.expired': z.strictObject({
    quote_id: QuoteId,
    service_id: ServiceId,
    quote_amount: amounts.quote_amount,
    fee_amount: amounts.fee_amount,
    expires_at: Timestamp.describe('Until when it could be paid'),
  }),
  'payment_link.paid': z
    .strictObject({
      payment_link_id: PaymentLinkId,
      title: label(120, 'Ticket for the harbour tour').describe('What was sold'),
      settlement_id: SettlementId.meta({ description: 'The payment, which you can read and refund' }),
      quote_id: QuoteId,
      service_id: ServiceId,
      quote_amount: amounts.quote_amount,
    })
    .meta({ id: 'PaymentLinkPaid' }),
  'settlement.authorized': paymentEvent({
    capture_ends_at: Timestamp.describe('Until when use can be reported and captured'),
  }),
  'settlement.extended': paymentEvent({
    extension_id: ExtensionId.describe('The extension, which its authorization shows'),
    extension_quote_id: QuoteId.describe('The quote that extended it'),
    added: MicroUsdc.meta({
      description: 'By how much. `quote_amount` is the ceiling now',
      examples: ['500000'],
    }),
  }),
  'settlement.at_risk': paymentEvent({
    used,
    at_risk_at: Timestamp.describe('When the wallet was seen not to cover it'),
  }),
  'settlement.captured': paymentEvent({
    ...transaction,
    max_amount: MicroUsdc.meta({ description: 'What was authorized', examples: ['5000000'] }),
  }),
  'settlement.voided': paymentEvent({
    voided_at: Timestamp.describe('When it ended'),
    used: used.describe('What was reported as used and is not paid'),
  }),
  'settlement.issued': paymentEvent({
    ...transaction,
    issued_at: Timestamp.describe('When the payment was confirmed'),
  }),
  'settlement.finalized': paymentEvent(transaction),
  'settlement.redeemed': paymentEvent(
    { redeemed_at: Timestamp.describe('When the vendor redeemed it') },
    { redeem_id: RedeemId.nullable().describe('The id that redeemed it. Null: none was sent') },
  ),
  'settlement.expired': paymentEvent({
    redeem_expires_at: Timestamp.describe('Until when it could be redeemed'),
  }),
  'settlement.failed': paymentEvent({
    failure_code: z.string().meta({
      description: 'Why it failed. No money moved, and the quote may be paid again',
      examples: ['insufficient_funds'],
    }),
    used: used.optional().meta({
      description: 'What was reported of an authorization whose capture failed, which is not paid',
    }),
  }),
  'settlement.reversed': paymentEvent({
    redeemed: z.boolean().meta({ description: 'Whether it was redeemed before the chain reversed it' }),
  }),
  'settlement.declined': z.discriminatedUnion('role', [
    z.strictObject({ ...declined, code: vendorCode, role: asVendor }),
    z.strictObject({ ...Decline.required().shape, role: asPayer }),
  ]),
  'refund.submitted': Refund,
  'refund.confirmed': Refund,
  'refund.finalized': Refund,
  'refund.failed': Refund,
  'refund.cancelled': Refund,
  'refund.expired': Refund,
  'withdrawal.submitted': Withdrawal,
  'withdrawal.confirmed': Withdrawal,
  'withdrawal.finalized': Withdrawal,
  'withdrawal.failed': Withdrawal,
  'withdrawal.cancelled': Withdrawal,
  'withdrawal.expired': Withdrawal,
  'deposit.awaiting_payment': deposit,
  'deposit.processing': deposit,
  'deposit.settling': deposit,
  'deposit.completed': deposit,
  'deposit.failed': deposit,
  'deposit.cancelled': deposit,
  'deposit.expired': deposit,
  'delegate.created': delegate,
  'delegate.updated': delegate,
  'delegate.deleted': delegate,
  'delegate.exhausted': z.strictObject({
    delegate_id: DelegateId,
    name: z.enum(COUNTED_CAPS).meta({ description: 'The limit that is used up. There may be further ones' }),
    limit: MicroUsdcOrZero.describe('The limit itself'),
    used: MicroUsdcOrZero.meta({ description: 'Spent, or held by payments that are under way' }),
    left: MicroUsdcOrZero.describe('What may still be paid'),
    resets_at: Timestamp.nullable().describe('When the limit starts again. Null: never'),
  }),
  'approval.requested': Approval,
  'approval.decided': Approval,
  'key.rotated': key,
  'key.revealed': key,
  'key.ended': key,
  'webhook.test': z.strictObject({ endpoint_id: EndpointId }),
} satisfies Record<EventType, z.ZodType>;
