import {
  type Attributes,
  metrics as api,
  type Counter,
  type Histogram,
  type ObservableGauge,
} from '@opentelemetry/api';
import type { Logger } from './logger.ts';
import type { Metric, Reporter } from './metric.ts';
import { METRICS, type MetricName } from './metrics-catalog.ts';
import { build } from './version.ts';

/**
 * Measurements by name. Every metric is declared in metrics-catalog.ts with its labels. Until
 * `startTelemetry` (telemetry.ts) has started an exporter, these functions do nothing.
 */
type Of<Kind extends Metric['kind']> = {
  [N in MetricName]: (typeof METRICS)[N]['kind'] extends Kind ? N : never;
}[MetricName];

/** The labels of a metric: one of the listed values, or any text if the catalog lists none. */
type LabelsOf<N extends MetricName> = {
  [L in keyof (typeof METRICS)[N]['labels']]: (typeof METRICS)[N]['labels'][L] extends readonly (infer V)[]
    ? V
    : string;
};
type LabelArgs<N extends MetricName> = keyof LabelsOf<N> extends never ? [] : [labels: LabelsOf<N>];

const METER = 'quittance';
/**
 * Labels of every series of this process. A gateway serves several environments, so it adds the
 * environment to each measurement.
 */
let common: Attributes = {};
const instruments = new Map<MetricName, unknown>();

// Created at first use, because an instrument that was created before the SDK started never has an
// effect.
const instrument = <T>(name: MetricName, make: (options: { unit: string; description: string }) => T): T => {
  const existing = instruments.get(name) as T | undefined;
  if (existing !== undefined) return existing;
  const { unit, description } = METRICS[name];
  const created = make({ unit, description });
  instruments.set(name, created);
  return created;
};

/** Adds to a counter: `count('quittance_settlement_failures_total', 1, { error_code })`. */
export const count = <N extends Of<'counter'>>(name: N, value: number, ...[labels]: LabelArgs<N>): void =>
  instrument<Counter>(name, (options) => api.getMeter(METER).createCounter(name, options)).add(value, {
    ...common,
    ...labels,
  });

/** Adds one value to a histogram, in the unit of the catalog. */
export const record = <N extends Of<'histogram'>>(
  name: N,
  value: number,
  ...[labels]: LabelArgs<N>
): void => {
  const { buckets } = METRICS[name];
  instrument<Histogram>(name, (options) =>
    api
      .getMeter(METER)
      .createHistogram(name, { ...options, advice: { explicitBucketBoundaries: [...buckets] } }),
  ).record(value, { ...common, ...labels });
};

/** Seconds since `performance.now()` was `startedAt`. */
export const secondsSince = (startedAt: number): number => (performance.now() - startedAt) / 1000;

/** One value of a gauge. */
type Observation = {
  [N in Of<'gauge'>]: { metric: N; value: number; labels?: LabelsOf<N> };
}[Of<'gauge'>];

/** Gauges that are read at each scrape, by one short statement over an index. */
export type GaugeCollector = {
  name: string;
  metrics: readonly Of<'gauge'>[];
  collect: () => Promise<readonly Observation[]>;
};

/** How long a scrape waits for a collector. */
const COLLECT_WITHIN_MS = 1000;

/**
 * The values of a collector, or null if they could not be read within the time. Runs at most once
 * at a time.
 */
const startCollector = ({ name, collect }: GaugeCollector, logger: Logger) => {
  let running: Promise<readonly Observation[] | null> | undefined;
  const begin = () =>
    collect()
      .catch((error: unknown) => {
        logger.warn({ err: error, collector: name }, 'gauges could not be read');
        return null;
      })
      .finally(() => {
        running = undefined;
      });
  return (): Promise<readonly Observation[] | null> => {
    running ??= begin();
    return within(running, COLLECT_WITHIN_MS);
  };
};

/** The gauges of a process at one moment. `failed`: the collectors that could not be read. */
export type GaugeValues = { values: readonly Observation[]; failed: readonly string[] };

/**
 * Has gauges read at each scrape. If a collector fails or takes too long, its gauges are NaN for
 * this scrape, and `quittance_gauge_collector_up` is 0. No comparison of an alarm holds for NaN;
 * without a value the SDK would repeat the last one. A second run does not start while one is open,
 * so scrapes do not pile up on an overloaded server.
 * @returns reads the same gauges in the same way for an operator, whether or not anything scrapes
 */
export const registerGauges = (
  collectors: readonly GaugeCollector[],
  logger: Logger,
): (() => Promise<GaugeValues>) => {
  const readers = collectors.map((collector) => ({ collector, collect: startCollector(collector, logger) }));
  const meter = api.getMeter(METER);
  const gauge = (name: Of<'gauge'>): ObservableGauge =>
    instrument(name, (options) => meter.createObservableGauge(name, options));
  const up = gauge('quittance_gauge_collector_up');
  for (const { collector, collect } of readers) {
    let last: readonly Observation[] = [];
    meter.addBatchObservableCallback(
      async (result) => {
        const observations = await collect();
        result.observe(up, observations === null ? 0 : 1, { ...common, collector: collector.name });
        last = observations ?? last.map((each) => ({ ...each, value: Number.NaN }));
        for (const { metric, value, labels } of last)
          result.observe(gauge(metric), value, { ...common, ...labels });
      },
      [up, ...collector.metrics.map(gauge)],
    );
  }
  return async () => {
    const read = await Promise.all(
      readers.map(async ({ collector, collect }) => ({ name: collector.name, values: await collect() })),
    );
    return {
      values: read.flatMap(({ values }) => values ?? []),
      failed: read.filter(({ values }) => values === null).map(({ name }) => name),
    };
  };
};

const within = <T>(work: Promise<T>, ms: number): Promise<T | null> => {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, ms, null);
  });
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer));
};

const combinations = (labels: Metric['labels']): Attributes[] | null =>
  Object.entries(labels).reduce<Attributes[] | null>(
    (all, [label, values]) =>
      all === null || values === null
        ? null
        : all.flatMap((attributes) => values.map((value) => ({ ...attributes, [label]: value }))),
    [{}],
  );

/**
 * Sets the labels of the process, reports its build, and initializes the service's counters to
 * zero: Prometheus sees no increase in a series that appears with its first event, and alarms must
 * count that event.
 */
export const beginMetrics = (service: Reporter, environment: string | undefined): void => {
  common = { service_name: service, ...(environment === undefined ? {} : { environment }) };
  for (const name of Object.keys(METRICS) as MetricName[]) {
    const { kind, by, labels }: Metric = METRICS[name];
    if (kind !== 'counter' || !by.includes(service)) continue;
    const make = (options: object) => api.getMeter(METER).createCounter(name, options);
    for (const each of combinations(labels) ?? [])
      instrument<Counter>(name, make).add(0, { ...common, ...each });
  }
  const info = 'quittance_build_info';
  instrument<ObservableGauge>(info, (options) =>
    api.getMeter(METER).createObservableGauge(info, options),
  ).addCallback((result) => result.observe(1, { ...common, ...build }));
};
