import type { Alarms } from './alarm.ts';

/** Alarms about payments and their confirmation. */
export const PAYMENTS = {
  PaymentStuck: {
    severity: 'page',
    summary: 'A payment has been pending for more than two minutes',
    expr: 'max by (environment) (quittance_attempts_oldest_age_seconds{state="pending"}) > 120',
    for: '1m',
    fires: {
      series: {
        'quittance_attempts_oldest_age_seconds{environment="test",state="pending"}': '0 60+60x20',
      },
      at: '10m',
      labels: { environment: 'test' },
    },
    quiet: {
      series: {
        'quittance_attempts_oldest_age_seconds{environment="test",state="pending"}': '0 60x20',
      },
      at: '10m',
    },
  },
  PaymentReopened: {
    severity: 'page',
    summary: 'A confirmed payment was removed by a fork and is not confirmed again',
    expr: 'max by (environment) (quittance_attempts{state="reopened"}) > 0',
    for: '3m',
    fires: {
      series: {
        'quittance_attempts{environment="test",state="reopened"}': '1x20',
      },
      at: '10m',
      labels: { environment: 'test' },
    },
    quiet: {
      series: {
        'quittance_attempts{environment="test",state="reopened"}': '1x1 0x20',
      },
      at: '10m',
    },
  },
  PaymentNotFinal: {
    severity: 'ticket',
    summary: 'A confirmed payment does not become final',
    expr: 'max by (environment) (quittance_attempts_oldest_age_seconds{state="confirmed"}) > 900',
    for: '1m',
    fires: {
      series: {
        'quittance_attempts_oldest_age_seconds{environment="test",state="confirmed"}': '901x20',
      },
      at: '10m',
      labels: { environment: 'test' },
    },
    quiet: {
      series: {
        'quittance_attempts_oldest_age_seconds{environment="test",state="confirmed"}': '900x20',
      },
      at: '10m',
    },
  },
  PaymentReversed: {
    severity: 'page',
    summary: 'An issued payment is permanently undone on chain',
    expr: 'sum by (environment) (increase(quittance_settlements_total{outcome="reversed"}[1h])) > 0',
    fires: {
      series: {
        'quittance_settlements_total{environment="test",outcome="reversed"}': '0x5 1x20',
      },
      at: '10m',
      labels: { environment: 'test' },
    },
    quiet: {
      series: {
        'quittance_settlements_total{environment="test",outcome="reversed"}': '1x20',
      },
      at: '10m',
    },
  },
  RecordContradicted: {
    severity: 'page',
    summary: 'The chain contradicts the recorded outcome of a payment',
    expr: 'sum by (environment) (increase(quittance_anomalies_total{kind="contradicted_record"}[1h])) > 0',
    fires: {
      series: {
        'quittance_anomalies_total{environment="test",kind="contradicted_record"}': '0x5 1x20',
      },
      at: '10m',
      labels: { environment: 'test' },
    },
    quiet: {
      series: {
        'quittance_anomalies_total{environment="test",kind="contradicted_record"}': '3x20',
      },
      at: '10m',
    },
  },
  BalanceMismatch: {
    severity: 'page',
    summary: 'A finalized transaction moved amounts that differ from its order',
    expr: 'sum by (environment) (increase(quittance_anomalies_total{kind="balance_mismatch"}[1h])) > 0',
    fires: {
      series: {
        'quittance_anomalies_total{environment="test",kind="balance_mismatch"}': '0x5 1x20',
      },
      at: '10m',
      labels: { environment: 'test' },
    },
    quiet: {
      series: {
        'quittance_anomalies_total{environment="test",kind="balance_mismatch"}': '3x20',
      },
      at: '10m',
    },
  },
  DepositProblem: {
    severity: 'ticket',
    summary: "A provider's report of a deposit differs from the deposit that arrived",
    expr: `
      sum by (environment, kind) (increase(quittance_anomalies_total{kind=~"deposit_problem|deposit_mismatch|deposit_paid_again"}[1h]))
        > 0`,
    fires: {
      series: {
        'quittance_anomalies_total{environment="test",kind="deposit_mismatch"}': '0x5 1x20',
      },
      at: '10m',
      labels: { environment: 'test', kind: 'deposit_mismatch' },
    },
    quiet: {
      series: {
        'quittance_anomalies_total{environment="test",kind="deposit_mismatch"}': '3x20',
      },
      at: '10m',
    },
  },
  RecordLost: {
    severity: 'page',
    summary: 'One service has a record of work that another service has lost',
    expr: `
      sum by (environment, kind) (increase(quittance_anomalies_total{kind=~"unknown_settlement|adopted|lost_record|work_under_another_id|work_of_another_amount"}[1h]))
        > 0`,
    fires: {
      series: {
        'quittance_anomalies_total{environment="test",kind="adopted"}': '0x5 1x20',
      },
      at: '10m',
      labels: { environment: 'test', kind: 'adopted' },
    },
    quiet: {
      series: {
        'quittance_anomalies_total{environment="test",kind="adopted"}': '3x20',
      },
      at: '10m',
    },
  },
  ExpiredIncluded: {
    severity: 'page',
    summary: 'A transaction that was proven expired is on the chain',
    expr: 'sum by (environment) (increase(quittance_anomalies_total{kind="expired_included"}[1h])) > 0',
    fires: {
      series: {
        'quittance_anomalies_total{environment="test",kind="expired_included"}': '0x5 1x20',
      },
      at: '10m',
      labels: { environment: 'test' },
    },
    quiet: {
      series: {
        'quittance_anomalies_total{environment="test",kind="expired_included"}': '3x20',
      },
      at: '10m',
    },
  },
  PaymentsFail: {
    severity: 'page',
    summary: 'More than one in twenty accepted payments fails',
    expr: `
      sum by (environment) (increase(quittance_settlement_failures_total{error_code="payment_failed"}[15m]))
        > 0.05
        * sum by (environment) (increase(quittance_settlements_total{outcome="accepted"}[15m]))
        and sum by (environment) (increase(quittance_settlement_failures_total{error_code="payment_failed"}[15m]))
        > 5`,
    fires: {
      series: {
        'quittance_settlement_failures_total{environment="test",error_code="payment_failed"}': '0+1x30',
        'quittance_settlements_total{environment="test",outcome="accepted"}': '0+10x30',
      },
      at: '20m',
      labels: { environment: 'test' },
    },
    quiet: {
      series: {
        'quittance_settlement_failures_total{environment="test",error_code="payment_failed"}': '0+1x30',
        'quittance_settlements_total{environment="test",outcome="accepted"}': '0+30x30',
      },
      at: '20m',
    },
  },
  DeclinesRise: {
    severity: 'ticket',
    summary: 'Payments are refused for one reason three times as often as in the last six hours',
    expr: `
      sum by (environment, reason) (rate(quittance_declines_total[10m])) > 3
        * sum by (environment, reason) (rate(quittance_declines_total[6h] offset 10m))
        and sum by (environment, reason) (rate(quittance_declines_total[10m])) > 1 / 60`,
    fires: {
      series: {
        'quittance_declines_total{environment="test",reason="balance"}': '0+1x380 384+4x20',
      },
      at: '395m',
      labels: { environment: 'test', reason: 'balance' },
    },
    quiet: {
      series: {
        'quittance_declines_total{environment="test",reason="balance"}': '0+2x400',
        'quittance_declines_total{environment="test",reason="daily"}': '0x385 1x15',
      },
      at: '395m',
    },
  },
  ConfirmationSlow: {
    severity: 'ticket',
    summary: 'One payment in a hundred takes longer than its caller waits',
    expr: `
      histogram_quantile(0.99, sum by (environment, le) (rate(quittance_confirmation_seconds_bucket[10m])))
        > 15`,
    for: '10m',
    fires: {
      series: {
        'quittance_confirmation_seconds_bucket{environment="test",le="15"}': '0+90x40',
        'quittance_confirmation_seconds_bucket{environment="test",le="30"}': '0+100x40',
        'quittance_confirmation_seconds_bucket{environment="test",le="+Inf"}': '0+100x40',
      },
      at: '30m',
      labels: { environment: 'test' },
    },
    quiet: {
      series: {
        'quittance_confirmation_seconds_bucket{environment="test",le="15"}': '0+100x40',
        'quittance_confirmation_seconds_bucket{environment="test",le="30"}': '0+100x40',
        'quittance_confirmation_seconds_bucket{environment="test",le="+Inf"}': '0+100x40',
      },
      at: '30m',
    },
  },
  PaymentsPaused: {
    severity: 'ticket',
    summary: 'Operators have paused payments for half an hour',
    expr: 'max by (environment) (quittance_intake_paused_seconds) > 1800',
    fires: {
      series: {
        'quittance_intake_paused_seconds{environment="test"}': '1801x20',
      },
      at: '10m',
      labels: { environment: 'test' },
    },
    quiet: {
      series: {
        'quittance_intake_paused_seconds{environment="test"}': '1800x20',
      },
      at: '10m',
    },
  },
  WorkRedispatched: {
    severity: 'ticket',
    summary: 'Work is dispatched repeatedly because it makes no progress',
    expr: 'sum by (environment, service_name) (increase(quittance_redispatches_total[10m])) > 10',
    fires: {
      series: {
        'quittance_redispatches_total{environment="test",service_name="settlement"}': '0+2x20',
      },
      at: '15m',
      labels: { environment: 'test', service_name: 'settlement' },
    },
    quiet: {
      series: {
        'quittance_redispatches_total{environment="test",service_name="settlement"}': '0+0.5x20',
      },
      at: '15m',
    },
  },
} as const satisfies Alarms;
