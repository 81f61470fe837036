import type { Alarms } from './alarm.ts';

/** Alarms about the chain, its providers and the signer. */
export const CHAIN = {
  WorkNotSigned: {
    severity: 'page',
    summary: 'Accepted work has waited more than a minute for its signature',
    expr: 'max by (environment, kind) (quittance_intents_oldest_age_seconds{state="accepted"}) > 60',
    for: '1m',
    fires: {
      series: {
        'quittance_intents_oldest_age_seconds{environment="test",state="accepted",kind="settle"}': '61x20',
      },
      at: '10m',
      labels: { environment: 'test', kind: 'settle' },
    },
    quiet: {
      series: {
        'quittance_intents_oldest_age_seconds{environment="test",state="accepted",kind="settle"}': '60x20',
      },
      at: '10m',
    },
  },
  TransactionsExpire: {
    severity: 'ticket',
    summary: 'Transactions expire before they are included and are signed again',
    expr: `
      sum by (environment) (increase(quittance_chain_generations_total{generation="again"}[15m]))
        > 5`,
    fires: {
      series: {
        'quittance_chain_generations_total{environment="test",generation="again"}': '0+1x20',
      },
      at: '15m',
      labels: { environment: 'test' },
    },
    quiet: {
      series: {
        'quittance_chain_generations_total{environment="test",generation="again"}': '0+0.1x20',
      },
      at: '15m',
    },
  },
  ExpiryNotProven: {
    severity: 'page',
    summary: 'A provider that does not answer delays expired payments',
    expr: `
      sum by (environment) (increase(quittance_chain_expiry_proofs_total{outcome="unanswered"}[5m]))
        > 10`,
    fires: {
      series: {
        'quittance_chain_expiry_proofs_total{environment="test",outcome="unanswered"}': '0+4x20',
      },
      at: '10m',
      labels: { environment: 'test' },
    },
    quiet: {
      series: {
        'quittance_chain_expiry_proofs_total{environment="test",outcome="unanswered"}': '0+1x20',
      },
      at: '10m',
    },
  },
  ProviderForgets: {
    severity: 'ticket',
    summary: 'A provider denied transactions that another provider reports',
    expr: `
      sum by (environment) (increase(quittance_chain_expiry_proofs_total{outcome="refuted"}[15m]))
        > 3`,
    fires: {
      series: {
        'quittance_chain_expiry_proofs_total{environment="test",outcome="refuted"}': '0+1x20',
      },
      at: '15m',
      labels: { environment: 'test' },
    },
    quiet: {
      series: {
        'quittance_chain_expiry_proofs_total{environment="test",outcome="refuted"}': '0+0.1x20',
      },
      at: '15m',
    },
  },
  ProvidersDisagree: {
    severity: 'page',
    summary: 'Providers report different states of a payment and the payment waits',
    expr: 'sum by (environment) (increase(quittance_anomalies_total{kind="providers_disagree"}[10m])) > 0',
    fires: {
      series: {
        'quittance_anomalies_total{environment="test",kind="providers_disagree"}': '0x5 1x20',
      },
      at: '10m',
      labels: { environment: 'test' },
    },
    quiet: {
      series: {
        'quittance_anomalies_total{environment="test",kind="providers_disagree"}': '3x20',
      },
      at: '10m',
    },
  },
  ProviderFailing: {
    severity: 'ticket',
    summary: 'A provider leaves more than one call in five unanswered',
    expr: `
      sum by (environment, provider) (rate(quittance_rpc_call_duration_seconds_count{error_type="unavailable"}[5m]))
        > 0.2
        * sum by (environment, provider) (rate(quittance_rpc_call_duration_seconds_count[5m]))`,
    for: '5m',
    fires: {
      series: {
        'quittance_rpc_call_duration_seconds_count{environment="test",provider="1",error_type="unavailable"}':
          '0+30x20',
        'quittance_rpc_call_duration_seconds_count{environment="test",provider="1",error_type="none"}':
          '0+70x20',
      },
      at: '15m',
      labels: { environment: 'test', provider: '1' },
    },
    quiet: {
      series: {
        'quittance_rpc_call_duration_seconds_count{environment="test",provider="1",error_type="unavailable"}':
          '0+10x20',
        'quittance_rpc_call_duration_seconds_count{environment="test",provider="1",error_type="none"}':
          '0+90x20',
      },
      at: '15m',
    },
  },
  ChainUnreadable: {
    severity: 'page',
    summary: 'No provider answers',
    expr: `
      sum by (environment) (rate(quittance_rpc_call_duration_seconds_count{error_type="unavailable"}[2m]))
        > 0.9 * sum by (environment) (rate(quittance_rpc_call_duration_seconds_count[2m]))`,
    for: '1m',
    fires: {
      series: {
        'quittance_rpc_call_duration_seconds_count{environment="test",provider="1",error_type="unavailable"}':
          '0+95x20',
        'quittance_rpc_call_duration_seconds_count{environment="test",provider="1",error_type="none"}':
          '0+5x20',
      },
      at: '10m',
      labels: { environment: 'test' },
    },
    quiet: {
      series: {
        'quittance_rpc_call_duration_seconds_count{environment="test",provider="1",error_type="unavailable"}':
          '0+50x20',
        'quittance_rpc_call_duration_seconds_count{environment="test",provider="1",error_type="none"}':
          '0+50x20',
      },
      at: '10m',
    },
  },
  ForkSeen: {
    severity: 'ticket',
    summary: 'A confirmed transaction was removed by a fork',
    expr: 'sum by (environment) (increase(quittance_chain_forks_total[1h])) > 0',
    fires: {
      series: {
        'quittance_chain_forks_total{environment="test"}': '0x5 1x20',
      },
      at: '10m',
      labels: { environment: 'test' },
    },
    quiet: {
      series: {
        'quittance_chain_forks_total{environment="test"}': '1x20',
      },
      at: '10m',
    },
  },
  PolicyRefused: {
    severity: 'page',
    summary: 'The signer built a transaction that it may not sign',
    expr: 'sum by (environment) (increase(quittance_anomalies_total{kind="policy_refused"}[1h])) > 0',
    fires: {
      series: {
        'quittance_anomalies_total{environment="test",kind="policy_refused"}': '0x5 1x20',
      },
      at: '10m',
      labels: { environment: 'test' },
    },
    quiet: {
      series: {
        'quittance_anomalies_total{environment="test",kind="policy_refused"}': '1x20',
      },
      at: '10m',
    },
  },
  SigningPaused: {
    severity: 'page',
    summary: 'Operators have paused signing for ten minutes',
    expr: 'max by (environment) (quittance_signing_paused) == 1',
    for: '10m',
    fires: {
      series: {
        'quittance_signing_paused{environment="test"}': '1x20',
      },
      at: '15m',
      labels: { environment: 'test' },
    },
    quiet: {
      series: {
        'quittance_signing_paused{environment="test"}': '1x5 0x20',
      },
      at: '15m',
    },
  },
  CapNearlyUsed: {
    severity: 'page',
    summary: "Four fifths of the environment's hourly cap are used and payments will soon be refused",
    expr: `
      max by (environment, cap) (quittance_cap_used_ratio{cap=~"environment_hour|incoming_hour"})
        > 0.8`,
    fires: {
      series: {
        'quittance_cap_used_ratio{environment="test",cap="environment_hour"}': '0.81x20',
      },
      at: '10m',
      labels: { environment: 'test', cap: 'environment_hour' },
    },
    quiet: {
      series: {
        'quittance_cap_used_ratio{environment="test",cap="environment_hour"}': '0.8x20',
      },
      at: '10m',
    },
  },
  HourlyCapReached: {
    severity: 'ticket',
    summary: 'New payments are refused because an hourly cap is reached',
    expr: `
      sum by (environment, cap) (increase(quittance_cap_refusals_total{service_name="settlement"}[10m]))
        > 0`,
    fires: {
      series: {
        'quittance_cap_refusals_total{environment="test",service_name="settlement",cap="wallet"}': '0x5 1x20',
      },
      at: '10m',
      labels: { environment: 'test', cap: 'wallet' },
    },
    quiet: {
      series: {
        'quittance_cap_refusals_total{environment="test",service_name="settlement",cap="wallet"}': '3x20',
      },
      at: '10m',
    },
  },
  AcceptedOverCap: {
    severity: 'page',
    summary: 'The signer holds back payments that settlement should have refused',
    expr: `
      sum by (environment, cap) (increase(quittance_cap_refusals_total{service_name="chain-submitter",cap=~"wallet|account|environment"}[10m]))
        > 0`,
    fires: {
      series: {
        'quittance_cap_refusals_total{environment="test",service_name="chain-submitter",cap="environment"}':
          '0x5 1x20',
      },
      at: '10m',
      labels: { environment: 'test', cap: 'environment' },
    },
    quiet: {
      series: {
        'quittance_cap_refusals_total{environment="test",service_name="settlement",cap="environment"}':
          '0x5 1x20',
      },
      at: '10m',
    },
  },
  LamportBudgetNearlyUsed: {
    severity: 'page',
    summary: 'Four fifths of a daily lamport budget are reserved',
    expr: 'max by (environment, budget) (quittance_budget_used_ratio) > 0.8',
    fires: {
      series: {
        'quittance_budget_used_ratio{environment="test",budget="fees_user"}': '0.81x20',
      },
      at: '10m',
      labels: { environment: 'test', budget: 'fees_user' },
    },
    quiet: {
      series: {
        'quittance_budget_used_ratio{environment="test",budget="fees_user"}': '0.8x20',
      },
      at: '10m',
    },
  },
  LamportBudgetUsedUp: {
    severity: 'page',
    summary: 'Work is refused or waits because a daily lamport budget is used up',
    expr: `
      sum by (environment, budget) (increase(quittance_budget_refusals_total{dimension="environment"}[10m]))
        > 0`,
    fires: {
      series: {
        'quittance_budget_refusals_total{environment="test",budget="fees_user",dimension="environment"}':
          '0+1x20',
      },
      at: '10m',
      labels: { environment: 'test', budget: 'fees_user' },
    },
    quiet: {
      series: {
        'quittance_budget_refusals_total{environment="test",budget="fees_user",dimension="environment"}':
          '5x20',
      },
      at: '10m',
    },
  },
  AccountBudgetsUsedUp: {
    severity: 'ticket',
    summary: "Accounts have used up the platform's daily budgets for them",
    expr: `
      sum by (environment, budget) (increase(quittance_budget_refusals_total{dimension=~"account|vendor"}[1h]))
        > 100`,
    fires: {
      series: {
        'quittance_budget_refusals_total{environment="test",budget="fees_user",dimension="account"}':
          '0+3x70',
      },
      at: '65m',
      labels: { environment: 'test', budget: 'fees_user' },
    },
    quiet: {
      series: {
        'quittance_budget_refusals_total{environment="test",budget="fees_user",dimension="account"}':
          '0+1x70',
      },
      at: '65m',
    },
  },
  FeePayerLow: {
    severity: 'page',
    summary: 'The fee payer has less than 1 SOL',
    expr: 'min by (environment) (quittance_fee_payer_lamports) < 1e9',
    for: '5m',
    fires: {
      series: {
        'quittance_fee_payer_lamports{environment="test"}': '9e8x20',
      },
      at: '10m',
      labels: { environment: 'test' },
    },
    quiet: {
      series: {
        'quittance_fee_payer_lamports{environment="test"}': '1e9x20',
      },
      at: '10m',
    },
  },
  FeePayerRunsOut: {
    severity: 'ticket',
    summary: 'At the pace of three days the fee payer has less than 1 SOL within 14 days',
    expr: 'min by (environment) (predict_linear(quittance_fee_payer_lamports[3d], 1209600)) < 1e9',
    for: '1h',
    fires: {
      // 4.3 SOL a day of 20.
      series: { 'quittance_fee_payer_lamports{environment="test"}': '20000000000-3000000x4400' },
      at: '72h',
      labels: { environment: 'test' },
    },
    quiet: {
      // 0.6 SOL a day: 18.2 - 8.4 are left.
      series: { 'quittance_fee_payer_lamports{environment="test"}': '20000000000-420000x4400' },
      at: '72h',
    },
  },
} as const satisfies Alarms;
