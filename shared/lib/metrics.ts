import {
  type Attributes,
  metrics as api,
  type Counter,
  type Histogram,
  type ObservableGauge,
} from '@opentelemetry/api';
import type { BusUser } from '../contract/service.ts';
import type { Logger } from './logger.ts';
import { METRICS, type Metric, type MetricName } from './metrics-catalog.ts';

/**
 * Measuring by name: every metric is declared once in metrics-catalog.ts, with its labels. Until `startTelemetry`
 * (telemetry.ts) has started an exporter, all of this does nothing.
 */
type Of<Kind extends Metric['kind']> = {
  [N in MetricName]: (typeof METRICS)[N]['kind'] extends Kind ? N : never;
}[MetricName];

/** The labels of a metric: one of the listed values each, or any text where the catalog lists none. */
export type LabelsOf<N extends MetricName> = {
  [L in keyof (typeof METRICS)[N]['labels']]: (typeof METRICS)[N]['labels'][L] extends readonly (infer V)[]
    ? V
    : string;
};
type LabelArgs<N extends MetricName> = keyof LabelsOf<N> extends never ? [] : [labels: LabelsOf<N>];

const METER = 'quittance';
/** Every series of a process says whose it is; a gateway, which serves several environments, says it call by call. */
let common: Attributes = {};
const instruments = new Map<MetricName, unknown>();

// Made at first use: an instrument that was made before the SDK started would stay without effect for ever.
const instrument = <T>(name: MetricName, make: (options: { unit: string; description: string }) => T): T => {
  const known = instruments.get(name) as T | undefined;
  if (known !== undefined) return known;
  const { unit, about } = METRICS[name];
  const made = make({ unit, description: about });
  instruments.set(name, made);
  return made;
};

/** Counts what has happened: `count('settle.redrives', n)` or `count('settle.failures', 1, { error_code })`. */
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
export type Observation = {
  [N in Of<'gauge'>]: { metric: N; value: number; labels?: LabelsOf<N> };
}[Of<'gauge'>];

/** What is read anew at each scrape: one short statement, over an index. */
export type GaugeCollector = {
  name: string;
  metrics: readonly Of<'gauge'>[];
  collect: () => Promise<readonly Observation[]>;
};

/** A scrape waits no longer than this for a reading: of a Postgres that is gone it learns that, and at once. */
const READ_WITHIN_MS = 1000;

/**
 * Has gauges read at each scrape. A reading that fails or takes too long gives NaN that time, of which no alarm's
 * comparison holds (left out, the SDK would go on telling the last values), and says so in `settle.reading_up`; while one is still under way no second is begun, so scrapes never pile up on a sick server.
 */
export const registerGauges = (readings: readonly GaugeCollector[], logger: Logger): void => {
  const meter = api.getMeter(METER);
  const gauge = (name: Of<'gauge'>): ObservableGauge =>
    instrument(name, (options) => meter.createObservableGauge(name, options));
  for (const { name, metrics, collect: read } of readings) {
    let running: Promise<readonly Observation[] | null> | undefined;
    let last: readonly Observation[] = [];
    const begin = () =>
      read()
        .catch((error: unknown) => {
          logger.warn({ err: error, reading: name }, 'metrics could not be read');
          return null;
        })
        .finally(() => {
          running = undefined;
        });
    meter.addBatchObservableCallback(
      async (result) => {
        running ??= begin();
        const seen = await within(running, READ_WITHIN_MS);
        result.observe(gauge('settle.reading_up'), seen === null ? 0 : 1, { ...common, reading: name });
        last = seen ?? last.map((each) => ({ ...each, value: Number.NaN }));
        for (const { metric, value, labels } of last)
          result.observe(gauge(metric), value, { ...common, ...labels });
      },
      [gauge('settle.reading_up'), ...metrics.map(gauge)],
    );
  }
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
 * Says whose series these are, and shows the service's counters at zero: Prometheus sees no increase in a series
 * that appears with its first event, and for the alarms the first one counts.
 */
export const beginMetrics = (service: BusUser, environment: string | undefined): void => {
  common = { service_name: service, ...(environment === undefined ? {} : { environment }) };
  for (const name of Object.keys(METRICS) as MetricName[]) {
    const { kind, by, labels }: Metric = METRICS[name];
    if (kind !== 'counter' || !by.includes(service)) continue;
    const make = (options: object) => api.getMeter(METER).createCounter(name, options);
    for (const each of combinations(labels) ?? [])
      instrument<Counter>(name, make).add(0, { ...common, ...each });
  }
};
