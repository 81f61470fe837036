import { z } from 'zod';
import { AllowedServices, DelegateLimits, DelegateUsage } from '../identity/delegates.ts';
import { getCapsOperation, operatorFields, operatorOperations } from '../operator.ts';
import {
  AccountId,
  DelegateId,
  MicroUsdc,
  MicroUsdcOrZero,
  QuoteId,
  RefundId,
  ServiceId,
  SettlementId,
  SolanaAddress,
  Timestamp,
  TransactionHash,
  WalletId,
} from '../primitives.ts';
import { Activity } from '../quote.ts';
import { internalOperation } from '../service.ts';
import { payment } from './events.ts';
import { ChainStatus, SettlementStatus } from './operations.ts';

/** Of one call of listByQuotes. */
export const MAX_QUOTES_LISTED = 200;
/** Of one call of listPaid or listPaidByIds. */
export const MAX_PAID_LISTED = 500;
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

/** The internal operations of settlement. */
export const internal = {
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
};
