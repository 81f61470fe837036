import type { Report } from './report.ts';

export type Options = {
  /** Measured rounds of each side. */
  rounds: number;
  /** Duration of a round; for the soak, of the whole benchmark. */
  seconds: number;
  /** Whether CPU profiles of our services are taken during the measured rounds. */
  profile: boolean;
  /** Whether the connections to NATS, Postgres and Redis are encrypted, as in `live`. */
  tls: boolean;
  /** For growth: the numbers of settlements in the tables. */
  sizes: readonly number[];
  /** For migrate: the number of settlements in the table. */
  rows: number;
  /** For scale-out: the number of simultaneous settles. */
  inFlight: number;
  /** Only these concurrencies; absent: those of the benchmark. */
  concurrencies?: readonly number[];
  /** For counts: the names of its scenarios; absent: all. */
  only?: readonly string[];
  /** For steady: payments a second. */
  rates: readonly number[];
  /** For counts and steady: whether the figures become those of the files in bench/. */
  write: boolean;
};

/** The input of a benchmark. */
export type Run = {
  name: string;
  options: Options;
  report: Report;
  /**
   * Stops what was started, in reverse order, at the end of the benchmark, also after a failure.
   */
  defer: (stop: () => Promise<unknown>) => void;
  /** Aborts a start on Ctrl-C. */
  signal: AbortSignal;
};

export type Benchmark = { about: string; run: (run: Run) => Promise<void> };

/** A part of a benchmark that stops what it started before the next part begins. */
export const part = async <T>(run: Run, work: (run: Run) => Promise<T>): Promise<T> => {
  const stops: (() => Promise<unknown>)[] = [];
  const stopAll = async (): Promise<void> => {
    for (let stop = stops.pop(); stop !== undefined; stop = stops.pop()) await stop();
  };
  // Also if Ctrl-C ends the part early.
  run.defer(stopAll);
  const result = await work({ ...run, defer: (stop) => void stops.push(stop) });
  await stopAll();
  return result;
};
