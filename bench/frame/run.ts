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
