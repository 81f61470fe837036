import { JOURNEY_NAMES, type JourneyName, OBJECTIVES as PROMISED } from '../alerts/objectives.ts';
import { type Dashboard, ENV, one, type Panel, quantile, rate } from './dashboard.ts';

const SERIES = 'environment, journey, objective';
const of = (journey: JourneyName, record: string, over = '') =>
  `max by (${SERIES}) (${over === '' ? `${record}{${ENV},journey="${journey}"}` : `sum_over_time(${record}{${ENV},journey="${journey}"}[${over}])`})`;
const ALLOWED = 'on (journey, objective) group_left max by (journey, objective) (objective:allowed:ratio)';

/** What was kept, what is left of the month's misses, and how fast they are used. */
const panelsOf = (journey: JourneyName): Panel[] => {
  const { objectives } = PROMISED[journey];
  const promises = objectives.map(({ name, of1000, promise }) => `${name}: ${of1000} of 1,000 ${promise}.`);
  return [
    {
      title: `${journey}: kept`,
      about: `In the last hour. ${promises.join(' ')}`,
      unit: 'percentunit',
      queries: one(
        `1 - ${of(journey, 'objective:misses:rate1h')} / ${of(journey, 'objective:all:rate1h')}`,
        '{{environment}} {{objective}}',
      ),
    },
    {
      title: `${journey}: left`,
      about: 'What is left of the misses of 30 days. Below 0 the objective is not met.',
      unit: 'percentunit',
      queries: one(
        `1 - ${of(journey, 'objective:misses:rate5m', '30d')} / ${of(journey, 'objective:all:rate5m', '30d')} / ${ALLOWED}`,
        '{{environment}} {{objective}}',
      ),
    },
    {
      title: `${journey}: pace`,
      about: 'How many times faster than allowed misses come. At 1 they last for the month; 14.4 pages.',
      unit: 'short',
      queries: one(of(journey, 'objective:burn:rate1h'), '{{environment}} {{objective}}'),
    },
  ];
};

export const OBJECTIVES: Dashboard = {
  uid: 'quittance-objectives',
  title: 'Quittance / Objectives',
  rows: [
    ...JOURNEY_NAMES.map((journey) => ({ title: PROMISED[journey].about, panels: panelsOf(journey) })),
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
