import { type BusUser, SERVICE_NAMES } from '../contract/service.ts';
import { DELIVERY_ERRORS } from '../contract/webhook.ts';

/**
 * Every metric of the system, once: what it is called, what it counts, which labels it has and who tells it.
 * docs/metrics.md is written from this list; deploy/alerts.yaml may name nothing else (test/alerts.test.ts). Names and
 * units follow OpenTelemetry; on the Prometheus endpoint a dot is an underscore and a counter ends in `_total`.
 *
 * Labels stay few: no account, address, key, e-mail, id or URL is ever one.
 */
export type Metric = {
  kind: 'counter' | 'gauge' | 'histogram';
  /** UCUM: `s`, `1`, or what is counted in braces. */
  unit: string;
  by: readonly BusUser[];
  /** The values of each label, null where they come from elsewhere (contract, routes, error codes) and are few. */
  labels: Record<string, readonly string[] | null>;
  /** Upper bounds of a histogram. */
  buckets: readonly number[];
  about: string;
};

const ALL: readonly BusUser[] = ['gateway', ...SERVICE_NAMES];
/** From a fast local chain up to the 20 s that a settle may wait. */
const CALL_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 20];
/** From the first look up to the last generation that may be signed, a quote's life and a minute. */
const CHAIN_SECONDS = [0.1, 0.25, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 660];
/** Up to a redeem window of a week. */
const REDEEM_SECONDS = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 86_400, 604_800];

const counter = <const L extends Metric['labels']>(
  unit: string,
  by: readonly BusUser[],
  labels: L,
  about: string,
) => ({ kind: 'counter', unit, by, labels, buckets: [] as readonly number[], about }) as const;
const gauge = <const L extends Metric['labels']>(
  unit: string,
  by: readonly BusUser[],
  labels: L,
  about: string,
) => ({ kind: 'gauge', unit, by, labels, buckets: [] as readonly number[], about }) as const;
const histogram = <const L extends Metric['labels']>(
  buckets: readonly number[],
  by: readonly BusUser[],
  labels: L,
  about: string,
) => ({ kind: 'histogram', unit: 's', by, labels, buckets, about }) as const;

export const ATTEMPT_STATES = ['pending', 'confirmed', 'reopened'] as const;
export const INTENT_KINDS = [
  'settle',
  'fund',
  'createTokenAccount',
  'delegation',
  'withdrawal',
  'refund',
] as const;
/** What the fee payer spends, by who causes it: fees of settles, rent that quotes promise, and so on. */
export const LAMPORT_BUDGETS = [
  'fees_settle',
  'rent_settle',
  'fees_user',
  'rent_user',
  'fees_revoke',
] as const;
export const INTENT_STATES = ['accepted', 'signed', 'confirmed', 'reopened'] as const;
const intents = { kind: INTENT_KINDS, state: INTENT_STATES } as const;

export const METRICS = {
  // ---------- payments ----------
  'settle.quotes': counter('{quote}', ['quote'], {}, 'Quotes created.'),
  'settle.settlements': counter(
    '{settlement}',
    ['settlement'],
    { outcome: ['accepted', 'issued', 'failed', 'reversed'] },
    'Payments by what became of them; a reversed one was issued first.',
  ),
  'settle.failures': counter(
    '{settlement}',
    ['settlement'],
    { error_code: ['insufficient_funds', 'delegation_inactive', 'payment_failed'] },
    'Accepted payments that failed, proven that no money moved, by the code that the payer is told.',
  ),
  'settle.settled_micro_usdc': counter(
    '{micro_usdc}',
    ['settlement'],
    {},
    'Gross amount of issued settlements.',
  ),
  'settle.fees_micro_usdc': counter('{micro_usdc}', ['settlement'], {}, 'Of that, the platform’s fees.'),
  'settle.time_to_confirm': histogram(
    CHAIN_SECONDS,
    ['settlement'],
    {},
    'From acceptance to the issued settlement.',
  ),
  'settle.redeem_latency': histogram(
    REDEEM_SECONDS,
    ['settlement'],
    {},
    'From the issued settlement to its redeem.',
  ),
  'settle.idempotent_replays': counter(
    '{call}',
    ['settlement', 'quote', 'funding', 'identity', 'webhook'],
    { operation: ['settle', 'redeem', 'consume', 'keyed'] },
    'Calls that repeated one which was carried out before, and were answered from its row; `keyed`: by Idempotency-Key.',
  ),
  'settle.expired_unredeemed': counter(
    '{settlement}',
    ['settlement'],
    {},
    'Paid and never redeemed in their window.',
  ),
  'settle.attempts': gauge(
    '{attempt}',
    ['settlement'],
    { state: ATTEMPT_STATES },
    'Attempts under way: pending, confirmed (not yet final), reopened (was confirmed, then forked away).',
  ),
  'settle.attempts.oldest_age': gauge(
    's',
    ['settlement'],
    { state: ATTEMPT_STATES },
    'Time since the oldest of them was accepted; 0 without one.',
  ),
  'settle.held_micro_usdc': gauge(
    '{micro_usdc}',
    ['settlement'],
    {},
    'What attempts under way hold of their wallets.',
  ),
  'settle.holding_wallets': gauge('{wallet}', ['settlement'], {}, 'Wallets of which something is held.'),
  'settle.redrives': counter(
    '{job}',
    ['settlement', 'wallet', 'funding'],
    {},
    'Work that made no progress for 15 s and was sent to chain-submitter once more.',
  ),
  'settle.anomalies': counter(
    '{event}',
    ['settlement', 'chain-submitter', 'funding'],
    {
      kind: [
        'settlement_reversed',
        'contradicted_record',
        'unknown_settlement',
        'balance_mismatch',
        'policy_refused',
        'found_paid',
        'expired_included',
        'providers_disagree',
        'work_under_another_id',
        'deposit_problem',
        'deposit_mismatch',
        'deposit_paid_again',
      ],
    },
    'What must not happen, or only after a record was lost. Each is logged as an error with its ids.',
  ),

  // ---------- chain ----------
  'settle.intents': gauge('{intent}', ['chain-submitter'], intents, 'Intents under way.'),
  'settle.intents.oldest_age': gauge(
    's',
    ['chain-submitter'],
    intents,
    'Time since the oldest of them was taken.',
  ),
  'settle.chain.generations': counter(
    '{transaction}',
    ['chain-submitter'],
    { generation: ['first', 'again', 'found'] },
    'Transactions committed: the first of an intent, another after an expiry proof, one found on chain and adopted.',
  ),
  'settle.chain.expiry_proofs': counter(
    '{proof}',
    ['chain-submitter'],
    { outcome: ['proven', 'refuted', 'unanswered'] },
    'Proofs of expiry begun: won, lost because a provider knows the transaction after all, or a provider was silent.',
  ),
  'settle.chain.forks': counter(
    '{transaction}',
    ['chain-submitter'],
    {},
    'Confirmed transactions that were forked away.',
  ),
  'settle.intake.paused_age': gauge(
    's',
    ['settlement'],
    {},
    'Time since operators paused taking new payments, 0 while they are taken.',
  ),
  'settle.chain.paused': gauge('1', ['chain-submitter'], {}, '1 while the operator’s pause stands.'),
  'settle.cap_refusals': counter(
    '{payment}',
    ['settlement', 'chain-submitter'],
    { cap: ['wallet', 'account', 'environment'] },
    'Payments that an hourly cap held up: by settlement refused before acceptance, by chain-submitter not signed for now.',
  ),
  'settle.chain.cap_used_ratio': gauge(
    '1',
    ['settlement', 'chain-submitter'],
    { cap: ['wallet_hour', 'account_hour', 'environment_hour'] },
    'How much of a cap is used up in its period, by what was accepted or signed; of wallets and accounts, the one that used most.',
  ),
  'settle.chain.budget_used_ratio': gauge(
    '1',
    ['chain-submitter'],
    { budget: LAMPORT_BUDGETS },
    'How much of an environment’s daily lamport budget is reserved.',
  ),
  'settle.chain.budget_refusals': counter(
    '{refusal}',
    ['chain-submitter'],
    { budget: LAMPORT_BUDGETS, dimension: ['account', 'vendor', 'environment'] },
    'Work that was refused or has to wait because a daily budget is used up, by whose budget it was.',
  ),
  'settle.fee_payer_lamports': gauge('{lamport}', ['chain-submitter'], {}, 'Balance of the fee payer.'),
  'rpc.client.call.duration': histogram(
    CALL_SECONDS,
    ['chain-submitter'],
    { 'rpc.method': null, provider: null, 'error.type': ['none', 'unavailable', 'refused'] },
    'JSON-RPC calls by method and provider (its number in SOLANA_RPC_URLS; a URL may hold an access key).',
  ),

  // ---------- every service ----------
  'settle.outbox.messages': gauge(
    '{message}',
    SERVICE_NAMES,
    {},
    'Committed and not yet published messages of the service’s schema; counted up to 10,000.',
  ),
  'settle.outbox.oldest_age': gauge('s', SERVICE_NAMES, {}, 'Time since the oldest of them was committed.'),
  'settle.quarantine.messages': gauge(
    '{message}',
    SERVICE_NAMES,
    {},
    'Messages that could not be parsed, undecided.',
  ),
  'settle.quarantine.oldest_age': gauge('s', SERVICE_NAMES, {}, 'Time since the oldest of them came.'),
  'settle.job_runs': counter(
    '{run}',
    SERVICE_NAMES,
    { task: null, outcome: ['ok', 'error'] },
    'Runs of the jobs that go by the clock, the sweepers among them.',
  ),
  'settle.reading_up': gauge(
    '1',
    SERVICE_NAMES,
    { reading: null },
    '0 where the gauges of a reading could not be read at this scrape: they are then NaN, not zero.',
  ),
  'settle.mails.queued': gauge(
    '{mail}',
    ['identity'],
    {},
    'Mails not yet taken by the mail server; counted up to 10,000.',
  ),
  'settle.mails.oldest_age': gauge('s', ['identity'], {}, 'Time since the oldest of them was asked for.'),
  'settle.webhook.attempts': counter(
    '{attempt}',
    ['webhook'],
    { outcome: ['delivered', ...DELIVERY_ERRORS] },
    'Tries to deliver events to customers’ endpoints, by what came of them.',
  ),
  'settle.webhook.due': gauge(
    '{delivery}',
    ['webhook'],
    {},
    'Deliveries that are due and not begun, to endpoints that do not fail; counted up to 10,000.',
  ),
  'settle.webhook.oldest_due_age': gauge('s', ['webhook'], {}, 'Time since the oldest of them was due.'),
  'messaging.client.operation.duration': histogram(
    CALL_SECONDS,
    ALL,
    {
      'messaging.operation.name': ['request', 'send'],
      'messaging.destination.name': null,
      'error.type': null,
    },
    'NATS as its caller sees it: requests up to their answer, messages up to the server’s word.',
  ),
  'db.client.operation.duration': histogram(
    CALL_SECONDS,
    SERVICE_NAMES,
    { 'db.query.summary': null, 'error.type': ['none', 'error'] },
    'Statements by what they change or read; the wait for a connection is not in it.',
  ),
  'messaging.process.duration': histogram(
    CALL_SECONDS,
    SERVICE_NAMES,
    { 'messaging.destination.name': null, 'error.type': null },
    'The work on a request, a job or a fact. A settle includes its wait for the chain.',
  ),

  // ---------- the edge ----------
  'http.server.request.duration': histogram(
    CALL_SECONDS,
    ['gateway'],
    { environment: null, 'http.request.method': null, 'http.route': null, 'http.response.status_code': null },
    'Calls of the public API, by route.',
  ),
  'settle.rate_limited': counter(
    '{call}',
    ['gateway'],
    { environment: null, 'http.route': null },
    'Calls refused by a request limit.',
  ),
} satisfies Record<string, Metric>;

export type MetricName = keyof typeof METRICS;

/** The name on the Prometheus endpoint; a histogram’s is followed by `_bucket`, `_sum` and `_count`. */
export const prometheusName = (name: MetricName): string =>
  `${name.replaceAll('.', '_')}${METRICS[name].kind === 'counter' ? '_total' : ''}`;
