import { z } from 'zod';
import type { Panel } from './panels.ts';

/** The pause between two readings of a local stack. */
export const SCRAPE_SECONDS = 5;
/** The points of a line. */
const POINTS = 180;
/** A rate needs four readings, as Grafana counts. */
const RATE_SECONDS = 4 * SCRAPE_SECONDS;

const Answer = z.object({
  data: z.object({
    result: z.array(
      z.object({
        metric: z.record(z.string(), z.string()),
        values: z.array(z.tuple([z.number(), z.string()])),
      }),
    ),
  }),
});

type Series = { label: string; values: (number | null)[] };
/** The lines of a panel: seconds, and a value of each line for each of them. */
export type Lines = { times: number[]; series: Series[] };

/** A query with the variables of a dashboard filled in. */
export const filledQuery = (expr: string): string =>
  expr
    .replaceAll('$environment', '.+')
    .replaceAll('$__rate_interval', `${RATE_SECONDS}s`)
    .replaceAll('$__range', '1h');

/** `{{name}}` of a legend with the labels of a line. */
const labelOf = (legend: string, metric: Record<string, string>): string =>
  legend.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => metric[name] ?? '').trim();

const spanOf = (minutes: number, now: number) => {
  const step = Math.max(SCRAPE_SECONDS, Math.ceil((minutes * 60) / POINTS));
  const end = Math.floor(now / 1000 / step) * step;
  const start = end - Math.ceil((minutes * 60) / step) * step;
  return { start, end, step };
};

/** Asks Prometheus for the lines of a panel. @throws Error if it does not answer */
export const queryPanel = async (
  prometheus: string,
  { targets }: Pick<Panel, 'targets'>,
  minutes: number,
  now = Date.now(),
): Promise<Lines> => {
  const { start, end, step } = spanOf(minutes, now);
  const times = Array.from({ length: (end - start) / step + 1 }, (_, index) => start + index * step);
  const found = await Promise.all(
    targets.map(async ({ expr, legendFormat }) => {
      const query = new URLSearchParams({
        query: filledQuery(expr),
        start: String(start),
        end: String(end),
        step: String(step),
      });
      const response = await fetch(`${prometheus}/api/v1/query_range`, { method: 'POST', body: query });
      if (!response.ok) throw new Error(`Prometheus refuses ${expr}: ${await response.text()}`);
      const { data } = Answer.parse(await response.json());
      return data.result.map(({ metric, values }): Series => {
        const byTime = new Map(values.map(([time, value]) => [time, Number(value)]));
        const finite = (value: number | undefined) =>
          value === undefined || !Number.isFinite(value) ? null : value;
        return {
          label: labelOf(legendFormat, metric),
          values: times.map((time) => finite(byTime.get(time))),
        };
      });
    }),
  );
  return { times, series: found.flat() };
};
