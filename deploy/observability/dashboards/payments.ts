import { type Dashboard, greatest, one, quantile, rate } from './dashboard.ts';

export const PAYMENTS: Dashboard = {
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
};
