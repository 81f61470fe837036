/** A page of metrics as Prometheus reads it, and its values. */
export type Scraped = {
  text: string;
  /** Sum of the samples of this name with (at least) these labels; undefined without one. */
  value: (name: string, labels?: Record<string, string>) => number | undefined;
  /** Every label name and value on the page. */
  labels: () => [name: string, value: string][];
};

const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;

const labelsIn = (text: string | undefined): [string, string][] =>
  [...(text ?? '').matchAll(LABEL)].map(([, name, value]) => [name!, value!]);

/** Reads a Prometheus page. The time is bounded, as Prometheus bounds it. */
export const scrape = async (url: string, timeoutMs = 10_000): Promise<Scraped> => {
  const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) });
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  const text = await response.text();
  const samples = text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name, labels, value] = SAMPLE.exec(line) ?? [];
      if (name === undefined) throw new Error(`not a sample: ${line}`);
      return { name, labels: labelsIn(labels), value: Number(value) };
    });
  return {
    text,
    value: (name, labels = {}) => {
      const wanted = Object.entries(labels);
      const found = samples.filter(
        (sample) =>
          sample.name === name &&
          wanted.every(([label, value]) => sample.labels.some(([l, v]) => l === label && v === value)),
      );
      return found.length === 0 ? undefined : found.reduce((sum, sample) => sum + sample.value, 0);
    },
    labels: () => samples.flatMap((sample) => sample.labels),
  };
};
