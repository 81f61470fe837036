import type { DeprecatedUses as Answer } from '../../../shared/contract/deprecated.ts';
import type { Redis } from '../redis/connect.ts';

/**
 * Which accounts have called deprecated operations, and when last, so that an operator can tell
 * them before the operation goes. Like the request log it is a help and no record: it is written
 * after the answer, and has a gap while Redis is unavailable.
 */
export type DeprecatedUses = {
  /** Notes a call. It never waits and never fails. */
  add: (use: { environment: string; operation: string; accountId: string }) => void;
  /** The last uses of an environment, newest first. @throws Error while Redis is unavailable */
  list: (environment: string) => Promise<Answer>;
  /** Writes what waits. */
  stop: () => Promise<void>;
};

/** Pairs of operation and account in an environment: those that were used last. */
const KEPT_USES = 5_000;
/** An operation stays for six months at least. */
const KEPT_SECONDS = 400 * 24 * 3600;
const WRITE_WITHIN_MS = 1000;

const keyOf = (environment: string): string => `deprecated:${environment}`;

export const createDeprecatedUses = (redis: Redis): DeprecatedUses => {
  /** By environment: the time of each pair. */
  let waiting = new Map<string, Map<string, number>>();
  let timer: NodeJS.Timeout | undefined;

  const write = async (): Promise<void> => {
    timer = undefined;
    const taken = waiting;
    waiting = new Map();
    const commands = [...taken].flatMap(([environment, uses]): Promise<unknown>[] => {
      const key = keyOf(environment);
      return [
        redis.zadd(key, 'GT', ...[...uses].flatMap(([pair, at]) => [at, pair])),
        redis.zremrangebyrank(key, 0, -KEPT_USES - 1),
        redis.expire(key, KEPT_SECONDS),
      ];
    });
    // Lost, because it is no record. The connection has logged why.
    await Promise.all(commands).catch(() => undefined);
  };

  return {
    add: ({ environment, operation, accountId }) => {
      const uses = waiting.get(environment) ?? new Map<string, number>();
      uses.set(`${operation} ${accountId}`, Date.now());
      waiting.set(environment, uses);
      timer ??= setTimeout(write, WRITE_WITHIN_MS);
    },
    list: async (environment) => {
      const found = await redis.zrevrange(keyOf(environment), 0, -1, 'WITHSCORES');
      const uses: Answer['uses'] = [];
      for (let at = 0; at < found.length; at += 2) {
        const [operation, account_id] = found[at]!.split(' ') as [string, string];
        uses.push({ operation, account_id, last_used_at: new Date(Number(found[at + 1])).toISOString() });
      }
      return { uses };
    },
    stop: async () => {
      clearTimeout(timer);
      await write();
    },
  };
};
