import { setTimeout as sleep } from 'node:timers/promises';
import type { Access } from './access.ts';

/** Every accepted attempt is terminal this long after the faults ended. */
export const TERMINAL_MS = 120_000;
/** How many clients ask, and how many hands read, at a time. */
export const HANDS = 16;

/** Processes a list with a number of concurrent workers. */
export const inParallel = async <T, R>(
  list: readonly T[],
  hands: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> => {
  const results: R[] = [];
  let next = 0;
  const hand = async () => {
    for (let at = next++; at < list.length; at = next++) results[at] = await work(list[at]!);
  };
  await Promise.all(Array.from({ length: Math.min(hands, list.length) }, hand));
  return results;
};

export const until = async (deadline: number, done: () => Promise<boolean>): Promise<void> => {
  while (!(await done()) && Date.now() < deadline) await sleep(200);
};

export type Terminal = {
  /**
   * Payments that were accepted and not terminal when the faults ended, and how long afterwards
   * they were.
   */
  open: number;
  p50Ms: number;
  p99Ms: number;
  /** When the last piece of work was terminal; null: not in time. */
  allMs: number | null;
};

/** How long after the heal the payments that were open then became terminal. */
export const timesAfter = async (
  harness: Pick<Access, 'query'>,
  healedAt: number,
): Promise<Pick<Terminal, 'open' | 'p50Ms' | 'p99Ms'>> => {
  const rows = await harness.query<{ ms: number }>(
    `select (extract(epoch from progressed_at) * 1000)::float8 - $1 as ms from settlement.settlements
     where chain_status in ('finalized', 'failed') and progressed_at > to_timestamp($1 / 1000.0)
       and created_at < to_timestamp($1 / 1000.0)
     order by 1`,
    [healedAt],
  );
  const at = (share: number) => rows[Math.min(rows.length - 1, Math.floor(rows.length * share))]?.ms ?? 0;
  return { open: rows.length, p50Ms: at(0.5), p99Ms: at(0.99) };
};

/** The schemas with an outbox. */
const SCHEMAS = ['settlement', 'chain_submitter', 'quote', 'wallet', 'funding', 'identity', 'webhook'];

/**
 * Payments, refunds and the work behind them that are not terminal, and messages that are not
 * published. A refund that waits for its vendor's signature is no work of the platform.
 */
const openWork = async (harness: Pick<Access, 'query'>): Promise<number> => {
  const open = await Promise.all(
    [
      "settlement.settlements where status <> 'voided' and chain_status not in ('finalized', 'failed')",
      "funding.refunds where status not in ('pending_signature', 'finalized') and released_at is null",
      "chain_submitter.intents where status not in ('finalized', 'failed')",
      ...SCHEMAS.map((schema) => `${schema}.outbox`),
    ].map((rows) => harness.query<{ open: number }>(`select count(*)::int as open from ${rows}`)),
  );
  return open.flat().reduce((sum, { open }) => sum + open, 0);
};

/** @returns when nothing was open any more; null: not before the deadline */
export const endOfWork = async (harness: Pick<Access, 'query'>, deadline: number): Promise<number | null> => {
  let endedAt: number | null = null;
  await until(deadline, async () => {
    const left = await openWork(harness).catch(() => Number.NaN);
    if (left === 0) endedAt = Date.now();
    return left === 0;
  });
  return endedAt;
};
