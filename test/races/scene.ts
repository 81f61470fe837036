import { setTimeout as sleep } from 'node:timers/promises';
import { LAMPORTS_PER_SOL } from '@solana/web3.js';
import type pg from 'pg';
import { createApi, must } from '../../deploy/local/people/api.ts';
import {
  type Consumer,
  createConsumer,
  createDelegate,
  createVendor,
  type Quote,
  quoteOf,
  settleWith,
} from '../../deploy/local/people/people.ts';
import type { Stack } from '../../deploy/local/stack-file.ts';
import { chainOf } from '../support/chain.ts';
import { atOnce } from '../support/stack.ts';

export const RACERS = 64;
export const PRICE = 1_000_000n;
export const BALANCE = 100_000_000n;

/** What races run on: the public API of a stack, its chain, its database. */
export type Scene = Awaited<ReturnType<typeof openScene>>;

export const openScene = async (stack: Stack, database: pg.Pool) => {
  const api = createApi(stack.gateway_url);
  const chain = chainOf(stack.environments.test!);
  const vendor = await createVendor(api, stack, { price: PRICE });
  const buyerWith = (balance: bigint = BALANCE, allowance: bigint = BALANCE) =>
    createConsumer(api, stack, { balance, allowance });

  /** Repeats the same attempt until it is known what became of it. */
  const settleToTheEnd = async (
    { token }: { token: string },
    quote: Quote,
    id: string = crypto.randomUUID(),
  ) => {
    for (;;) {
      const answer = await settleWith(api, token, quote, id);
      if (answer.status !== 202 && answer.status !== 503) return answer;
      await sleep(50);
    }
  };

  /** Starts 64 settles and lets the work meet them halfway: some are signed, some accepted, some not there yet. */
  const settlesAgainst = async (buyer: Consumer, work: () => Promise<unknown>) => {
    const quotes = await atOnce(RACERS, () => quoteOf(api, vendor));
    // One before, so that the wallet's state is known and old.
    const first = await must(settleToTheEnd(buyer, await quoteOf(api, vendor)), 'settle');
    const [answers] = await Promise.all([
      atOnce(RACERS, async (i) => {
        await sleep(i * 15);
        return settleToTheEnd(buyer, quotes[i]!);
      }),
      sleep(RACERS * 5).then(work),
    ]);
    return { first, answers };
  };

  return {
    api,
    chain,
    vendor,
    buyerWith,
    /** A delegate of the buyer's, as one who settles. */
    delegateOf: async (buyer: Consumer, limits: Parameters<typeof createDelegate>[2]) => {
      const { delegate_id, api_key } = await createDelegate(api, buyer, limits);
      return { id: delegate_id, token: api_key };
    },
    settleToTheEnd,
    settlesAgainst,
    rows: async <Row extends pg.QueryResultRow>(sql: string, values: unknown[]): Promise<Row[]> =>
      (await database.query<Row>(sql, values)).rows,
    quotes: (count: number): Promise<Quote[]> => atOnce(count, () => quoteOf(api, vendor)),
    /** Lamports for an owner's own transactions. */
    lamportsFor: (buyer: Consumer) =>
      chain.connection.requestAirdrop(buyer.wallet.publicKey, LAMPORTS_PER_SOL),
  };
};
