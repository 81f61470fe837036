/**
 * Grafana's dashboards, declared in a short form that grafana.ts writes out. Queries use only
 * metrics of the catalog (test/alerts.test.ts checks them).
 */
type Query = { expr: string; legend?: string };
export type Panel = {
  title: string;
  /** What an operator needs to understand the panel. */
  about: string;
  unit: 'short' | 's' | 'percentunit' | 'reqps' | 'micro_usdc' | 'sol' | 'bool';
  queries: readonly Query[];
  /** A single figure instead of a curve. */
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
            about: 'The outcomes of quotes. Settlements that are accepted but not issued are open or failed.',
            unit: 'reqps',
            queries: [
              { expr: rate('quittance_quotes_total'), legend: 'quoted' },
              { expr: rate('quittance_declines_total'), legend: 'declined' },
              { expr: rate('quittance_settlements_total', 'outcome'), legend: '{{outcome}}' },
              { expr: rate('quittance_redeem_latency_seconds_count'), legend: 'redeemed' },
              { expr: rate('quittance_expired_unredeemed_total'), legend: 'expired unredeemed' },
            ],
          },
          {
            title: 'Settled',
            about: 'Gross amount of issued settlements per second.',
            unit: 'micro_usdc',
            queries: [
              { expr: rate('quittance_settled_micro_usdc_total'), legend: 'settled' },
              { expr: rate('quittance_fees_micro_usdc_total'), legend: 'fees' },
            ],
          },
          {
            title: 'Time to confirm',
            about: 'From acceptance to the issued settlement. Above 15 s callers get 202.',
            unit: 's',
            queries: [
              { expr: quantile(0.5, 'quittance_confirmation_seconds'), legend: 'p50' },
              { expr: quantile(0.99, 'quittance_confirmation_seconds'), legend: 'p99' },
            ],
          },
          {
            title: 'Time to redeem',
            about: 'From the issued settlement to the vendor’s redeem.',
            unit: 's',
            queries: [
              { expr: quantile(0.5, 'quittance_redeem_latency_seconds'), legend: 'p50' },
              { expr: quantile(0.99, 'quittance_redeem_latency_seconds'), legend: 'p99' },
            ],
          },
        ],
      },
      {
        title: 'Open payments',
        panels: [
          {
            title: 'Attempts',
            about: 'Reopened attempts were confirmed and then removed by a fork.',
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
            title: 'Reserved in wallets',
            about: 'Amounts that open attempts may still move.',
            unit: 'micro_usdc',
            queries: one(greatest('quittance_held_micro_usdc')),
          },
          {
            title: 'Failures and anomalies',
            about: 'Failures are proven: no money moved. Investigate each anomaly.',
            unit: 'reqps',
            queries: [
              { expr: rate('quittance_settlement_failures_total', 'error_code'), legend: '{{error_code}}' },
              { expr: rate('quittance_anomalies_total', 'kind'), legend: 'anomaly {{kind}}' },
              {
                expr: rate('quittance_redispatches_total', 'service_name'),
                legend: 'redispatched by {{service_name}}',
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
            about: 'Work of chain-submitter by kind and state.',
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
              'Signed again after a proof of expiry: the chain does not include them. Found: after a record was lost.',
            unit: 'reqps',
            queries: [
              { expr: rate('quittance_chain_generations_total', 'generation'), legend: '{{generation}}' },
              { expr: rate('quittance_chain_forks_total'), legend: 'removed by forks' },
            ],
          },
          {
            title: 'Proofs of expiry',
            about: 'Unanswered: a provider does not answer and delays expired payments.',
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
            about: 'A provider is shown by its number in SOLANA_RPC_URLS.',
            unit: 'reqps',
            queries: one(
              rate('quittance_rpc_call_duration_seconds_count', 'provider, rpc_method'),
              '{{provider}} {{rpc_method}}',
            ),
          },
          {
            title: 'Calls that failed',
            about: 'Unavailable: no answer, or an unreadable one. Refused: an error from the provider.',
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
        title: 'Fee payer, budgets and caps',
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
            about: 'At 1, payments wait for the next period.',
            unit: 'percentunit',
            queries: one(greatest('quittance_cap_used_ratio', 'cap'), '{{cap}}'),
          },
          {
            title: 'Lamport budgets used',
            about: 'Share of the UTC day’s budget. At 1, new work of this kind is refused.',
            unit: 'percentunit',
            queries: one(greatest('quittance_budget_used_ratio', 'budget'), '{{budget}}'),
          },
          {
            title: 'Signing paused',
            about: '1 while operators have paused signing.',
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
            about: 'Age of the oldest committed and unpublished message. OutboxBlocked pages at 30 s.',
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
            title: 'Messages processed',
            about: 'Jobs and events, by subject.',
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
            about: 'Messages that a service could not parse, and mails that the mail server does not accept.',
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
            about: 'Without the wait for a connection.',
            unit: 's',
            queries: one(
              quantile(0.99, 'quittance_db_operation_duration_seconds', 'service_name'),
              '{{service_name}}',
            ),
          },
          {
            title: 'The ten most expensive statements',
            about: 'Seconds of Postgres per second.',
            unit: 'short',
            queries: one(
              `topk(10, ${rate('quittance_db_operation_duration_seconds_sum', 'service_name, db_query_summary')})`,
              '{{service_name}} {{db_query_summary}}',
            ),
          },
          {
            title: 'Requests between services p99',
            about: 'Measured by the caller.',
            unit: 's',
            queries: one(
              quantile(0.99, 'quittance_bus_operation_duration_seconds', 'messaging_destination_name'),
              '{{messaging_destination_name}}',
            ),
          },
          {
            title: 'Requests that failed',
            about: 'service_unavailable: no service answered in time.',
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
            about: 'Failed runs of the scheduled jobs.',
            unit: 'reqps',
            queries: one(
              rate('quittance_job_runs_total', 'service_name, task', 'outcome="error"'),
              '{{service_name}} {{task}}',
            ),
          },
          {
            title: 'Gauge collectors that failed',
            about: '0: this collector could not read its gauges from the database.',
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
            about: '5xx are errors of this system. 402, 409, 410 and 429 name the caller’s next safe step.',
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
            about: 'By route. Operators can raise the limits of an account.',
            unit: 'reqps',
            queries: one(rate('quittance_rate_limited_total', 'http_route'), '{{http_route}}'),
          },
          {
            title: 'Repeats answered from the record',
            about: 'Many repeats mean that callers time out or that a client repeats needlessly.',
            unit: 'reqps',
            queries: one(rate('quittance_idempotent_replays_total', 'operation'), '{{operation}}'),
          },
        ],
      },
    ],
  },
];
