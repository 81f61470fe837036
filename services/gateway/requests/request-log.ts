import type { z } from 'zod';
import type { ApiRequest } from '../../../shared/contract/gateway.ts';
import type { Redis } from '../redis/connect.ts';

/**
 * The newest calls of each account, for the people who build with the API. It is a help and no
 * record: it is written after the answer, in batches, and has a gap while Redis is unavailable. Two
 * streams for each account, so that many successes do not push out the few refusals.
 */
export type RequestLog = {
  /** Adds a call that was answered. It never waits and never fails. */
  add: (accountId: string, request: LoggedRequest) => void;
  /**
   * The calls before a place, newest first, each with its place.
   * @throws Error while Redis is unavailable
   */
  list: (
    accountId: string,
    page: { refused: boolean; before: string | null; limit: number },
  ) => Promise<{ place: string; request: LoggedRequest }[]>;
  /** Writes what waits. */
  stop: () => Promise<void>;
};
export type LoggedRequest = z.infer<typeof ApiRequest>;

/** Calls kept in each stream of an account: at most about 25 kB. */
const KEPT_CALLS = 100;
const KEPT_SECONDS = 7 * 24 * 3600;
/** Accounts with a log: those that called last. It bounds the memory, at 50 MB. */
const KEPT_ACCOUNTS = 1000;
const ACCOUNTS = 'requests:accounts';
const WRITE_WITHIN_MS = 250;

const keyOf = (accountId: string, refused: boolean): string =>
  `requests:${accountId}:${refused ? 'refused' : 'all'}`;

/** Adds calls to a stream by one command, because each command costs the gateway 20 to 40 µs. */
const APPEND = `
for i = 3, #ARGV do redis.call('XADD', KEYS[1], 'MAXLEN', ARGV[1], '*', 'request', ARGV[i]) end
redis.call('EXPIRE', KEYS[1], ARGV[2])`;

const isRefusal = ({ status }: LoggedRequest): boolean => status >= 400;

/** Calls that wait to be written: per stream the newest that it keeps. */
const createWaiting = () => {
  let streams = new Map<string, LoggedRequest[]>();
  let accounts = new Set<string>();
  const push = (key: string, request: LoggedRequest) => {
    const waiting = streams.get(key) ?? [];
    waiting.push(request);
    if (waiting.length > KEPT_CALLS) waiting.shift();
    streams.set(key, waiting);
  };
  return {
    add: (accountId: string, request: LoggedRequest) => {
      accounts.add(accountId);
      push(keyOf(accountId, false), request);
      if (isRefusal(request)) push(keyOf(accountId, true), request);
    },
    take: () => {
      const taken = { streams, accounts };
      streams = new Map();
      accounts = new Set();
      return taken;
    },
  };
};

/** Deletes the logs of the accounts that called longest ago, beyond the number that is kept. */
const trimAccounts = async (redis: Redis): Promise<void> => {
  const surplus = (await redis.zcard(ACCOUNTS)) - KEPT_ACCOUNTS;
  if (surplus <= 0) return;
  const popped = await redis.zpopmin(ACCOUNTS, surplus);
  const accounts = popped.filter((_, at) => at % 2 === 0);
  await redis.unlink(accounts.flatMap((id) => [keyOf(id, false), keyOf(id, true)]));
};

const writeTo = async (
  redis: Redis,
  { streams, accounts }: { streams: Map<string, LoggedRequest[]>; accounts: Set<string> },
): Promise<void> => {
  const now = Date.now();
  const commands: Promise<unknown>[] = [];
  for (const [key, requests] of streams) {
    const texts = requests.map((request) => JSON.stringify(request));
    commands.push(redis.eval(APPEND, 1, key, KEPT_CALLS, KEPT_SECONDS, ...texts));
  }
  commands.push(redis.zadd(ACCOUNTS, ...[...accounts].flatMap((id) => [now, id])));
  commands.push(redis.expire(ACCOUNTS, KEPT_SECONDS));
  await Promise.all(commands);
  await trimAccounts(redis);
};

export const createRequestLog = (redis: Redis): RequestLog => {
  const waiting = createWaiting();
  let timer: NodeJS.Timeout | undefined;
  const write = async () => {
    timer = undefined;
    const taken = waiting.take();
    if (taken.accounts.size === 0) return;
    // Lost, because the log is no record. The connection has logged why.
    await writeTo(redis, taken).catch(() => undefined);
  };

  return {
    add: (accountId, request) => {
      waiting.add(accountId, request);
      timer ??= setTimeout(write, WRITE_WITHIN_MS);
    },
    list: async (accountId, { refused, before, limit }) => {
      const end = before === null ? '+' : `(${before}`;
      const entries = await redis.xrevrange(keyOf(accountId, refused), end, '-', 'COUNT', limit);
      return entries.map(([place, fields]) => ({ place, request: JSON.parse(fields[1]!) as LoggedRequest }));
    },
    stop: async () => {
      clearTimeout(timer);
      await write();
    },
  };
};
