import { type Context, context } from '@opentelemetry/api';

/**
 * What one row of a shared statement may have done wrong: a value out of range (22), a constraint (23). A deadlock's victim
 * (40P01) and a lost serialization (40001) have changed nothing, and alone a row needs fewer locks.
 */
const OF_ONE_ROW = /^(22...|23...|40P01|40001)$/;
const MAX_CAUSES = 5;
const MAX_ITEMS = 100;

const mayBeOfOneRow = (error: unknown): boolean => {
  let current = error;
  for (let depth = 0; depth < MAX_CAUSES && current instanceof Error; depth += 1) {
    const { code } = current as { code?: unknown };
    if (typeof code === 'string' && OF_ONE_ROW.test(code)) return true;
    current = current.cause;
  }
  return false;
};

/**
 * Group commit: what is asked for in the same turn, or while a statement is under way, goes into one statement, so one
 * round trip and one commit for all of it. A lone item waits for nobody.
 *
 * A statement that fails by one of its rows is tried for each item alone, so that one caller's trouble is not another's; any
 * other failure is everybody's, since whether it was committed is unknown to all of them.
 * @param run one statement for all items; its results in their order
 * @param keyOf items of the same key never share a statement: it would see one row twice. They keep their order.
 * @param maxItems of one statement
 */
export const batched = <I, O>(
  run: (items: readonly I[]) => Promise<readonly O[]>,
  { keyOf, maxItems = MAX_ITEMS }: { keyOf?: (item: I) => string; maxItems?: number } = {},
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
      const key = keyOf?.(asked.item);
      (taken.length < maxItems && (key === undefined || !keys.has(key)) ? taken : left).push(asked);
      if (key !== undefined) keys.add(key);
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
      if (asked.length > 1 && mayBeOfOneRow(error)) for (const one of asked) await together([one]);
      else for (const { reject } of asked) reject(error);
    }
  };

  const work = async (): Promise<void> => {
    while (waiting.length > 0) await together(take());
    running = false;
  };

  return (item) =>
    new Promise<O>((resolve, reject) => {
      waiting.push({ item, of: context.active(), resolve, reject });
      if (running) return;
      running = true;
      // After what is ready in this turn: messages that arrived in one read of the socket are asked for one by one.
      process.nextTick(() => void work());
    });
};
