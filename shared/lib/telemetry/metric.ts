import type { BusUser } from '../../contract/service.ts';

/** A process that reports metrics: one of the product, or the job that makes synthetic payments. */
export type Reporter = BusUser | 'synthetic';

/** The declaration of a metric. metrics-catalog.ts lists all. */
export type Metric = {
  kind: 'counter' | 'gauge' | 'histogram';
  /** UCUM: `s`, `1`, or what is counted in braces. */
  unit: string;
  by: readonly Reporter[];
  /**
   * The values of each label. Null where another list limits them (contract, routes, error codes).
   */
  labels: Record<string, readonly string[] | null>;
  /** Upper bounds of a histogram. */
  buckets: readonly number[];
  description: string;
};

export const counter = <const L extends Metric['labels']>(
  unit: string,
  by: readonly Reporter[],
  labels: L,
  description: string,
) => ({ kind: 'counter', unit, by, labels, buckets: [] as readonly number[], description }) as const;
export const gauge = <const L extends Metric['labels']>(
  unit: string,
  by: readonly Reporter[],
  labels: L,
  description: string,
) => ({ kind: 'gauge', unit, by, labels, buckets: [] as readonly number[], description }) as const;
export const histogram = <const L extends Metric['labels']>(
  buckets: readonly number[],
  by: readonly Reporter[],
  labels: L,
  description: string,
) => ({ kind: 'histogram', unit: 's', by, labels, buckets, description }) as const;
