import { type Dashboard, ENV, greatest, one, quantile, rate } from './dashboard.ts';

export const CHAIN: Dashboard = {
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
};
