/**
 * Grafana's dashboards, declared in short; grafana.ts writes them out. Queries name metrics of the
 * catalog alone (test/alerts.test.ts reads them).
 */
type Query = { expr: string; legend?: string };
export type Panel = {
  title: string;
  /** What a reader at night should know of it. */
  about: string;
  unit: 'short' | 's' | 'percentunit' | 'reqps' | 'micro_usdc' | 'sol' | 'bool';
  queries: readonly Query[];
  /** A figure rather than a curve. */
  stat?: boolean;
};
export type Dashboard = {
  uid: string;
  title: string;
  rows: readonly { title: string; panels: readonly Panel[] }[];
};

const ENV = 'environment=~"$environment"';
const rate = (metric: string, by = '', labels = ''): string =>
  `sum${by && ` by (${by})`} (rate(${metric}{${ENV}${labels && `,${labels}`}}[$__rate_interval]))`;
const greatest = (metric: string, by = '', labels = ''): string =>
  `max${by && ` by (${by})`} (${metric}{${ENV}${labels && `,${labels}`}})`;
const quantile = (q: number, metric: string, by = '', labels = ''): string =>
  `histogram_quantile(${q}, ${rate(`${metric}_bucket`, by ? `le, ${by}` : 'le', labels)})`;
const one = (expr: string, legend?: string): Query[] => [
  { expr, ...(legend === undefined ? {} : { legend }) },
];

export const DASHBOARDS: readonly Dashboard[] = [
  {
    uid: 'quittance-payments',
    title: 'Quittance / Payments',
    rows: [
      {
        title: 'Funnel',
        panels: [
          {
            title: 'Quotes → settles → redeems',
            about:
              'What a quote becomes. The distance between accepted and issued is what is under way or failed.',
            unit: 'reqps',
            queries: [
              { expr: rate('quittance_quotes_total'), legend: 'quoted' },
              { expr: rate('quittance_settlements_total', 'outcome'), legend: '{{outcome}}' },
              { expr: rate('quittance_redeem_latency_seconds_count'), legend: 'redeemed' },
              { expr: rate('quittance_expired_unredeemed_total'), legend: 'expired unredeemed' },
            ],
          },
          {
            title: 'Settled',
            about: 'Gross amount of issued settlements, a second.',
            unit: 'micro_usdc',
            queries: [
              { expr: rate('quittance_settled_micro_usdc_total'), legend: 'settled' },
              { expr: rate('quittance_fees_micro_usdc_total'), legend: 'fees' },
            ],
          },
          {
            title: 'Time to confirm',
            about: 'From acceptance to the issued settlement. Above 15 s callers are told 202.',
            unit: 's',
            queries: [
              { expr: quantile(0.5, 'quittance_confirmation_seconds'), legend: 'p50' },
              { expr: quantile(0.99, 'quittance_confirmation_seconds'), legend: 'p99' },
            ],
          },
          {
            title: 'Time to redeem',
            about: 'How long vendors wait with the redeem.',
            unit: 's',
            queries: [
              { expr: quantile(0.5, 'quittance_redeem_latency_seconds'), legend: 'p50' },
              { expr: quantile(0.99, 'quittance_redeem_latency_seconds'), legend: 'p99' },
            ],
          },
        ],
      },
      {
        title: 'Under way',
        panels: [
          {
            title: 'Attempts',
            about: 'Reopened ones were confirmed and forked away.',
            unit: 'short',
            queries: one(greatest('quittance_attempts', 'state'), '{{state}}'),
          },
          {
            title: 'Age of the oldest attempt',
            about: 'PaymentStuck pages at two minutes of pending.',
            unit: 's',
            queries: one(greatest('quittance_attempts_oldest_age_seconds', 'state'), '{{state}}'),
          },
          {
            title: 'Held of wallets',
            about: 'What attempts under way may still take.',
            unit: 'micro_usdc',
            queries: one(greatest('quittance_held_micro_usdc')),
          },
          {
            title: 'Failures and anomalies',
            about: 'Failures are proven: no money moved. Of anomalies each one is a case to look at.',
            unit: 'reqps',
            queries: [
              { expr: rate('quittance_settlement_failures_total', 'error_code'), legend: '{{error_code}}' },
              { expr: rate('quittance_anomalies_total', 'kind'), legend: 'anomaly {{kind}}' },
              {
                expr: rate('quittance_redispatches_total', 'service_name'),
                legend: 'redriven by {{service_name}}',
              },
            ],
          },
        ],
      },
    ],
  },
  {
    uid: 'quittance-chain',
    title: 'Quittance / Chain',
    rows: [
      {
        title: 'Intents and transactions',
        panels: [
          {
            title: 'Intents',
            about: 'Work of the submitter by kind and state.',
            unit: 'short',
            queries: one(greatest('quittance_intents', 'kind, state'), '{{kind}} {{state}}'),
          },
          {
            title: 'Age of the oldest intent',
            about: 'Accepted work should be signed within a second; WorkNotSigned pages after a minute.',
            unit: 's',
            queries: one(greatest('quittance_intents_oldest_age_seconds', 'state'), '{{state}}'),
          },
          {
            title: 'Transactions',
            about:
              'Signed again after a proof of expiry: the chain does not take them. Found: after a record was lost.',
            unit: 'reqps',
            queries: [
              { expr: rate('quittance_chain_generations_total', 'generation'), legend: '{{generation}}' },
              { expr: rate('quittance_chain_forks_total'), legend: 'forked away' },
            ],
          },
          {
            title: 'Proofs of expiry',
            about: 'Unanswered: a provider is silent and holds up what has expired.',
            unit: 'reqps',
            queries: one(rate('quittance_chain_expiry_proofs_total', 'outcome'), '{{outcome}}'),
          },
        ],
      },
      {
        title: 'Providers',
        panels: [
          {
            title: 'Calls',
            about: 'A provider is its number in SOLANA_RPC_URLS.',
            unit: 'reqps',
            queries: one(
              rate('quittance_rpc_call_duration_seconds_count', 'provider, rpc_method'),
              '{{provider}} {{rpc_method}}',
            ),
          },
          {
            title: 'Calls that failed',
            about: 'Unavailable: no answer, or none that can be understood. Refused: understood and refused.',
            unit: 'reqps',
            queries: one(
              rate('quittance_rpc_call_duration_seconds_count', 'provider, error_type', 'error_type!="none"'),
              '{{provider}} {{error_type}}',
            ),
          },
          {
            title: 'Latency p99',
            about: 'By provider and method.',
            unit: 's',
            queries: one(
              quantile(0.99, 'quittance_rpc_call_duration_seconds', 'provider, rpc_method'),
              '{{provider}} {{rpc_method}}',
            ),
          },
        ],
      },
      {
        title: 'Purse and brakes',
        panels: [
          {
            title: 'Fee payer',
            about: 'FeePayerLow pages below 1 SOL.',
            unit: 'sol',
            stat: true,
            queries: one(`min (quittance_fee_payer_lamports{${ENV}}) / 1e9`),
          },
          {
            title: 'Caps used',
            about: 'At 1 payments wait for the next period.',
            unit: 'percentunit',
            queries: one(greatest('quittance_cap_used_ratio', 'cap'), '{{cap}}'),
          },
          {
            title: 'Lamport budgets used',
            about: 'Of the UTC day. At 1 new work of this kind is refused.',
            unit: 'percentunit',
            queries: one(greatest('quittance_budget_used_ratio', 'budget'), '{{budget}}'),
          },
          {
            title: 'Signing paused',
            about: '1 while the operator’s pause stands.',
            unit: 'bool',
            stat: true,
            queries: one(greatest('quittance_signing_paused')),
          },
        ],
      },
    ],
  },
  {
    uid: 'quittance-plumbing',
    title: 'Quittance / Queues and dependencies',
    rows: [
      {
        title: 'Backlog',
        panels: [
          {
            title: 'Outbox',
            about: 'Committed and not yet published. OutboxBlocked pages at 30 s.',
            unit: 's',
            queries: one(greatest('quittance_outbox_oldest_age_seconds', 'service_name'), '{{service_name}}'),
          },
          {
            title: 'Outbox messages',
            about: 'Counted up to 10,000.',
            unit: 'short',
            queries: one(greatest('quittance_outbox_messages', 'service_name'), '{{service_name}}'),
          },
          {
            title: 'Messages worked on',
            about: 'Jobs and facts, by subject.',
            unit: 'reqps',
            queries: one(
              rate(
                'quittance_message_process_duration_seconds_count',
                'messaging_destination_name',
                'messaging_destination_name=~"job.*|evt.*"',
              ),
              '{{messaging_destination_name}}',
            ),
          },
          {
            title: 'Quarantine and mails',
            about: 'Messages that nobody could parse, and mails that the server does not take.',
            unit: 'short',
            queries: [
              {
                expr: greatest('quittance_quarantine_messages', 'service_name'),
                legend: 'quarantine {{service_name}}',
              },
              { expr: greatest('quittance_mails_queued'), legend: 'mails' },
            ],
          },
        ],
      },
      {
        title: 'Postgres and NATS',
        panels: [
          {
            title: 'Statements p99',
            about: 'The wait for a connection is not in it.',
            unit: 's',
            queries: one(
              quantile(0.99, 'quittance_db_operation_duration_seconds', 'service_name'),
              '{{service_name}}',
            ),
          },
          {
            title: 'The ten dearest statements',
            about: 'Seconds of Postgres a second.',
            unit: 'short',
            queries: one(
              `topk(10, ${rate('quittance_db_operation_duration_seconds_sum', 'service_name, db_query_summary')})`,
              '{{service_name}} {{db_query_summary}}',
            ),
          },
          {
            title: 'Requests between services p99',
            about: 'As the caller sees it.',
            unit: 's',
            queries: one(
              quantile(0.99, 'quittance_bus_operation_duration_seconds', 'messaging_destination_name'),
              '{{messaging_destination_name}}',
            ),
          },
          {
            title: 'Requests that failed',
            about: 'service_unavailable: nobody answered in time.',
            unit: 'reqps',
            queries: one(
              rate(
                'quittance_bus_operation_duration_seconds_count',
                'service_name, error_type',
                'error_type!="none"',
              ),
              '{{service_name}} {{error_type}}',
            ),
          },
        ],
      },
      {
        title: 'Jobs',
        panels: [
          {
            title: 'Runs that failed',
            about: 'Of the jobs that go by the clock.',
            unit: 'reqps',
            queries: one(
              rate('quittance_job_runs_total', 'service_name, task', 'outcome="error"'),
              '{{service_name}} {{task}}',
            ),
          },
          {
            title: 'Readings that failed',
            about: '0: this collector could not read its gauges from the record.',
            unit: 'bool',
            queries: one(
              `min by (service_name, collector) (quittance_gauge_collector_up{${ENV}})`,
              '{{service_name}} {{collector}}',
            ),
          },
        ],
      },
    ],
  },
  {
    uid: 'quittance-edge',
    title: 'Quittance / Gateway',
    rows: [
      {
        title: 'Calls',
        panels: [
          {
            title: 'Calls by route',
            about: 'Every answer of the public API.',
            unit: 'reqps',
            queries: one(
              rate('quittance_http_request_duration_seconds_count', 'http_route'),
              '{{http_route}}',
            ),
          },
          {
            title: 'Answers by status',
            about: '5xx are ours; 402, 409, 410 and 429 are told to the caller with what is safe to do.',
            unit: 'reqps',
            queries: one(
              rate('quittance_http_request_duration_seconds_count', 'http_response_status_code'),
              '{{http_response_status_code}}',
            ),
          },
          {
            title: 'Latency p99 by route',
            about: 'A settle waits for the chain.',
            unit: 's',
            queries: one(
              quantile(0.99, 'quittance_http_request_duration_seconds', 'http_route'),
              '{{http_route}}',
            ),
          },
          {
            title: 'Settles answered 5xx',
            about: 'The objective is one in 1,000 over a month; SettleBudgetFast pages at 14.4 times that.',
            unit: 'percentunit',
            queries: one(
              `${rate('quittance_http_request_duration_seconds_count', '', 'http_route="/v1/settle",http_response_status_code=~"5.."')} / ${rate('quittance_http_request_duration_seconds_count', '', 'http_route="/v1/settle"')}`,
            ),
          },
        ],
      },
      {
        title: 'Limits and repeats',
        panels: [
          {
            title: 'Refused by a limit',
            about: 'By route. Limits of an account can be raised by operators.',
            unit: 'reqps',
            queries: one(rate('quittance_rate_limited_total', 'http_route'), '{{http_route}}'),
          },
          {
            title: 'Repeats answered from their row',
            about: 'Many of them: callers time out, or a client repeats without need.',
            unit: 'reqps',
            queries: one(rate('quittance_idempotent_replays_total', 'operation'), '{{operation}}'),
          },
        ],
      },
    ],
  },
];
