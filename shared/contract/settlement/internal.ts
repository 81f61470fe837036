import { z } from 'zod';
import { accountActivityOperation } from '../account-activity.ts';
import { AllowedServices, DelegateExternal, DelegateLimits, DelegateUsage } from '../identity/delegates.ts';
import { getCapsOperation, listReplicasOperation, operatorOperations, Reason } from '../operator.ts';
import {
  AccountId,
  CompactToken,
  DelegateId,
  MicroUsdc,
  MicroUsdcOrZero,
  PageHandle,
  QuoteId,
  RefundId,
  ServiceId,
  SettlementId,
  SolanaAddress,
  Timestamp,
  TransactionHash,
  WalletId,
  WireTransaction,
} from '../primitives.ts';
import { Activity } from '../quote.ts';
import { listSentEvents } from '../sent-events.ts';
import { internalOperation, operatorOperation } from '../service.ts';
import { Approval, ApprovalId } from './approvals.ts';
import { backupOperations } from './backups.ts';
import { payment } from './events.ts';
import { failureOperations } from './failures.ts';
import { ChainStatus, SettlementStatus } from './status.ts';
import { unsignedOperations } from './unsigned.ts';

/** Maximum number of quotes of one call of listByQuotes. */
export const MAX_QUOTES_LISTED = 200;
/** Maximum number of settlements of one call of listPaid. */
export const MAX_PAID_LISTED = 500;
/**
 * What a delegate may spend. Settlement owns the caps and the counters (docs/design/settle.md, rule
 * 4).
 */
const delegate = {
  delegate_id: DelegateId,
  limits: DelegateLimits,
  allowed_service_ids: AllowedServices.nullable(),
  external: DelegateExternal.nullable(),
  approval_above: MicroUsdc.nullable(),
  paused: z.boolean(),
};
export const DelegateSpending = z.strictObject({
  ...delegate,
  usage: DelegateUsage,
  /** Increases with every change of the caps. */
  version: z.int().min(1),
});
/** A settlement that was issued, with the chain status of its payment. */
const Paid = z.strictObject({
  settlement_id: SettlementId,
  status: z.enum(['confirmed', 'finalized', 'reversed']),
  tx_hash: TransactionHash,
  /** What was bought, if the quote or the client of another protocol says so. */
  item: z.string().nullable(),
  ...payment,
});
/**
 * Since when payments are paused, null if they are not, and how many accepted payments are under
 * way.
 */
const Intake = z.strictObject({
  paused_at: Timestamp.nullable(),
  under_way: z.int().min(0),
  /** Authorizations that are open. Nothing is done for them until they are due. */
  authorized: z.int().min(0),
});

/** The internal operations of settlement. */
export const internal = {
  listByQuotes: internalOperation({
    summary:
      'The settlements of quotes, for a quote service that missed events. For each quote: the settlement that did not fail, or else the named one. Quotes without a settlement are omitted.',
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
  payLinkByPhone: internalOperation({
    summary:
      'Records the payment of the quote of a payment link by an account that signs last, and returns its transaction with our signature. A refusal leaves nothing.',
    callers: ['quote'],
    input: z.strictObject({
      handle: PageHandle,
      quote_token: CompactToken,
      account: SolanaAddress,
      asked_from: z.string().max(64).nullable().describe('The network of whoever asks. Null: not known'),
    }),
    output: z.strictObject({ transaction: WireTransaction }),
  }),
  redeemLinkPayment: internalOperation({
    summary:
      'Redeems a payment of a payment link, whose vendor needs no server. Done is false while a fork removes the payment.',
    callers: ['quote'],
    input: z.strictObject({ settlement_id: SettlementId, quote_id: QuoteId }),
    output: z.strictObject({ done: z.boolean() }),
  }),
  upsertDelegate: internalOperation({
    summary:
      'Sets the caps of a delegate that has the expected version, 0 for a new one. Null if another change came first.',
    callers: ['identity'],
    input: z.strictObject({ ...delegate, account_id: AccountId, expected_version: z.int().min(0) }),
    output: DelegateSpending.nullable(),
  }),
  listDelegateSpending: internalOperation({
    summary: 'Caps and counters of an account’s delegates. Unknown delegates are omitted.',
    callers: ['identity'],
    input: z.strictObject({ account_id: AccountId, delegate_ids: z.array(DelegateId).max(100) }),
    output: z.array(DelegateSpending),
  }),
  sumSpentSince: internalOperation({
    summary:
      'What each wallet has paid, or is paying, since a given time. It distinguishes an allowance that was used up from one that was revoked.',
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
  recordHandOut: internalOperation({
    summary:
      'The answer that handed out the success of an x402 payment was sent: the settlement is redeemed. Idempotent.',
    callers: ['gateway'],
    input: z.strictObject({ settlement_id: SettlementId, hand_out_id: z.string().max(64) }),
    output: z.strictObject({ redeemed: z.boolean() }),
  }),
  findApproval: internalOperation({
    summary: 'An approval of an account. Null if the account does not have it.',
    callers: ['identity'],
    input: z.strictObject({ account_id: AccountId, approval_id: ApprovalId }),
    output: Approval.nullable(),
  }),
  recordApproval: internalOperation({
    summary:
      'Approves a payment whose owner has signed its challenge with a passkey. Refused with `conflict` unless it waits and has not expired. Idempotent.',
    callers: ['identity'],
    input: z.strictObject({
      account_id: AccountId,
      approval_id: ApprovalId,
      /** The passkey, for the record. */
      passkey_id: z.string().max(64),
    }),
    output: Approval,
  }),
  reserveRefund: internalOperation({
    summary:
      'Reserves a part of the net amount for a refund, or the rest of it if no amount is named. Idempotent by refund_id.',
    callers: ['funding'],
    input: z.strictObject({
      refund_id: RefundId,
      settlement_id: SettlementId,
      /**
       * The settlement must belong to this vendor account and, for a service key, to this service.
       */
      account_id: AccountId,
      service_id: ServiceId.nullable(),
      amount: MicroUsdc.nullable(),
    }),
    output: z.strictObject({
      amount: MicroUsdc,
      service_id: ServiceId,
      /** The delegate that paid for the payer, if any. */
      delegate_id: DelegateId.nullable(),
      /** The address that the quote fixed. It was paid, so it pays the refund. */
      payout_address: SolanaAddress,
      /** What was bought, if the quote or the client of another protocol says so. */
      item: z.string().nullable(),
      /**
       * `account_id` null: a payer of another protocol, whose `owner` is the token account that
       * paid.
       */
      payer: z.strictObject({ account_id: AccountId.nullable(), owner: SolanaAddress }),
      /** Whether the chain holds the payment now. */
      paid: z.boolean(),
    }),
  }),
  releaseRefund: internalOperation({
    summary: 'Releases a reservation. One that was not made yet can never be made afterwards. Idempotent.',
    callers: ['funding'],
    input: z.strictObject({ refund_id: RefundId }),
    output: z.strictObject({}),
  }),
  listPaid: internalOperation({
    summary:
      'Every settlement that was ever issued, with its current state, in the order of settlement_id. For rebuilding a projection.',
    callers: ['wallet'],
    input: z.strictObject({
      after: SettlementId.nullable(),
      limit: z.int().min(1).max(MAX_PAID_LISTED),
    }),
    output: z.array(Paid),
  }),
  getCaps: getCapsOperation,
  listReplicas: listReplicasOperation,
  getIntake: operatorOperation({
    summary: 'Whether payments are paused',
    input: z.strictObject({}),
    output: Intake,
  }),
  setPaymentsPaused: operatorOperation({
    summary:
      'Pauses or resumes payments. Accepted payments are still carried out. Changes nothing if payments are in that state already.',
    input: z.strictObject({ paused: z.boolean(), reason: Reason }),
    output: z.strictObject({ changed: z.boolean(), intake: Intake }),
  }),
  redispatchSettlement: operatorOperation({
    summary:
      'Dispatches the job of an open payment again immediately, as the sweeper does after 15 s without progress (docs/design/settle.md, rule 16)',
    input: z.strictObject({ settlement_id: SettlementId, reason: Reason }),
    output: z.strictObject({
      dispatch_count: z.int().min(0),
      status: SettlementStatus,
      chain_status: ChainStatus,
    }),
  }),
  ...unsignedOperations,
  ...failureOperations,
  ...backupOperations,
  ...operatorOperations,
  listSentEvents: listSentEvents(['identity', 'quote', 'wallet', 'webhook']),
  getAccountActivity: accountActivityOperation,
};
