import { type Context, context } from '@opentelemetry/api';
import { hasErrorCode } from '../lib/error-causes.ts';
import { count } from '../lib/telemetry/metrics.ts';

/**
 * Errors that one row of a shared statement can cause: a value out of range (22) or a constraint
 * violation (23). A deadlock (40P01) or a serialization failure (40001) has changed nothing, and a
 * single row needs fewer locks. A distributed engine refuses to lock rows of several nodes by one
 * statement (0A000), and locks those of one.
 */
const OF_ONE_ROW = /^(22...|23...|40P01|40001|0A000)$/;
const MAX_ITEMS = 100;
/**
 * Longer than the server's limit for a statement. A statement beyond it has lost its connection.
 */
const STATEMENT_TIMEOUT_MS = 15_000;

/** Waits for a statement until the time-out, so that a lost one does not block later ones. */
const waitFor = async (statement: Promise<void>): Promise<void> => {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, STATEMENT_TIMEOUT_MS).unref();
  });
  await Promise.race([statement, timeout]);
  clearTimeout(timer);
};

/**
 * Group commit: the items of one turn, and those that arrive while a statement runs, share one
 * statement with one round trip and one commit. A single item does not wait.
 *
 * If one row makes a statement fail, each item is tried alone, so that one caller's error does not
 * affect another caller. Any other error goes to all callers, because none of them knows whether
 * the statement was committed.
 * @param run one statement for all items; its results in their order
 * @param keysOf items with a common key never share a statement, because it would contain a row
 * twice. They keep their order
 * @param maxItems the maximum number of items of a statement
 */
export const batched = <I, O>(
  run: (items: readonly I[]) => Promise<readonly O[]>,
  {
    keysOf = () => [],
    maxItems = MAX_ITEMS,
  }: { keysOf?: (item: I) => readonly string[]; maxItems?: number } = {},
): ((item: I) => Promise<O>) => {
  type Entry = {
    item: I;
    /** The statement belongs to the trace of its first item. */
    traceContext: Context;
    resolve: (result: O) => void;
    reject: (error: unknown) => void;
  };
  let waiting: Entry[] = [];
  let running = false;

  const nextBatch = (): Entry[] => {
    const keys = new Set<string>();
    const batch: Entry[] = [];
    const deferred: Entry[] = [];
    for (const entry of waiting) {
      const own = keysOf(entry.item);
      const fits = batch.length < maxItems && !own.some((key) => keys.has(key));
      (fits ? batch : deferred).push(entry);
      for (const key of own) keys.add(key);
    }
    waiting = deferred;
    return batch;
  };

  const runBatch = async (batch: readonly Entry[]): Promise<void> => {
    try {
      const results = await context.with(batch[0]!.traceContext, () => run(batch.map(({ item }) => item)));
      if (results.length !== batch.length)
        throw new TypeError('the statement must return one result for each item, in their order');
      for (const [index, { resolve }] of batch.entries()) resolve(results[index]!);
    } catch (error) {
      if (batch.length > 1 && hasErrorCode(error, OF_ONE_ROW)) {
        count('quittance_split_statements_total', 1);
        for (const one of batch) await runBatch([one]);
      } else for (const { reject } of batch) reject(error);
    }
  };

  const work = async (): Promise<void> => {
    while (waiting.length > 0) await waitFor(runBatch(nextBatch()));
    running = false;
  };

  return (item) =>
    new Promise<O>((resolve, reject) => {
      waiting.push({ item, traceContext: context.active(), resolve, reject });
      if (running) return;
      running = true;
      // After the current turn, because messages that arrived in one read of the socket are handled
      // one by one.
      process.nextTick(() => void work());
    });
};
