import type { Alarms } from './alarm.ts';

/** Alarms about what carries the payments: tables, events, jobs, processes, mails, webhooks. */
export const PLUMBING = {
  OutboxBlocked: {
    severity: 'page',
    summary: 'Committed messages are not published',
    expr: 'max by (environment, service_name) (quittance_outbox_oldest_age_seconds) > 30',
    for: '1m',
    fires: {
      series: {
        'quittance_outbox_oldest_age_seconds{environment="test",service_name="quote"}': '31x20',
      },
      at: '10m',
      labels: { environment: 'test', service_name: 'quote' },
    },
    quiet: {
      series: {
        'quittance_outbox_oldest_age_seconds{environment="test",service_name="quote"}': '30x20',
      },
      at: '10m',
    },
  },
  EventStreamLost: {
    severity: 'ticket',
    summary: 'The stream lost events before a service had read them',
    expr: 'sum by (environment, service_name) (increase(quittance_event_stream_losses_total[15m])) > 0',
    fires: {
      series: {
        'quittance_event_stream_losses_total{environment="test",service_name="webhook"}': '0x5 1x20',
      },
      at: '15m',
      labels: { environment: 'test', service_name: 'webhook' },
    },
    quiet: {
      series: {
        'quittance_event_stream_losses_total{environment="test",service_name="webhook"}': '1x30',
      },
      at: '15m',
    },
  },
  EventsWaiting: {
    severity: 'ticket',
    summary: 'A service does not keep up with the stream of events',
    expr: 'max by (environment, service_name) (quittance_events_waiting) > 1000',
    for: '10m',
    fires: {
      series: {
        'quittance_events_waiting{environment="test",service_name="webhook"}': '1001x20',
      },
      at: '15m',
      labels: { environment: 'test', service_name: 'webhook' },
    },
    quiet: {
      series: {
        'quittance_events_waiting{environment="test",service_name="webhook"}': '1000x20',
      },
      at: '15m',
    },
  },
  EventStreamNearlyFull: {
    severity: 'ticket',
    summary: 'The stream of events is nearly full while a service is behind',
    expr: `
      max by (environment) (quittance_event_stream_used_ratio) > 0.8
        and max by (environment) (quittance_events_waiting) > 1000`,
    for: '5m',
    fires: {
      series: {
        'quittance_events_waiting{environment="test",service_name="webhook"}': '1001x20',
        'quittance_event_stream_used_ratio{environment="test",service_name="webhook"}': '0.81x20',
      },
      at: '15m',
      labels: { environment: 'test' },
    },
    quiet: {
      series: {
        'quittance_events_waiting{environment="test",service_name="webhook"}': '0x20',
        'quittance_event_stream_used_ratio{environment="test",service_name="webhook"}': '0.99x20',
      },
      at: '15m',
    },
  },
  ReadReplicaUnused: {
    severity: 'ticket',
    summary: 'Lists are answered by the primary because the read replica does not',
    expr: `
      sum by (environment, service_name) (rate(quittance_replica_reads_total{outcome!="answered"}[10m]))
        > 0.5 * sum by (environment, service_name) (rate(quittance_replica_reads_total[10m]))`,
    for: '10m',
    fires: {
      series: {
        'quittance_replica_reads_total{environment="test",service_name="wallet",outcome="answered"}':
          '0+4x40',
        'quittance_replica_reads_total{environment="test",service_name="wallet",outcome="avoided"}': '0+6x40',
      },
      at: '30m',
      labels: { environment: 'test', service_name: 'wallet' },
    },
    quiet: {
      series: {
        'quittance_replica_reads_total{environment="test",service_name="wallet",outcome="answered"}':
          '0+6x40',
        'quittance_replica_reads_total{environment="test",service_name="wallet",outcome="behind"}': '0+4x40',
      },
      at: '30m',
    },
  },
  MessageQuarantined: {
    severity: 'ticket',
    summary: 'A message could not be parsed and waits for a decision',
    expr: 'max by (environment, service_name) (quittance_quarantine_messages) > 0',
    fires: {
      series: {
        'quittance_quarantine_messages{environment="test",service_name="wallet"}': '1x20',
      },
      at: '10m',
      labels: { environment: 'test', service_name: 'wallet' },
    },
    quiet: {
      series: {
        'quittance_quarantine_messages{environment="test",service_name="wallet"}': '0x20',
      },
      at: '10m',
    },
  },
  JobFailing: {
    severity: 'page',
    summary: 'A scheduled job only fails',
    expr: `
      sum by (environment, service_name, task) (increase(quittance_job_runs_total{outcome="error"}[5m]))
        > 0
        unless sum by (environment, service_name, task) (increase(quittance_job_runs_total{outcome="ok"}[5m]))
        > 0`,
    for: '1m',
    fires: {
      series: {
        'quittance_job_runs_total{environment="test",service_name="wallet",task="watch",outcome="error"}':
          '0+1x20',
        'quittance_job_runs_total{environment="test",service_name="wallet",task="watch",outcome="ok"}':
          '5x20',
      },
      at: '10m',
      labels: { environment: 'test', service_name: 'wallet', task: 'watch' },
    },
    quiet: {
      series: {
        'quittance_job_runs_total{environment="test",service_name="wallet",task="watch",outcome="error"}':
          '0+1x20',
        'quittance_job_runs_total{environment="test",service_name="wallet",task="watch",outcome="ok"}':
          '0+1x20',
      },
      at: '10m',
    },
  },
  RecordUnreadable: {
    severity: 'page',
    summary: 'A service cannot read its tables for the metrics',
    expr: 'min by (environment, service_name, collector) (quittance_gauge_collector_up) == 0',
    for: '2m',
    fires: {
      series: {
        'quittance_gauge_collector_up{environment="test",service_name="wallet",collector="outbox"}': '0x20',
      },
      at: '10m',
      labels: { environment: 'test', service_name: 'wallet', collector: 'outbox' },
    },
    quiet: {
      series: {
        'quittance_gauge_collector_up{environment="test",service_name="wallet",collector="outbox"}': '1x20',
      },
      at: '10m',
    },
  },
  ProcessGone: {
    severity: 'page',
    summary: 'A process does not answer its scrape',
    expr: 'up{job="quittance"} == 0',
    for: '1m',
    fires: {
      series: {
        'up{job="quittance",instance="a"}': '1x2 0x20',
      },
      at: '10m',
      labels: { job: 'quittance', instance: 'a' },
    },
    quiet: {
      series: {
        'up{job="quittance",instance="a"}': '1x20',
      },
      at: '10m',
    },
  },
  MailsStuck: {
    severity: 'page',
    summary: 'The mail server does not accept sign-in mails',
    expr: 'max by (environment) (quittance_mails_oldest_age_seconds) > 180',
    for: '1m',
    fires: {
      series: {
        'quittance_mails_oldest_age_seconds{environment="test"}': '181x20',
      },
      at: '10m',
      labels: { environment: 'test' },
    },
    quiet: {
      series: {
        'quittance_mails_oldest_age_seconds{environment="test"}': '180x20',
      },
      at: '10m',
    },
  },
  WebhooksStuck: {
    severity: 'ticket',
    summary: 'Events are not sent to endpoints that work',
    expr: 'max by (environment) (quittance_webhook_oldest_due_age_seconds) > 300',
    for: '2m',
    fires: {
      series: {
        'quittance_webhook_oldest_due_age_seconds{environment="test"}': '301x20',
      },
      at: '10m',
      labels: { environment: 'test' },
    },
    quiet: {
      series: {
        'quittance_webhook_oldest_due_age_seconds{environment="test"}': '300x20',
      },
      at: '10m',
    },
  },
} as const satisfies Alarms;
