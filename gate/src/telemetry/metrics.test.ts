import { expect, test } from '@jest/globals';
import { newRecord } from '../calls/gate.ts';
import { createMetrics } from './metrics.ts';

test('calls are counted, and their durations are in buckets that grow', async () => {
  const { registry, begin, end } = createMetrics();
  for (const ms of [0.5, 3, 700, 90_000]) {
    begin();
    end({ ...newRecord(), status: 200 }, ms);
  }
  begin();
  begin();
  end({ ...newRecord(), route: 'GET /a', outcome: 'paid', status: null, reason: 'upstream_broken' }, 1);
  const lines = (await registry.metrics()).split('\n').filter((line) => line.startsWith('quittance_gate_'));
  expect(lines).toEqual(
    expect.arrayContaining([
      'quittance_gate_calls_total{route="none",outcome="free",status="2"} 4',
      'quittance_gate_calls_total{route="GET /a",outcome="paid",status="0"} 1',
      'quittance_gate_call_seconds_bucket{outcome="free",le="0.001"} 1',
      'quittance_gate_call_seconds_bucket{outcome="free",le="0.005"} 2',
      'quittance_gate_call_seconds_bucket{outcome="free",le="1"} 3',
      'quittance_gate_call_seconds_bucket{outcome="free",le="+Inf"} 4',
      'quittance_gate_call_seconds_count{outcome="free"} 4',
      'quittance_gate_upstream_faults_total{reason="upstream_broken"} 1',
      'quittance_gate_open_calls 1',
    ]),
  );
  expect((await registry.metrics()).match(/calls_total\{route="none".*\} 4/g)).toHaveLength(1);
});
