import { type Context, context } from '@opentelemetry/api';
import { hasErrorCode } from '../lib/error-causes.ts';

/**
 * What one row of a shared statement may have done wrong: a value out of range (22), a constraint
 * (23). A deadlock's victim (40P01) and a lost serialization (40001) have changed nothing, and
 * alone a row needs fewer locks.
 */
const OF_ONE_ROW = /^(22...|23...|40P01|40001)$/;
const MAX_ITEMS = 100;
/**
 * Longer than the server lets a statement run: what takes longer has lost its connection, and holds
 * up nobody else.
 */
const HELD_UP_MS = 15_000;

/** Waits for a statement, yet not for ever. */
const patiently = async (statement: Promise<void>): Promise<void> => {
  let timer: NodeJS.Timeout | undefined;
  const heldUp = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, HELD_UP_MS).unref();
  });
  await Promise.race([statement, heldUp]);
  clearTimeout(timer);
};

/**
 * Group commit: what is asked for in the same turn, or while a statement is under way, goes into
 * one statement, so one round trip and one commit for all of it. A lone item waits for nobody.
 *
 * A statement that fails by one of its rows is tried for each item alone, so that one caller's
 * trouble is not another's; any other failure is everybody's, since whether it was committed is
 * unknown to all of them.
 * @param run one statement for all items; its results in their order
 * @param keysOf items with a key in common never share a statement: it would see one row twice.
 *   They keep their order.
 * @param maxItems of one statement
 */
export const batched = <I, O>(
  run: (items: readonly I[]) => Promise<readonly O[]>,
  {
    keysOf = () => [],
    maxItems = MAX_ITEMS,
  }: { keysOf?: (item: I) => readonly string[]; maxItems?: number } = {},
): ((item: I) => Promise<O>) => {
  type Asked = {
    item: I;
    /** The trace of the statement is that of its first item. */
    of: Context;
    resolve: (result: O) => void;
    reject: (error: unknown) => void;
  };
  let waiting: Asked[] = [];
  let running = false;

  const take = (): Asked[] => {
    const keys = new Set<string>();
    const taken: Asked[] = [];
    const left: Asked[] = [];
    for (const asked of waiting) {
      const own = keysOf(asked.item);
      const isFree = taken.length < maxItems && !own.some((key) => keys.has(key));
      (isFree ? taken : left).push(asked);
      for (const key of own) keys.add(key);
    }
    waiting = left;
    return taken;
  };

  const together = async (asked: readonly Asked[]): Promise<void> => {
    try {
      const results = await context.with(asked[0]!.of, () => run(asked.map(({ item }) => item)));
      if (results.length !== asked.length) throw new TypeError('a result for each item, in their order');
      for (const [index, { resolve }] of asked.entries()) resolve(results[index]!);
    } catch (error) {
      if (asked.length > 1 && hasErrorCode(error, OF_ONE_ROW)) for (const one of asked) await together([one]);
      else for (const { reject } of asked) reject(error);
    }
  };

  const work = async (): Promise<void> => {
    while (waiting.length > 0) await patiently(together(take()));
    running = false;
  };

  return (item) =>
    new Promise<O>((resolve, reject) => {
      waiting.push({ item, of: context.active(), resolve, reject });
      if (running) return;
      running = true;
      // After what is ready in this turn: messages that arrived in one read of the socket are asked
      // for one by one.
      process.nextTick(() => void work());
    });
};
