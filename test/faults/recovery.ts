import { setTimeout as sleep } from 'node:timers/promises';
import type { Access } from './access.ts';
import type { Client } from './client.ts';
import type { Attempt, ClientLog } from './client-log.ts';
import type { Rng } from './rng.ts';

/** Every accepted attempt is terminal this long after the faults ended. */
export const TERMINAL_MS = 120_000;
const CLIENTS = 16;

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
const timesAfter = async (
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

/** Payments and the work behind them that are not terminal, and messages that are not published. */
export const openWork = async (harness: Pick<Access, 'query'>): Promise<number> => {
  const [row] = await harness.query<{ open: number }>(`
    select (select count(*) from settlement.settlements where chain_status not in ('finalized', 'failed'))::int
      + (select count(*) from chain_submitter.intents where status not in ('finalized', 'failed'))::int
      + (${SCHEMAS.map((schema) => `(select count(*) from ${schema}.outbox)`).join(' + ')})::int as open`);
  return row!.open;
};

/**
 * The faults are off. Every client queries each attempt until its state is known; most repeat the
 * call, the others have lost all but the id. Then everything must become terminal.
 */
export const recoveryPhase = async (
  harness: Pick<Access, 'query'>,
  {
    client,
    clientLog,
    rng,
    healedAt,
    terminalMs,
  }: { client: Client; clientLog: ClientLog; rng: Rng; healedAt: number; terminalMs: number },
): Promise<Terminal & { openAttempts: number }> => {
  const deadline = healedAt + terminalMs;
  const open = clientLog.attempts.filter(({ outcome }) => outcome === 'open');
  // A delegate cannot see another delegate's attempts, so a client with a borrowed id cannot query
  // by it.
  const forgetful = new Set(open.filter(({ isBorrowed }) => rng.chance(0.3) && !isBorrowed));

  const settled = async (attempt: Attempt) => {
    await client.settle(attempt);
    return attempt.outcome !== 'open';
  };
  const everyone = inParallel(
    open.filter((attempt) => !forgetful.has(attempt)),
    CLIENTS,
    (attempt) => until(deadline, () => settled(attempt)),
  ).then(() => inParallel([...forgetful], CLIENTS, (attempt) => until(deadline, () => client.find(attempt))));

  let terminalAt: number | null = null;
  const watch = until(deadline, async () => {
    const left = await openWork(harness).catch(() => Number.NaN);
    if (left !== 0) {
      terminalAt = null;
      return false;
    }
    terminalAt ??= Date.now();
    // A repeat may be accepted only now, and must become terminal too.
    return clientLog.attempts.every(({ outcome }) => outcome !== 'open');
  });
  await Promise.all([everyone, watch]);
  const times = await timesAfter(harness, healedAt);

  const paid = clientLog.attempts.filter(({ outcome, token }) => outcome === 'paid' && token !== null);
  // An attempt that was answered gets the same answer after all faults.
  await inParallel(rng.shuffle(paid).slice(0, 500), CLIENTS, (attempt) => client.settle(attempt));
  const unredeemed = paid.filter(
    ({ redeems }) => redeems.length > 0 && !redeems.some(({ status }) => status === 200),
  );
  await inParallel(unredeemed, CLIENTS, (attempt) =>
    until(Date.now() + 10_000, () => client.redeem(attempt, attempt.redeems[0]!.redeemId)),
  );
  return { openAttempts: open.length, ...times, allMs: terminalAt === null ? null : terminalAt - healedAt };
};
