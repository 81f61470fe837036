import { type Dashboard, ENV, greatest, one, quantile, rate } from './dashboard.ts';

export const QUEUES: Dashboard = {
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
      title: 'Lanes',
      panels: [
        {
          title: 'Lanes of each replica',
          about:
            'As few replicas as the load needs own the 16 lanes of a service. The others stand by with 0.',
          unit: 'short',
          queries: one(
            greatest('quittance_lanes', 'service_name, instance'),
            '{{service_name}} {{instance}}',
          ),
        },
        {
          title: 'Load of each replica',
          about: 'Part of a core that its process uses. Above 0.6 another replica takes half of the lanes.',
          unit: 'percentunit',
          queries: one(
            greatest('quittance_replica_load_ratio', 'service_name, instance'),
            '{{service_name}} {{instance}}',
          ),
        },
        {
          title: 'Moves and fallbacks',
          about:
            'Lanes that changed their owner, and what any replica or the stream got because no owner answered.',
          unit: 'reqps',
          queries: [
            { expr: rate('quittance_lanes_moved_total', 'service_name'), legend: 'moved, {{service_name}}' },
            {
              expr: rate('quittance_lane_fallbacks_total', 'to, kind'),
              legend: 'fallback, {{kind}} to {{to}}',
            },
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
};
