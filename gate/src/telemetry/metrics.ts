import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { CallRecord } from './call-log.ts';

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/**
 * Durations by outcome. Each call adds to two numbers, and labels are made when they are read: a
 * histogram of the library hashes its labels for each call, a sixth of what a free call costs.
 */
const createDurations = (registry: Registry) => {
  const [name, help] = ['quittance_gate_call_seconds', 'From the request to the end of its answer'];
  const byOutcome = new Map<string, { counts: number[]; sum: number }>();
  const valuesOf = (outcome: string, { counts, sum }: { counts: readonly number[]; sum: number }) => {
    let count = 0;
    const buckets = counts.map((more, at) => {
      count += more;
      return { metricName: `${name}_bucket`, labels: { outcome, le: SECONDS[at] ?? '+Inf' }, value: count };
    });
    const labels = { outcome };
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: sum },
      { metricName: `${name}_count`, labels, value: count },
    ];
  };
  const get = async () => ({
    name,
    help,
    type: 'histogram',
    aggregator: 'sum',
    values: [...byOutcome].flatMap(([outcome, durations]) => valuesOf(outcome, durations)),
  });
  // The registry reads nothing else of a metric.
  registry.registerMetric({ name, get } as never);
  return (outcome: string, seconds: number): void => {
    let durations = byOutcome.get(outcome);
    if (durations === undefined) {
      durations = { counts: new Array<number>(SECONDS.length + 1).fill(0), sum: 0 };
      byOutcome.set(outcome, durations);
    }
    const at = SECONDS.findIndex((most) => seconds <= most);
    durations.counts[at < 0 ? SECONDS.length : at]! += 1;
    durations.sum += seconds;
  };
};

/** Calls by route, outcome and status, with labels that are made when they are read. */
const createCounts = (registers: Registry[]) => {
  const counts = new Map<string, Map<string, number[]>>();
  new Counter({
    name: 'quittance_gate_calls_total',
    help: 'Calls that have ended, by route, outcome and first digit of the status (0: none was sent)',
    labelNames: ['route', 'outcome', 'status'] as const,
    registers,
    collect() {
      this.reset();
      for (const [route, outcomes] of counts)
        for (const [outcome, statuses] of outcomes)
          for (const [status, count] of statuses.entries())
            if (count > 0) this.inc({ route, outcome, status: String(status) }, count);
    },
  });
  return (route: string, outcome: string, status: number): void => {
    const outcomes = counts.get(route) ?? new Map<string, number[]>();
    const statuses = outcomes.get(outcome) ?? [0, 0, 0, 0, 0, 0];
    statuses[Math.floor(status / 100)]! += 1;
    outcomes.set(outcome, statuses);
    counts.set(route, outcomes);
  };
};

/** The metrics of one gate, in the format of Prometheus. */
export const createMetrics = () => {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const count = createCounts(registers);
  const took = createDurations(registry);
  const faults = new Counter({
    name: 'quittance_gate_upstream_faults_total',
    help: 'Requests without a whole answer of the upstream, by reason. A paid one of them costs nothing',
    labelNames: ['reason'] as const,
    registers,
  });
  let open = 0;
  new Gauge({
    name: 'quittance_gate_open_calls',
    help: 'Calls that have not ended, with upgraded connections',
    registers,
    collect() {
      this.set(open);
    },
  });
  const reloads = new Counter({
    name: 'quittance_gate_reloads_total',
    help: 'Reloads of the settings, by result',
    labelNames: ['result'] as const,
    registers,
  });
  return {
    registry,
    begin: (): void => {
      open += 1;
    },
    end: ({ route, outcome, status, reason }: CallRecord, ms: number): void => {
      open -= 1;
      count(route ?? 'none', outcome, status ?? 0);
      took(outcome, ms / 1000);
      if (reason?.startsWith('upstream_') === true) faults.inc({ reason });
    },
    reloaded: (result: 'ok' | 'failed') => reloads.inc({ result }),
  };
};
export type Metrics = ReturnType<typeof createMetrics>;
