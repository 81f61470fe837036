import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { CallRecord } from './call-log.ts';

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** The metrics of one gate, in the format of Prometheus. */
export const createMetrics = () => {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const calls = new Counter({
    name: 'quittance_gate_calls_total',
    help: 'Calls that have ended, by route, outcome and first digit of the status (0: none was sent)',
    labelNames: ['route', 'outcome', 'status'] as const,
    registers,
  });
  const seconds = new Histogram({
    name: 'quittance_gate_call_seconds',
    help: 'From the request to the end of its answer',
    labelNames: ['outcome'] as const,
    buckets: SECONDS,
    registers,
  });
  const faults = new Counter({
    name: 'quittance_gate_upstream_faults_total',
    help: 'Requests without a whole answer of the upstream, by reason. A paid one of them costs nothing',
    labelNames: ['reason'] as const,
    registers,
  });
  const open = new Gauge({
    name: 'quittance_gate_open_calls',
    help: 'Calls that have not ended, with upgraded connections',
    registers,
  });
  const reloads = new Counter({
    name: 'quittance_gate_reloads_total',
    help: 'Reloads of the settings, by result',
    labelNames: ['result'] as const,
    registers,
  });
  return {
    registry,
    begin: () => open.inc(),
    end: ({ route, outcome, status, reason }: CallRecord, ms: number): void => {
      open.dec();
      calls.inc({ route: route ?? 'none', outcome, status: `${Math.floor((status ?? 0) / 100)}` });
      seconds.observe({ outcome }, ms / 1000);
      if (reason?.startsWith('upstream_') === true) faults.inc({ reason });
    },
    reloaded: (result: 'ok' | 'failed') => reloads.inc({ result }),
  };
};
export type Metrics = ReturnType<typeof createMetrics>;
