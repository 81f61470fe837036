import type { z } from 'zod';
import type { contracts } from './index.ts';

/** Names and payloads of all events and jobs, and the fields that identify a repeated message. */
type Contracts = typeof contracts;
type Names<Part extends 'events' | 'jobs'> = {
  [S in keyof Contracts]: `${S}.${string & keyof Contracts[S][Part]}`;
}[keyof Contracts];

/** Every event, as `<service that publishes it>.<event>`. */
export type EventName = Names<'events'>;
/** Every job, as `<service that carries it out>.<job>`. */
export type JobName = Names<'jobs'>;

export type EventPayload<N extends EventName> = N extends `${infer S extends keyof Contracts}.${infer E}`
  ? E extends keyof Contracts[S]['events']
    ? z.infer<Extract<Contracts[S]['events'][E], z.ZodType>>
    : never
  : never;
export type JobPayload<N extends JobName> = N extends `${infer S extends keyof Contracts}.${infer J}`
  ? J extends keyof Contracts[S]['jobs']
    ? z.infer<Extract<Contracts[S]['jobs'][J], { payload: z.ZodType }>['payload']>
    : never
  : never;

/**
 * For an event that is published again on purpose while its state is unchanged: each publication is
 * a separate message.
 */
export const EACH_TIME = 'each time';

/** A field of a payload, or of an object in it. */
type Field<P> = {
  [K in keyof P & string]: P[K] extends string | number | boolean | null | readonly string[]
    ? K
    : `${K}.${keyof P[K] & string}`;
}[keyof P & string];
type Identity<P> = readonly (Field<P> | typeof EACH_TIME)[];

const ofSettlement = ['settlement_id'] as const;
// The same state is published again when its job is dispatched again, and after a second fork. That
// can be within the stream's duplicate window, where a repeated id would be dropped.
const ofProgress = ['object_id', 'generation', 'status', EACH_TIME] as const;

/**
 * The fields that distinguish an event among those of its name. The stream drops a message whose id
 * it has already. Therefore two events need two identities, and a republished event keeps its
 * identity.
 */
export const EVENT_IDENTITY: { readonly [N in EventName]: Identity<EventPayload<N>> } = {
  'quote.expired': ['quote_id'],
  'quote.linkPaid': ['settlement_id'],
  'settlement.accepted': ofSettlement,
  'settlement.authorized': ofSettlement,
  'settlement.atRisk': ofSettlement,
  'settlement.captured': ofSettlement,
  'settlement.voided': ofSettlement,
  'settlement.extended': ['extension_id'],
  'settlement.issued': ofSettlement,
  'settlement.finalized': ofSettlement,
  'settlement.failed': ofSettlement,
  'settlement.reversed': ofSettlement,
  'settlement.redeemed': ofSettlement,
  'settlement.expired': ofSettlement,
  'settlement.approvalRequested': ['approval_id'],
  'settlement.approvalDecided': ['approval_id', 'status'],
  'settlement.declined': ['decline_id'],
  'settlement.delegateExhausted': ['decline_id'],
  'settlement.securityNoted': ['security_event_id'],
  'wallet.securityNoted': ['security_event_id'],
  'funding.securityNoted': ['security_event_id'],
  'webhook.securityNoted': ['security_event_id'],
  'wallet.delegationChanged': ['wallet_id', 'slot', 'status'],
  // After a fork an object may have the same status by another transaction.
  'funding.moved': ['object_id', 'status', 'tx_hash'],
  'funding.withdrawalChanged': ['withdrawal.withdrawal_id', 'withdrawal.status', 'withdrawal.tx_hash'],
  'funding.refundChanged': ['refund.refund_id', 'refund.status', 'refund.tx_hash'],
  'funding.depositChanged': ['deposit.deposit_id', 'deposit.status', 'deposit.tx_hash'],
  // A key is revoked once.
  'identity.keysRevoked': ['key_hashes'],
  'identity.sessionRevoked': ['session_id'],
  'identity.delegateChanged': ['change_id'],
  'identity.keyChanged': ['change_id'],
  'identity.accountFrozen': ['account_id', 'at'],
  'identity.accountClosed': ['account_id'],
  'identity.accountErased': ['account_id'],
  'webhook.endpointDisabled': ['endpoint_id', 'at'],
  'chain-submitter.settleProgressed': ofProgress,
  'chain-submitter.fundProgressed': ofProgress,
  'chain-submitter.delegationProgressed': ofProgress,
  'chain-submitter.tokenAccountProgressed': ofProgress,
  'chain-submitter.withdrawalProgressed': ofProgress,
  'chain-submitter.refundProgressed': ofProgress,
};

/**
 * The fields that distinguish a job among those of its name. Its message id also contains the
 * dispatch count, because the queue drops a repeated id inside its window, even after the first
 * message was consumed (docs/design/settle.md, rule 6).
 */
export const JOB_IDENTITY: { readonly [N in JobName]: readonly Field<JobPayload<N>>[] } = {
  'chain-submitter.settle': ['account_id', 'payment_attempt_id'],
  'chain-submitter.fund': ['fund_id'],
  'chain-submitter.createTokenAccount': ['wallet_id'],
};
