import { type Dashboard, one, quantile, rate } from './dashboard.ts';

export const GATEWAY: Dashboard = {
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
          queries: one(rate('quittance_http_request_duration_seconds_count', 'http_route'), '{{http_route}}'),
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
          title: 'Answered 5xx, by journey',
          about: 'The part of the calls. `docs/objectives.md` has what is allowed.',
          unit: 'percentunit',
          queries: one(
            `${rate('quittance_http_request_duration_seconds_count', 'journey', 'http_response_status_code=~"5.."')} / ${rate('quittance_http_request_duration_seconds_count', 'journey')}`,
            '{{journey}}',
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
};
