import { z } from 'zod';
import {
  CompactToken,
  confirmedAtOrNull,
  createdAt,
  DelegateId,
  failureOrNull,
  feeAmount,
  label,
  MicroUsdcOrZero,
  netAmount,
  PaymentAttemptId,
  page,
  pageQuery,
  QuoteId,
  quoteAmount,
  ServiceId,
  SettlementId,
  SolanaAddress,
  Timestamp,
  TransactionHash,
  txHashOrNull,
  WalletId,
} from '../primitives.ts';
import { Scope } from '../quote.ts';
import { operation } from '../service.ts';
import { accountLimitOperations } from './account-limits.ts';
import { approvalOperations } from './approvals.ts';
import { Authorization, Authorized, authorizationOperations, Extension } from './authorization.ts';
import { declineOperations } from './declines.ts';
import { RedeemId } from './events.ts';
import { feeOperations } from './fees.ts';
import { incomingOperations } from './incoming.ts';
import { outgoingOperations } from './outgoing.ts';
import { Payees } from './payees.ts';
import { paymentLinkOperations } from './payment-links.ts';
import { Rail } from './rail.ts';
import { receiptOperations } from './receipts.ts';
import { ChainStatus, SettlementStatus } from './status.ts';
import { x402Operations } from './x402.ts';

const RequestId = label(128).meta({
  id: 'RequestId',
  description: 'Chosen by the vendor for each delivery, unique within the settlement',
});
const settlementToken = CompactToken.describe('Proof of the payment. The payer gives it to the vendor');
const superseded = z
  .array(TransactionHash)
  .describe('Earlier transactions of this payment, which a fork replaced');
const Confirmed = z
  .strictObject({
    settlement_id: SettlementId,
    settlement_token: settlementToken,
    status: z.literal('confirmed').describe('The payment is on chain'),
    tx_hash: TransactionHash.describe('The transaction on chain'),
    redeem_expires_at: Timestamp.describe('Until when the vendor can redeem it'),
    superseded_tx_hashes: superseded.optional(),
  })
  .meta({ id: 'ConfirmedSettlement' });
const Pending = z
  .strictObject({
    settlement_id: SettlementId,
    status: z.literal('pending').describe('The payment is under way. Repeat the call with the same id'),
    tx_hash: txHashOrNull,
  })
  .meta({ id: 'PendingSettlement' });
const presented = CompactToken.describe('The settlement token, as the payer gave it');
const Units = z.int().min(1).max(1_000_000_000).describe('How many units to consume');
const UnitsOrZero = z.int().min(0).max(1_000_000_000);
/** Fields of a prepaid settlement: its quote has integer `units` in its scope. */
const prepaid = {
  units_total: Units.optional().describe('Units that were paid. Only of a prepaid settlement'),
  units_remaining: UnitsOrZero.optional().describe('Units that are left. Only of a prepaid settlement'),
};
const authorization = {
  authorization: Authorization.optional().describe('Only of a quote with `capture`'),
};
const extensions = {
  extensions: z
    .array(Extension)
    .optional()
    .describe('What has added to the ceiling, first to last. Only of a quote with `capture`'),
};
const amounts = { quote_amount: quoteAmount, fee_amount: feeAmount, net_amount: netAmount };
const redemption = {
  redeem_expires_at: Timestamp.nullable().describe('Until when the vendor can redeem it. Null: not paid yet'),
  redeemed_at: Timestamp.nullable().describe('When the vendor redeemed it. Null: not redeemed'),
};
export const Settlement = z
  .strictObject({
    settlement_id: SettlementId,
    status: SettlementStatus,
    chain_status: ChainStatus,
    rail: Rail,
    quote_id: QuoteId.nullable().meta({
      description: 'Null for a payment of another protocol that is of no payment link',
    }),
    service_id: ServiceId.nullable().meta({ description: 'Null for an outgoing payment of x402' }),
    service_name: z.string().meta({
      description:
        'The name when the payment was priced. Of an outgoing payment of x402: the host that was paid',
      examples: ['Weather API'],
    }),
    ...amounts,
    scope: Scope.nullable(),
    ...prepaid,
    ...authorization,
    ...extensions,
    tx_hash: txHashOrNull,
    superseded_tx_hashes: superseded,
    created_at: createdAt,
    confirmed_at: confirmedAtOrNull,
    ...redemption,
    failure: failureOrNull,
    payer_address: SolanaAddress.optional().meta({
      description:
        'Owner of the wallet that pays, once the payment is confirmed. Of a client of another protocol: the address that signed, at once',
    }),
    resource: z
      .string()
      .optional()
      .meta({
        description: 'What the client said it pays for. Only of a payment of another protocol',
        examples: ['https://api.example.com/report'],
      }),
    accrued_fee: MicroUsdcOrZero.optional().meta({
      description: 'Fee that the vendor owes for an x402 payment. 0: it failed. Shown only to the vendor',
    }),
    redeem_id: RedeemId.nullable()
      .optional()
      .describe(
        'Which delivery redeemed it; of x402 the hand-out of its success. Null: none. Shown only to the vendor of a payment of another protocol',
      ),
    payees: Payees.optional().describe('Everybody who is paid. Only of an outgoing payment'),
    payment_attempt_id: PaymentAttemptId.optional().describe(
      'The id that the payer chose. Shown only to the payer',
    ),
    wallet_id: WalletId.optional().describe('The wallet that pays. Shown only to the payer'),
    delegate_id: DelegateId.nullable().optional().meta({
      description: 'The delegate whose key paid; null: the account itself. Shown only to the payer',
    }),
    settlement_token: CompactToken.optional().meta({
      description: 'Proof of the payment, for the vendor. Shown only to the payer, after it is issued',
    }),
    quote_token: CompactToken.optional().meta({
      description: 'The quote that was paid. Shown only to the payer, and not in lists',
    }),
  })
  .meta({ id: 'Settlement' });

/** The public operations of settlement. */
export const operations = {
  settle: operation({
    summary: 'Settle a quote',
    description:
      'Pays the quote on chain and returns the settlement token. A repeat with the same payment_attempt_id ' +
      'returns the same settlement and never charges twice. After a time-out, repeat with the same id. If the ' +
      'account has paid the quote, or is paying it, by another attempt, the call is refused with `settlement_id` ' +
      'and the action `read_settlement`. This holds for all credentials of the account. Of a quote with `capture` the ' +
      'ceiling is held, and the call answers `authorized` at once; what is used is paid later. Of a quote with `extends` ' +
      'that authorization is extended, and the answer is about it.',
    journey: 'pay',
    http: {
      method: 'POST',
      path: '/v1/settle',
      status: 200,
      alternative: { status: 202, field: 'status', equals: 'pending', retryAfterSeconds: 5 },
    },
    access: ['jwt', 'delegate_key'],
    authorisedBy: { jwt: 'account_limits', delegate_key: 'delegate_limits' },
    fromDevice: 'served',
    whenFrozen: { handler: 'a repeat of a known attempt is answered, a new attempt is refused' },
    limits: [{ points: 20, windowSeconds: 60, per: 'account' }],
    body: z
      .strictObject({
        quote_token: CompactToken.describe('The signed quote, as the vendor gave it'),
        payment_attempt_id: PaymentAttemptId,
      })
      .meta({ id: 'SettleRequest' }),
    repeatable: true,
    output: z.discriminatedUnion('status', [Confirmed, Authorized, Pending]),
    errors: [
      'quote_expired',
      'quote_already_settled',
      'conflict',
      'insufficient_funds',
      'delegation_inactive',
      'limit_exceeded',
      'approval_required',
      'approval_denied',
      'approval_expired',
      'payment_failed',
    ],
    money: 'moves',
    namedBy: ['quote_token', 'payment_attempt_id'],
    timeoutSeconds: 20,
  }),
  redeem: operation({
    summary: 'Redeem a settlement',
    description:
      'Authorizes the delivery. It succeeds once. Deliver only if `replayed` is false or the `redeem_id` is yours.',
    journey: 'deliver',
    http: { method: 'POST', path: '/v1/settlements/:settlement_id/redeem', status: 200 },
    access: ['service_key'],
    authorisedBy: 'nothing',
    whenFrozen: 'served',
    limits: [{ points: 30, windowSeconds: 60, per: 'account' }],
    params: z.strictObject({ settlement_id: SettlementId }),
    body: z
      .strictObject({ settlement_token: presented, redeem_id: RedeemId.optional() })
      .meta({ id: 'RedeemRequest' }),
    // Without it, a repeat after a lost answer looks like a repeat of another replica, and no
    // replica delivers.
    repeatable: { with: 'redeem_id' },
    output: z
      .strictObject({
        settlement_id: SettlementId,
        status: z.literal('redeemed').describe('Also of a repeat, so read `replayed`'),
        redeemed_at: Timestamp.describe('When it was redeemed first'),
        redeem_id: RedeemId.nullable().describe('The id that redeemed it first. Null: none was sent'),
        replayed: z
          .boolean()
          .describe('Whether an earlier call has redeemed it. If it has, do not deliver again'),
      })
      .meta({ id: 'Redemption' }),
    errors: ['not_found', 'conflict', 'settlement_expired'],
  }),
  consume: operation({
    summary: 'Consume units of a prepaid settlement',
    description:
      'For quotes whose scope has integer `units` (1 to 1e9), so that one payment covers many small calls. The ' +
      'first consume redeems the settlement. Units can be consumed for 30 days after it. A repeat with the same ' +
      'request_id consumes nothing more and returns the same answer.',
    journey: 'deliver',
    http: { method: 'POST', path: '/v1/settlements/:settlement_id/consume', status: 200 },
    access: ['service_key'],
    authorisedBy: 'nothing',
    whenFrozen: 'served',
    limits: [{ points: 120, windowSeconds: 60, per: 'account' }],
    params: z.strictObject({ settlement_id: SettlementId }),
    body: z
      .strictObject({ settlement_token: presented, units: Units, request_id: RequestId })
      .meta({ id: 'ConsumeRequest' }),
    output: z
      .strictObject({
        settlement_id: SettlementId,
        units_consumed: Units.meta({
          description: 'Units of the settlement consumed by this request and all earlier ones',
        }),
        units_remaining: UnitsOrZero.meta({
          description: 'Units of the settlement that remain after this request',
        }),
      })
      .meta({ id: 'Consumption' }),
    errors: ['not_found', 'conflict', 'settlement_exhausted', 'settlement_expired'],
  }),
  verify: operation({
    summary: 'Verify a settlement without consuming it',
    journey: 'deliver',
    http: { method: 'POST', path: '/v1/settlements/:settlement_id/verify', status: 200 },
    access: ['service_key'],
    authorisedBy: 'nothing',
    whenFrozen: 'served',
    // The limit of a read, because it changes nothing in spite of its method.
    limits: [{ points: 120, windowSeconds: 60, per: 'account' }],
    params: z.strictObject({ settlement_id: SettlementId }),
    repeatable: true,
    bodyOptional: true,
    output: z
      .strictObject({
        settlement_id: SettlementId,
        status: SettlementStatus,
        chain_status: ChainStatus,
        tx_hash: txHashOrNull,
        ...amounts,
        service_id: ServiceId,
        scope: Scope.nullable(),
        ...prepaid,
        ...authorization,
        ...redemption,
      })
      .meta({ id: 'SettlementVerification' }),
    errors: ['not_found'],
  }),
  list: operation({
    summary: 'List settlements',
    description:
      'A service key lists the settlements of its service. An access token lists the account’s payments, or with `role=vendor` the settlements of all its services. A delegate key lists its own payments.',
    journey: 'read',
    http: { method: 'GET', path: '/v1/settlements', status: 200 },
    access: ['service_key', 'jwt', 'delegate_key'],
    query: z.strictObject({
      ...pageQuery,
      status: SettlementStatus.optional().describe('Only settlements of this status'),
      rail: Rail.optional().describe('Only settlements that were paid in this way'),
      service_id: ServiceId.optional().describe('Only payments of this service'),
      payment_attempt_id: PaymentAttemptId.optional().describe(
        'Only the payment of this attempt. For the payer',
      ),
      role: z
        .enum(['payer', 'vendor'])
        .optional()
        .describe('Which side of the payments to list. For an access token. Default payer'),
    }),
    output: page(Settlement),
    errors: [],
  }),
  get: operation({
    summary: 'Get a settlement',
    journey: 'read',
    http: { method: 'GET', path: '/v1/settlements/:settlement_id', status: 200 },
    access: ['service_key', 'jwt', 'delegate_key'],
    params: z.strictObject({ settlement_id: SettlementId }),
    output: Settlement,
    errors: ['not_found'],
  }),
  ...authorizationOperations,
  ...approvalOperations,
  ...declineOperations,
  ...outgoingOperations,
  ...feeOperations,
  ...accountLimitOperations,
  ...incomingOperations,
  ...paymentLinkOperations,
  ...receiptOperations,
  ...x402Operations,
};
