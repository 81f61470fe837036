type Query = { expr: string; legend?: string };
export type Panel = {
  title: string;
  /** What an operator needs to understand the panel. */
  about: string;
  unit: 'short' | 's' | 'percentunit' | 'reqps' | 'micro_usdc' | 'sol' | 'bool';
  queries: readonly Query[];
  /** A single figure instead of a curve. */
  stat?: boolean;
};
export type Dashboard = {
  uid: string;
  title: string;
  rows: readonly { title: string; panels: readonly Panel[] }[];
};

/** The environment that the reader chose. */
export const ENV = 'environment=~"$environment"';
/** The sum of a counter's rates. */
export const rate = (metric: string, by = '', labels = ''): string =>
  `sum${by && ` by (${by})`} (rate(${metric}{${ENV}${labels && `,${labels}`}}[$__rate_interval]))`;
/** The greatest of a gauge's values. */
export const greatest = (metric: string, by = '', labels = ''): string =>
  `max${by && ` by (${by})`} (${metric}{${ENV}${labels && `,${labels}`}})`;
/** A quantile of a histogram. */
export const quantile = (q: number, metric: string, by = '', labels = ''): string =>
  `histogram_quantile(${q}, ${rate(`${metric}_bucket`, by ? `le, ${by}` : 'le', labels)})`;
/** A panel with a single query. */
export const one = (expr: string, legend?: string): Query[] => [
  { expr, ...(legend === undefined ? {} : { legend }) },
];
