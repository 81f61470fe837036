import { JOURNEYS, type Journey } from '../../contract/journey.ts';
import { SERVICE_NAMES } from '../../contract/service.ts';
import { DECLINE_REASONS } from '../../contract/settlement.ts';
import { BACKUP_METRICS } from './backup-metrics.ts';
import { counter, gauge, histogram, type Metric, type Reporter } from './metric.ts';
import { SENDING_METRICS } from './sending-metrics.ts';
import { SERVICE_METRICS } from './service-metrics.ts';

const ALL: readonly Reporter[] = ['gateway', ...SERVICE_NAMES];
/** Up to the 20 s that a settle may wait. */
const CALL_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 20];
/**
 * Up to the last moment at which a generation may be signed: the lifetime of a quote and a minute.
 */
const CHAIN_SECONDS = [0.1, 0.25, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 660];
/** Up to a redeem window of a week. */
const REDEEM_SECONDS = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 86_400, 604_800];

export const ATTEMPT_STATES = ['pending', 'confirmed', 'reopened', 'authorized'] as const;
export const INTENT_KINDS = [
  'settle',
  'fund',
  'createTokenAccount',
  'delegation',
  'withdrawal',
  'refund',
  'incoming',
  'outgoing',
] as const;
/** The kinds of work that the platform's fee payer pays for, and what each transaction takes. */
export const PAID_KINDS = INTENT_KINDS.filter((kind) => kind !== 'outgoing');
export const COST_PARTS = ['fee', 'rent'] as const;
/** What the fee payer spends, by cause: fees of settles, rent that quotes promise, and so on. */
export const LAMPORT_BUDGETS = [
  'fees_settle',
  'fees_incoming',
  'rent_settle',
  'fees_user',
  'rent_user',
  'fees_revoke',
] as const;
/** The step of a synthetic payment that failed. */
export const SYNTHETIC_OUTCOMES = ['paid', 'quote_failed', 'settle_failed', 'redeem_failed'] as const;
export const INTENT_STATES = ['accepted', 'signed', 'confirmed', 'reopened'] as const;
const intents = { kind: INTENT_KINDS, state: INTENT_STATES } as const;

/**
 * Every metric of the system: its name, what it counts, its labels and the services that report it.
 * docs/metrics.md is generated from this list, and deploy/alerts.yaml may name no other metric
 * (test/alerts.test.ts). Names follow the naming guide of Prometheus: the prefix `quittance_`, the
 * base unit, and `_total` for a counter.
 *
 * The number of label values stays small: no account, address, key, e-mail, id or URL is a label.
 */
export const METRICS = {
  // ---------- payments ----------
  quittance_quotes_total: counter('{quote}', ['quote'], {}, 'Quotes created.'),
  quittance_settlements_total: counter(
    '{settlement}',
    ['settlement'],
    { outcome: ['accepted', 'issued', 'failed', 'reversed'] },
    'Payments by outcome. A reversed payment was issued before.',
  ),
  quittance_approvals_total: counter(
    '{approval}',
    ['settlement'],
    { outcome: ['requested', 'approved', 'denied'] },
    'Payments of delegates that wait for approval, and decisions of owners.',
  ),
  quittance_declines_total: counter(
    '{decline}',
    ['settlement'],
    { reason: DECLINE_REASONS },
    'Payments of quotes that were refused, once for each quote, payer and reason.',
  ),
  quittance_decline_failures_total: counter(
    '{decline}',
    ['settlement'],
    { cause: ['error', 'timeout'] },
    'Refusals that were answered without a recorded decline. After a time-out it may still be recorded.',
  ),
  quittance_settlement_failures_total: counter(
    '{settlement}',
    ['settlement'],
    { error_code: ['insufficient_funds', 'delegation_inactive', 'payment_failed'] },
    'Accepted payments that failed, with the proof that no money moved, by the error code that the payer gets.',
  ),
  quittance_settled_micro_usdc_total: counter(
    '{micro_usdc}',
    ['settlement'],
    {},
    'Gross amount of issued settlements.',
  ),
  quittance_fees_micro_usdc_total: counter(
    '{micro_usdc}',
    ['settlement'],
    {},
    'The platform’s fees in that amount.',
  ),
  quittance_confirmation_seconds: histogram(
    CHAIN_SECONDS,
    ['settlement'],
    {},
    'From acceptance to the issued settlement.',
  ),
  quittance_redeem_latency_seconds: histogram(
    REDEEM_SECONDS,
    ['settlement'],
    {},
    'From the issued settlement to its redeem.',
  ),
  quittance_replica_reads_total: counter(
    '{read}',
    ['settlement', 'quote', 'wallet', 'funding', 'identity', 'webhook'],
    { outcome: ['answered', 'behind', 'failed', 'avoided'] },
    'Lists and sums asked of the read replica. All but `answered` were answered by the primary.',
  ),
  quittance_split_statements_total: counter(
    '{statement}',
    ['settlement', 'quote', 'chain-submitter'],
    {},
    'Statements shared by several calls that one row made fail: each call was carried out alone.',
  ),
  quittance_idempotent_replays_total: counter(
    '{call}',
    ['settlement', 'quote', 'funding', 'identity', 'webhook'],
    {
      operation: [
        'settle',
        'redeem',
        'consume',
        'usage',
        'capture',
        'void',
        'close',
        'keyed',
        'x402Settle',
        'acceptForeign',
        'payExternal',
      ],
    },
    'Repeats of completed calls, answered from the record. `keyed`: by Idempotency-Key.',
  ),
  quittance_authorizations_at_risk_total: counter(
    '{authorization}',
    ['settlement'],
    {},
    'Authorizations that were closed because the wallet no longer covered them.',
  ),
  quittance_expired_unredeemed_total: counter(
    '{settlement}',
    ['settlement'],
    {},
    'Settlements that were paid and not redeemed in their window.',
  ),
  quittance_attempts: gauge(
    '{attempt}',
    ['settlement'],
    { state: ATTEMPT_STATES },
    'Open attempts: pending, confirmed (not yet finalized), reopened (confirmed before, then dropped by a fork), authorized (nothing is paid yet).',
  ),
  quittance_attempts_oldest_age_seconds: gauge(
    's',
    ['settlement'],
    { state: ATTEMPT_STATES },
    'Time since the oldest open attempt was accepted; 0 if there is none.',
  ),
  quittance_held_micro_usdc: gauge(
    '{micro_usdc}',
    ['settlement'],
    {},
    'What open attempts hold of the balances of their wallets.',
  ),
  quittance_holding_wallets: gauge('{wallet}', ['settlement'], {}, 'Wallets with a hold.'),
  quittance_lanes: gauge(
    '{lane}',
    ['settlement', 'chain-submitter'],
    {},
    'Lanes of the 16 that the replica owns; 0 while it stands by. All replicas of a service together own 16.',
  ),
  quittance_replica_load_ratio: gauge(
    '1',
    ['settlement', 'chain-submitter'],
    {},
    'Part of a core that the replica used in the last three seconds. Above 0.6 another replica takes half of its lanes.',
  ),
  quittance_lanes_moved_total: counter(
    '{lane}',
    ['settlement', 'chain-submitter'],
    { change: ['taken', 'lost'] },
    'Lanes that a replica took, and lanes that another one took from it.',
  ),
  quittance_lane_fallbacks_total: counter(
    '{item}',
    ['gateway', 'settlement', 'chain-submitter'],
    { to: ['settlement', 'chain-submitter'], kind: ['call', 'message'] },
    'What no owner of a lane answered: calls that any replica got, and jobs and outcomes that the stream got.',
  ),
  quittance_redispatches_total: counter(
    '{job}',
    ['settlement', 'wallet', 'funding'],
    {},
    'Jobs that were dispatched to chain-submitter again, because they made no progress for 15 s.',
  ),
  quittance_anomalies_total: counter(
    '{event}',
    ['settlement', 'chain-submitter', 'funding'],
    {
      kind: [
        'settlement_reversed',
        'contradicted_record',
        'unknown_settlement',
        'balance_mismatch',
        'policy_refused',
        'adopted',
        'lost_record',
        'expired_included',
        'providers_disagree',
        'work_under_another_id',
        'work_of_another_amount',
        'deposit_problem',
        'deposit_mismatch',
        'deposit_paid_again',
      ],
    },
    'Events that must not happen, or happen only after a record was lost. Each is logged as an error with its ids.',
  ),

  // ---------- chain ----------
  quittance_intents: gauge('{intent}', ['chain-submitter'], intents, 'Open intents.'),
  quittance_intents_oldest_age_seconds: gauge(
    's',
    ['chain-submitter'],
    intents,
    'Time since the oldest open intent was accepted.',
  ),
  quittance_chain_generations_total: counter(
    '{transaction}',
    ['chain-submitter'],
    { generation: ['first', 'again', 'adopted'] },
    'Committed transactions: the first of an intent, another one after an expiry proof, or one that was adopted from the chain.',
  ),
  quittance_chain_expiry_proofs_total: counter(
    '{proof}',
    ['chain-submitter'],
    { outcome: ['proven', 'refuted', 'unanswered'] },
    'Expiry proofs: proven, refuted because a provider knows the transaction, or unanswered by a provider.',
  ),
  quittance_chain_forks_total: counter(
    '{transaction}',
    ['chain-submitter'],
    {},
    'Confirmed transactions that a fork dropped.',
  ),
  quittance_intake_paused_seconds: gauge(
    's',
    ['settlement'],
    {},
    'Time since operators paused payments; 0 while payments are accepted.',
  ),
  quittance_signing_paused: gauge('1', ['chain-submitter'], {}, '1 while operators have paused signing.'),
  quittance_cap_refusals_total: counter(
    '{payment}',
    ['settlement', 'chain-submitter'],
    { cap: ['wallet', 'account', 'environment', 'incoming_source', 'incoming_account', 'incoming'] },
    'Payments that an hourly cap delayed: settlement refused them before acceptance, chain-submitter did not sign them yet. `incoming…`: payments of x402 and MPP clients, which chain-submitter refused.',
  ),
  quittance_cap_used_ratio: gauge(
    '1',
    ['settlement', 'chain-submitter'],
    { cap: ['wallet_hour', 'account_hour', 'environment_hour', 'incoming_account_hour', 'incoming_hour'] },
    'The used part of a cap in its period, by accepted or signed payments. For wallets and accounts: the one with the highest use. `incoming…`: payments of x402 and MPP clients, only in chain-submitter.',
  ),
  quittance_budget_used_ratio: gauge(
    '1',
    ['chain-submitter'],
    { budget: LAMPORT_BUDGETS },
    'The reserved part of an environment’s daily lamport budget.',
  ),
  quittance_budget_refusals_total: counter(
    '{refusal}',
    ['chain-submitter'],
    { budget: LAMPORT_BUDGETS, dimension: ['account', 'vendor', 'environment'] },
    'Work that was refused or has to wait because a daily budget is used up, by the kind of the budget’s owner.',
  ),
  quittance_network_cost_lamports: gauge(
    '{lamport}',
    ['chain-submitter'],
    { kind: PAID_KINDS, part: COST_PARTS },
    'What the chain took for the transactions that became final in this UTC day.',
  ),
  quittance_fee_payer_lamports: gauge(
    '{lamport}',
    ['chain-submitter'],
    {},
    'Balance of the fee payer, the lowest of those in use.',
  ),
  quittance_reconcile_age_seconds: gauge(
    's',
    ['chain-submitter'],
    {},
    'Time since the last comparison of chain and records began (`ops reconcile`). No series before the first one.',
  ),
  quittance_reconcile_drift: gauge(
    '1',
    ['chain-submitter'],
    {},
    'What that comparison has found: accounts with unexplained drift, and records of one service that another one lacks.',
  ),
  quittance_rpc_call_duration_seconds: histogram(
    CALL_SECONDS,
    ['chain-submitter'],
    { 'rpc.method': null, provider: null, 'error.type': ['none', 'unavailable', 'refused'] },
    'JSON-RPC calls by method and provider (its number in SOLANA_RPC_URLS, because a URL may contain an access key).',
  ),

  // ---------- every service ----------
  ...BACKUP_METRICS,
  ...SERVICE_METRICS,
  quittance_build_info: gauge(
    '1',
    ALL,
    { version: null, commit: null },
    'Always 1. The labels say which build the process runs.',
  ),
  ...SENDING_METRICS,
  quittance_bus_operation_duration_seconds: histogram(
    CALL_SECONDS,
    ALL,
    {
      'messaging.operation.name': ['request', 'send'],
      'messaging.destination.name': null,
      'error.type': null,
    },
    'NATS operations of a client: a request until its answer, a message until the server acknowledges it.',
  ),
  quittance_db_operation_duration_seconds: histogram(
    CALL_SECONDS,
    SERVICE_NAMES,
    { 'db.query.summary': null, 'error.type': ['none', 'error'] },
    'Statements by what they change or read, without the wait for a connection.',
  ),
  quittance_message_process_duration_seconds: histogram(
    CALL_SECONDS,
    SERVICE_NAMES,
    { 'messaging.destination.name': null, 'error.type': null },
    'The processing of a request, a job or an event. A settle includes its wait for the chain.',
  ),

  // ---------- the edge ----------
  quittance_http_request_duration_seconds: histogram(
    CALL_SECONDS,
    ['gateway'],
    {
      environment: null,
      journey: [...(Object.keys(JOURNEYS) as Journey[]), 'probe', 'none'],
      'http.request.method': null,
      'http.route': null,
      'http.response.status_code': null,
    },
    'Calls of the public API, by route. The contract names the journey of each operation; `none`: pages and unknown addresses.',
  ),
  quittance_rate_limited_total: counter(
    '{call}',
    ['gateway'],
    { environment: null, 'http.route': null },
    'Calls refused by a request limit.',
  ),
  quittance_deprecated_calls_total: counter(
    '{call}',
    ['gateway'],
    { environment: null, operation: null },
    'Calls of operations that a later release removes.',
  ),
  quittance_synthetic_payments_total: counter(
    '{payment}',
    ['synthetic'],
    { outcome: SYNTHETIC_OUTCOMES },
    'Payments that the job `synthetic` has made through the public API.',
  ),
  quittance_synthetic_payment_duration_seconds: histogram(
    CHAIN_SECONDS,
    ['synthetic'],
    { outcome: SYNTHETIC_OUTCOMES },
    'From the quote of a synthetic payment to its redeem.',
  ),
} satisfies Record<string, Metric>;

export type MetricName = keyof typeof METRICS;
