import { z } from 'zod';
import { AllowedServices, DelegateLimits, DelegateUsage } from './identity.delegates.ts';
import { getCapsOperation, operatorFields, operatorOperations } from './operator.ts';
import {
  AccountId,
  CompactToken,
  DelegateId,
  label,
  MicroUsdc,
  MicroUsdcOrZero,
  PaymentAttemptId,
  page,
  pageQuery,
  QuoteId,
  RefundId,
  ServiceId,
  SettlementId,
  SolanaAddress,
  Timestamp,
  TransactionHash,
  WalletId,
} from './primitives.ts';
import { Activity, Scope } from './quote.ts';
import { internalOperation, operation, service } from './service.ts';
import { payment, RedeemId, settlementEvents } from './settlement.events.ts';

export const SettlementStatus = z
  .enum(['pending', 'issued', 'redeemed', 'expired', 'failed'])
  .meta({ id: 'SettlementStatus' });
export const ChainStatus = z
  .enum(['pending', 'confirmed', 'finalized', 'failed'])
  .meta({ id: 'ChainStatus' });

/** Of one call of listByQuotes. */
export const MAX_QUOTES_LISTED = 200;
/** Of one call of listPaid or listPaidByIds. */
export const MAX_PAID_LISTED = 500;

const RequestId = label(128).meta({
  id: 'RequestId',
  description: 'Chosen by the vendor for each delivery, unique within the settlement',
});

const Confirmed = z.strictObject({
  settlement_id: SettlementId,
  settlement_token: CompactToken,
  status: z.literal('confirmed'),
  tx_hash: TransactionHash,
  redeem_expires_at: Timestamp,
  superseded_tx_hashes: z.array(TransactionHash).optional(),
});
const Pending = z.strictObject({
  settlement_id: SettlementId,
  status: z.literal('pending'),
  tx_hash: TransactionHash.nullable(),
});

const Units = z.int().min(1).max(1_000_000_000);
const UnitsOrZero = z.int().min(0).max(1_000_000_000);
/** Of a prepaid settlement, one whose quote has integer `units` in its scope. */
const prepaid = {
  units_total: Units.optional().meta({ description: 'Of a prepaid settlement alone' }),
  units_remaining: UnitsOrZero.optional().meta({ description: 'Of a prepaid settlement alone' }),
};

const amounts = { quote_amount: MicroUsdc, fee_amount: MicroUsdcOrZero, net_amount: MicroUsdc };

export const Settlement = z
  .strictObject({
    settlement_id: SettlementId,
    status: SettlementStatus,
    chain_status: ChainStatus,
    quote_id: QuoteId,
    service_id: ServiceId,
    service_name: z.string().meta({ description: 'As it was called in the quote' }),
    ...amounts,
    scope: Scope.nullable(),
    ...prepaid,
    tx_hash: TransactionHash.nullable(),
    superseded_tx_hashes: z.array(TransactionHash),
    created_at: Timestamp,
    redeem_expires_at: Timestamp.nullable(),
    redeemed_at: Timestamp.nullable(),
    failure: z.strictObject({ code: z.string(), message: z.string() }).nullable(),
    payment_attempt_id: PaymentAttemptId.optional().meta({ description: 'Shown to the payer alone' }),
    wallet_id: WalletId.optional().meta({ description: 'Shown to the payer alone' }),
    delegate_id: DelegateId.nullable().optional().meta({
      description: 'Whose key paid; null: the account itself. Shown to the payer alone',
    }),
    settlement_token: CompactToken.optional().meta({ description: 'Shown to the payer alone, once issued' }),
    quote_token: CompactToken.optional().meta({
      description: 'The quote that was paid. Shown to the payer alone, and not in lists',
    }),
  })
  .meta({ id: 'Settlement' });

/**
 * What a delegate may spend and has: settlement owns caps and counters (docs/design/settle.md,
 * rule 4).
 */
const delegate = {
  delegate_id: DelegateId,
  limits: DelegateLimits,
  allowed_service_ids: AllowedServices.nullable(),
};
export const DelegateSpending = z.strictObject({
  ...delegate,
  usage: DelegateUsage,
  /** Rises with every change of the caps. */
  version: z.int().min(1),
});

/** A settlement that was issued, and what the chain says of its payment now. */
const Paid = z.strictObject({
  settlement_id: SettlementId,
  status: z.enum(['confirmed', 'finalized', 'reversed']),
  tx_hash: TransactionHash,
  ...payment,
});

/**
 * Since when no new payment is taken, null while they are, and how many accepted ones are under
 * way.
 */
const Intake = z.strictObject({ paused_at: Timestamp.nullable(), under_way: z.int().min(0) });

export const settlement = service({
  name: 'settlement',
  operations: {
    settle: operation({
      summary: 'Settle a quote',
      description:
        'Pays the quote on chain and returns the settlement token. A repeat with the same payment_attempt_id ' +
        'returns the same settlement and never charges twice; after a time-out repeat with the same id. A quote that ' +
        'the account has paid, or is paying, by another attempt is refused with `settlement_id` and the action ' +
        '`read_settlement`, whichever of its credentials asks.',
      http: {
        method: 'POST',
        path: '/v1/settle',
        status: 200,
        alternative: { status: 202, field: 'status', equals: 'pending', retryAfterSeconds: 5 },
      },
      access: ['jwt', 'delegate_key'],
      whenFrozen: { handler: 'an attempt that is known is answered, a new one is refused' },
      limits: [{ points: 20, windowSeconds: 60, per: 'account' }],
      body: z.strictObject({ quote_token: CompactToken, payment_attempt_id: PaymentAttemptId }),
      repeatable: true,
      output: z.discriminatedUnion('status', [Confirmed, Pending]),
      errors: [
        'quote_expired',
        'quote_already_settled',
        'conflict',
        'insufficient_funds',
        'delegation_inactive',
        'limit_exceeded',
        'payment_failed',
      ],
      money: 'moves',
      timeoutSeconds: 20,
    }),
    redeem: operation({
      summary: 'Redeem a settlement',
      description:
        'The authorization gate: succeeds once. Deliver only when `replayed` is false or the `redeem_id` is yours.',
      http: { method: 'POST', path: '/v1/settlements/:settlement_id/redeem', status: 200 },
      access: ['service_key'],
      whenFrozen: 'served',
      limits: [{ points: 30, windowSeconds: 60, per: 'account' }],
      params: z.strictObject({ settlement_id: SettlementId }),
      body: z.strictObject({ settlement_token: CompactToken, redeem_id: RedeemId.optional() }),
      // Without it the repeat of a redeem whose answer was lost looks like somebody else's, and
      // nobody delivers.
      repeatable: { with: 'redeem_id' },
      output: z.strictObject({
        settlement_id: SettlementId,
        status: z.literal('redeemed'),
        redeemed_at: Timestamp,
        redeem_id: RedeemId.nullable(),
        replayed: z.boolean(),
      }),
      errors: ['not_found', 'conflict', 'settlement_expired'],
    }),
    consume: operation({
      summary: 'Draw units from a prepaid settlement',
      description:
        'For quotes whose scope has integer `units` (1 to 1e9): many small calls ride on one payment. The first ' +
        'consume redeems; units can be drawn for 30 days after. A repeat with the same request_id takes nothing more ' +
        'and gives the same answer.',
      http: { method: 'POST', path: '/v1/settlements/:settlement_id/consume', status: 200 },
      access: ['service_key'],
      whenFrozen: 'served',
      limits: [{ points: 120, windowSeconds: 60, per: 'account' }],
      params: z.strictObject({ settlement_id: SettlementId }),
      body: z.strictObject({ settlement_token: CompactToken, units: Units, request_id: RequestId }),
      output: z.strictObject({
        settlement_id: SettlementId,
        units_consumed: Units.meta({ description: 'Of the settlement, by this request and all before it' }),
        units_remaining: UnitsOrZero.meta({ description: 'Of the settlement, after this request' }),
      }),
      errors: ['not_found', 'conflict', 'settlement_exhausted', 'settlement_expired'],
    }),
    verify: operation({
      summary: 'Verify a settlement without consuming it',
      http: { method: 'POST', path: '/v1/settlements/:settlement_id/verify', status: 200 },
      access: ['service_key'],
      whenFrozen: 'served',
      // A read in spite of its method: it never changes anything.
      limits: [{ points: 120, windowSeconds: 60, per: 'account' }],
      params: z.strictObject({ settlement_id: SettlementId }),
      repeatable: true,
      bodyOptional: true,
      output: z.strictObject({
        settlement_id: SettlementId,
        status: SettlementStatus,
        chain_status: ChainStatus,
        tx_hash: TransactionHash.nullable(),
        ...amounts,
        service_id: ServiceId,
        scope: Scope.nullable(),
        ...prepaid,
        redeem_expires_at: Timestamp.nullable(),
        redeemed_at: Timestamp.nullable(),
      }),
      errors: ['not_found'],
    }),
    list: operation({
      summary: 'List settlements',
      description:
        'A service key sees those of its service, a JWT its own payments (`role=vendor`: those of all its services), a delegate key its own payments.',
      http: { method: 'GET', path: '/v1/settlements', status: 200 },
      access: ['service_key', 'jwt', 'delegate_key'],
      query: z.strictObject({
        ...pageQuery,
        status: SettlementStatus.optional(),
        service_id: ServiceId.optional(),
        payment_attempt_id: PaymentAttemptId.optional(),
        role: z.enum(['payer', 'vendor']).optional().meta({ description: 'For a JWT; default payer' }),
      }),
      output: page(Settlement),
      errors: [],
    }),
    get: operation({
      summary: 'Get a settlement',
      http: { method: 'GET', path: '/v1/settlements/:settlement_id', status: 200 },
      access: ['service_key', 'jwt', 'delegate_key'],
      params: z.strictObject({ settlement_id: SettlementId }),
      output: Settlement,
      errors: ['not_found'],
    }),
  },
  internal: {
    listByQuotes: internalOperation({
      summary:
        'What became of quotes, for a quote service that missed the facts: of each, the settlement that did not fail; where there is none, the named one. Quotes that settlement knows nothing of are left out.',
      callers: ['quote'],
      input: z.strictObject({
        quotes: z
          .array(z.strictObject({ quote_id: QuoteId, settlement_id: SettlementId.nullable() }))
          .max(MAX_QUOTES_LISTED),
      }),
      output: z.array(
        z.strictObject({
          quote_id: QuoteId,
          settlement_id: SettlementId,
          /** The last event that was published for it. */
          last_event: z.enum(['accepted', 'issued', 'failed']),
        }),
      ),
    }),
    upsertDelegate: internalOperation({
      summary:
        'Sets the caps of a delegate that has the expected version, 0 for a new one. Null: somebody was faster.',
      callers: ['identity'],
      input: z.strictObject({ ...delegate, account_id: AccountId, expected_version: z.int().min(0) }),
      output: DelegateSpending.nullable(),
    }),
    listDelegateSpending: internalOperation({
      summary: 'Caps and counters of an account’s delegates, those that are known',
      callers: ['identity'],
      input: z.strictObject({ account_id: AccountId, delegate_ids: z.array(DelegateId).max(100) }),
      output: z.array(DelegateSpending),
    }),
    sumSpentSince: internalOperation({
      summary:
        'What wallets have paid, or are paying, since a moment each: tells an allowance that was used up from one that was taken back',
      callers: ['wallet'],
      input: z.strictObject({
        wallets: z
          .array(z.strictObject({ account_id: AccountId, wallet_id: WalletId, since: Timestamp }))
          .max(100),
      }),
      output: z.array(z.strictObject({ wallet_id: WalletId, spent: MicroUsdcOrZero })),
    }),
    getSettlementActivity: internalOperation({
      summary:
        'Whether settlements of a service are under way, can be redeemed or have prepaid units left, and when the last window ends',
      callers: ['identity'],
      input: z.strictObject({ service_id: ServiceId }),
      output: Activity,
    }),
    reserveRefund: internalOperation({
      summary:
        'Sets a part of the net aside for a refund, the rest of it when no amount is named. Idempotent by refund_id.',
      callers: ['funding'],
      input: z.strictObject({
        refund_id: RefundId,
        settlement_id: SettlementId,
        /**
         * Whose settlement it must be: this vendor account's and, for a service key, this
         * service's.
         */
        account_id: AccountId,
        service_id: ServiceId.nullable(),
        amount: MicroUsdc.nullable(),
      }),
      output: z.strictObject({
        amount: MicroUsdc,
        service_id: ServiceId,
        /** Who had paid for the payer, if a delegate. */
        delegate_id: DelegateId.nullable(),
        /** Frozen in the quote: who was paid, so who pays back. */
        payout_address: SolanaAddress,
        payer: z.strictObject({ account_id: AccountId, owner: SolanaAddress }),
        /** Whether the payment stands on the chain at this moment. */
        paid: z.boolean(),
      }),
    }),
    releaseRefund: internalOperation({
      summary:
        'Gives a reservation back, also one that was not made yet: it can never be made then. Idempotent.',
      callers: ['funding'],
      input: z.strictObject({ refund_id: RefundId }),
      output: z.strictObject({}),
    }),
    listPaid: internalOperation({
      summary:
        'Every settlement that was ever issued, as it stands now, in the order of settlement_id: for a projection that is built anew',
      callers: ['wallet'],
      input: z.strictObject({
        after: SettlementId.nullable(),
        limit: z.int().min(1).max(MAX_PAID_LISTED),
      }),
      output: z.array(Paid),
    }),
    getCaps: getCapsOperation,
    getIntake: internalOperation({
      summary: 'Whether payments are paused',
      callers: ['operator'],
      input: z.strictObject({}),
      output: Intake,
    }),
    setPaymentsPaused: internalOperation({
      summary: 'Pauses or resumes payments; those accepted go on. What is so already is left alone.',
      callers: ['operator'],
      input: z.strictObject({ paused: z.boolean(), ...operatorFields }),
      output: z.strictObject({ changed: z.boolean(), intake: Intake }),
    }),
    redispatchSettlement: internalOperation({
      summary:
        'Sends the job of an open payment again at once, as the sweeper does after 15 s without progress (docs/design/settle.md, rule 16)',
      callers: ['operator'],
      input: z.strictObject({ settlement_id: SettlementId, ...operatorFields }),
      output: z.strictObject({
        dispatch_count: z.int().min(0),
        status: SettlementStatus,
        chain_status: ChainStatus,
      }),
    }),
    ...operatorOperations,
    listPaidByIds: internalOperation({
      summary:
        'The same of named settlements, for a projection that missed facts; those never issued are left out',
      callers: ['wallet'],
      input: z.strictObject({ settlement_ids: z.array(SettlementId).max(MAX_PAID_LISTED) }),
      output: z.array(Paid),
    }),
  },
  events: settlementEvents,
  jobs: {},
  consumes: ['chain-submitter.settleProgressed', 'wallet.delegationChanged'],
});
