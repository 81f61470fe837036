import type { Report } from './report.ts';

export type Options = {
  /** Measured rounds of each side. */
  rounds: number;
  /** Length of a round; of the soak, of the whole. */
  seconds: number;
  /** Take CPU profiles of our services while their rounds are measured. */
  profile: boolean;
  /** Settlements in the tables, of growth. */
  sizes: readonly number[];
  /** Settles at once, of scale-out. */
  inFlight: number;
};

/** What a benchmark is given. */
export type Run = {
  name: string;
  options: Options;
  report: Report;
  /** Stops what was started, last first, when the benchmark is over, also when it failed. */
  defer: (stop: () => Promise<unknown>) => void;
  /** Ends a start that Ctrl-C met. */
  signal: AbortSignal;
};

export type Benchmark = { about: string; run: (run: Run) => Promise<void> };

/** A part of a benchmark that stops what it started before the next part begins. */
export const part = async <T>(run: Run, work: (run: Run) => Promise<T>): Promise<T> => {
  const stops: (() => Promise<unknown>)[] = [];
  const stopAll = async (): Promise<void> => {
    for (let stop = stops.pop(); stop !== undefined; stop = stops.pop()) await stop();
  };
  // Also when the part is left in the middle, by Ctrl-C.
  run.defer(stopAll);
  const result = await work({ ...run, defer: (stop) => void stops.push(stop) });
  await stopAll();
  return result;
};
