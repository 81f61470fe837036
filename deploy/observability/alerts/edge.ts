import type { Alarms } from './alarm.ts';

/** Alarms about the answers of the public API. */
export const EDGE = {
  OperationFailing: {
    severity: 'page',
    summary: 'Half of the calls of an operation are answered 5xx',
    expr: `
      sum by (environment, journey, http_request_method, http_route)
        (increase(quittance_http_request_duration_seconds_count{journey!="probe",http_response_status_code=~"5.."}[10m]))
        > 0.5 * sum by (environment, journey, http_request_method, http_route)
        (increase(quittance_http_request_duration_seconds_count{journey!="probe"}[10m]))
      and sum by (environment, journey, http_request_method, http_route)
        (increase(quittance_http_request_duration_seconds_count{journey!="probe",http_response_status_code=~"5.."}[10m])) > 4.5`,
    for: '1m',
    fires: {
      series: {
        'quittance_http_request_duration_seconds_count{environment="test",journey="deliver",http_request_method="POST",http_route="/v1/x402/settle",http_response_status_code="503"}':
          '0+1x40',
        // Its journey does not notice.
        'quittance_http_request_duration_seconds_count{environment="test",journey="deliver",http_request_method="POST",http_route="/v1/settlements/:settlement_id/redeem",http_response_status_code="200"}':
          '0+9000x40',
      },
      at: '30m',
      labels: {
        environment: 'test',
        journey: 'deliver',
        http_request_method: 'POST',
        http_route: '/v1/x402/settle',
      },
    },
    quiet: {
      series: {
        'quittance_http_request_duration_seconds_count{environment="test",journey="deliver",http_request_method="POST",http_route="/v1/x402/settle",http_response_status_code="503"}':
          '0+49x40',
        'quittance_http_request_duration_seconds_count{environment="test",journey="deliver",http_request_method="POST",http_route="/v1/x402/settle",http_response_status_code="200"}':
          '0+51x40',
      },
      at: '30m',
    },
    further: {
      'four failures of four': {
        series: {
          'quittance_http_request_duration_seconds_count{environment="test",journey="deliver",http_request_method="POST",http_route="/v1/x402/settle",http_response_status_code="503"}':
            '0x25 1 2 3 4x20',
        },
        at: '30m',
        labels: null,
      },
    },
  },
  InternalErrors: {
    severity: 'ticket',
    summary: 'A call was answered 500 because of a bug',
    expr: `
      sum by (environment) (increase(quittance_http_request_duration_seconds_count{http_response_status_code="500"}[15m]))
        > 0`,
    fires: {
      series: {
        'quittance_http_request_duration_seconds_count{environment="test",http_route="/v1/quote",http_response_status_code="500"}':
          '0x5 1x20',
      },
      at: '10m',
      labels: { environment: 'test' },
    },
    quiet: {
      series: {
        'quittance_http_request_duration_seconds_count{environment="test",http_route="/v1/quote",http_response_status_code="500"}':
          '1x20',
      },
      at: '10m',
    },
  },
  SyntheticPaymentFailing: {
    severity: 'page',
    summary: "The platform's own payments through the public API fail",
    expr: `
      sum by (environment) (increase(quittance_synthetic_payments_total{outcome!="paid"}[15m]))
        > 1
        unless sum by (environment) (increase(quittance_synthetic_payments_total{outcome="paid"}[15m]))
        > 0`,
    fires: {
      series: {
        'quittance_synthetic_payments_total{environment="test",outcome="settle_failed"}':
          '0 0 0 0 0 1x4 2x4 3x10',
        'quittance_synthetic_payments_total{environment="test",outcome="paid"}': '7x30',
      },
      at: '20m',
      labels: { environment: 'test' },
    },
    quiet: {
      series: {
        'quittance_synthetic_payments_total{environment="test",outcome="settle_failed"}':
          '0 0 0 0 0 1x4 2x4 3x10',
        'quittance_synthetic_payments_total{environment="test",outcome="paid"}': '7x15 8x15',
      },
      at: '20m',
    },
  },
} as const satisfies Alarms;
