import { type Dashboard, ENV, one, quantile, rate } from './dashboard.ts';

/** How fast the misses of a month are used: at 1 they last for the month (docs/operations.md). */
const burn = (record: string, missesAllowed: number) =>
  ['1h', '6h'].map((window) => ({
    expr: `${record}:ratio_rate${window}{${ENV}} / ${missesAllowed}`,
    legend: `over ${window}`,
  }));

export const OBJECTIVES: Dashboard = {
  uid: 'quittance-objectives',
  title: 'Quittance / Objectives',
  rows: [
    {
      title: 'Budgets',
      panels: [
        {
          title: 'Settle errors, pace',
          about: 'The objective: 999 of 1,000 settles are not answered 5xx. At 1 the month just passes.',
          unit: 'short',
          queries: burn('environment:settle_errors', 0.001),
        },
        {
          title: 'Slow confirmations, pace',
          about: 'The objective: 99 of 100 payments are confirmed within 15 s. At 1 the month just passes.',
          unit: 'short',
          queries: burn('environment:slow_confirmations', 0.01),
        },
      ],
    },
    {
      title: 'As a customer sees it',
      panels: [
        {
          title: 'Synthetic payments',
          about: 'Payments of the job `synthetic` by outcome. Without `paid` the product does not work.',
          unit: 'reqps',
          queries: one(rate('quittance_synthetic_payments_total', 'outcome'), '{{outcome}}'),
        },
        {
          title: 'Duration of a synthetic payment',
          about: 'From the quote to the redeem, with the confirmation by the chain.',
          unit: 's',
          queries: one(
            quantile(0.5, 'quittance_synthetic_payment_duration_seconds', '', 'outcome="paid"'),
            'p50',
          ),
        },
        {
          title: 'Declines',
          about: 'Refused payments by reason. A change of rate raises DeclinesRise.',
          unit: 'reqps',
          queries: one(rate('quittance_declines_total', 'reason'), '{{reason}}'),
        },
      ],
    },
  ],
};
