import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';

/** A parser of foreign bytes, with inputs for it. */
export type Target = {
  name: string;
  inputs: fc.Arbitrary<unknown>;
  /**
   * Parses one input. It throws for a defect only: what the parser documents is caught here.
   */
  run: (input: unknown) => unknown;
  /** How many inputs it gets where others get one, because each is small. Default 1. */
  times?: number;
};

export const target = <T>(name: string, inputs: fc.Arbitrary<T>, run: (input: T) => unknown): Target => ({
  name,
  inputs,
  run: run as Target['run'],
});

// biome-ignore lint/suspicious/noExplicitAny: the constructors of errors have any parameters
type Kind = new (...args: any[]) => Error;

/** An error of Node's own has another constructor than the tests of jest. */
const isOf = (kind: Kind, error: unknown): boolean =>
  error instanceof kind || (error as Error | null)?.name === kind.name;

/** Runs a parser. Its documented errors give null. */
export const refusing = <T>(kinds: readonly Kind[], parse: () => T): T | null => {
  try {
    return parse();
  } catch (error) {
    if (kinds.some((kind) => isOf(kind, error))) return null;
    throw error;
  }
};
export const refusingAsync = async <T>(
  kinds: readonly Kind[],
  parse: () => Promise<T>,
): Promise<T | null> => {
  try {
    return await parse();
  } catch (error) {
    if (kinds.some((kind) => isOf(kind, error))) return null;
    throw error;
  }
};

/** @throws Error with the message if something does not hold */
export const hold = (condition: boolean, message: string): void => {
  if (!condition) throw new Error(message);
};

/** The slowest answer of a target, of an input that was measured again. */
type Slowest = { ms: number; input: unknown };
export type Outcome = { runs: number; failure: string | null; slowest: Slowest };

const REPEATS = 3;
const YIELD_AFTER = 100;

/** CPU time, because other programs use the machine at the same time. No parser waits. */
const durationOf = async ({ run }: Target, input: unknown): Promise<number> => {
  const before = process.cpuUsage();
  await run(input);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
};

/** Without what a pause of the collector adds: the shortest of some repeats. */
const measuredAgain = async (target: Target, { ms, input }: Slowest): Promise<Slowest> => {
  let shortest = ms;
  for (let i = 0; i < REPEATS; i += 1) shortest = Math.min(shortest, await durationOf(target, input));
  return { ms: shortest, input };
};

/** Runs a target with inputs of a seed. A failure is shrunk to a small input. */
export const runTarget = async (
  target: Target,
  { runs, seed, onRun = () => undefined }: { runs: number; seed: number; onRun?: () => void },
): Promise<Outcome> => {
  let slowest: Slowest = { ms: 0, input: undefined };
  let done = 0;
  const property = fc.asyncProperty(target.inputs, async (input) => {
    onRun();
    // Timers and signals run between the inputs, too.
    if (++done % YIELD_AFTER === 0) await nextTurn();
    const ms = await durationOf(target, input);
    if (ms > slowest.ms)
      slowest = await measuredAgain(target, { ms, input }).then((again) =>
        again.ms > slowest.ms ? again : slowest,
      );
  });
  const numRuns = runs * (target.times ?? 1);
  const details = await fc.check(property, { numRuns, seed, verbose: false });
  const failure = details.failed ? ((await fc.asyncDefaultReportMessage(details)) ?? 'failed') : null;
  return { runs: details.numRuns, failure, slowest };
};
