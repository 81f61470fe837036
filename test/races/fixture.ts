import { setTimeout as sleep } from 'node:timers/promises';
import { Keypair, LAMPORTS_PER_SOL, VersionedTransaction } from '@solana/web3.js';
import type pg from 'pg';
import {
  type Consumer,
  createConsumer,
  createDelegate,
  createVendor,
  type Quote,
  quoteOf,
  settleWith,
} from '../../deploy/local/seed/actors.ts';
import { createApi, must } from '../../deploy/local/seed/api.ts';
import type { EveryDatabase } from '../../deploy/local/servers/every-database.ts';
import { networkOf } from '../../deploy/local/stack/networks.ts';
import type { Stack } from '../../deploy/local/stack/stack-file.ts';
import { payExternal } from '../support/actors/outgoing.ts';
import { type LedgerRow, type Refusal, refusalIn, untrueRefusals } from '../support/rules/refusals.ts';
import { chainOf } from '../support/servers/chain.ts';
import { atOnce } from '../support/servers/stack.ts';

export const RACERS = 64;
export const PRICE = 1_000_000n;
export const BALANCE = 100_000_000n;

/**
 * No fault pauses anything here: an acceptance is committed within milliseconds of its beginning.
 */
const RECORDED = `
  select settlement_id as "settlementId", account_id as "accountId", payment_attempt_id as "attemptId",
    quote_id as "quoteId", issued_at is not null as paid,
    (extract(epoch from created_at) * 1000)::float8 as "acceptedAt",
    case when chain_status = 'failed' then (extract(epoch from progressed_at) * 1000)::float8 end as "failedAt"
  from settlement.settlements where account_id = any($1)`;

/** The credential of a settle, and the account that pays with it. */
type Buyer = { token: string; accountId: string; causedByItself?: readonly string[] };

/** The fixture of the races: the public API of a stack, its chain, its database. */
export type Fixture = Awaited<ReturnType<typeof createFixture>>;

export const createFixture = async (stack: Stack, database: EveryDatabase) => {
  const api = createApi(stack.gateway_url);
  const chain = chainOf(stack.environments.test!);
  const vendor = await createVendor(api, stack, { price: PRICE });
  const buyerWith = async (balance: bigint = BALANCE, allowance: bigint = BALANCE) => {
    const buyer = await createConsumer(api, stack, { balance, allowance });
    return { ...buyer, accountId: buyer.signIn.account.account_id };
  };

  /** The refusals since the last comparison. */
  const refusals: Refusal[] = [];

  /** Calls once, and records the answer if it is a refusal. */
  const settle = async (
    { token, accountId, causedByItself = [] }: Buyer,
    quote: Quote,
    attemptId: string,
  ) => {
    const askedAt = Date.now();
    const answer = await settleWith(api, token, quote, attemptId);
    const said = refusalIn(answer.body);
    const quoteId = quote.quote_id;
    if (said !== null)
      refusals.push({ accountId, attemptId, quoteId, causedByItself, askedAt, at: Date.now(), ...said });
    return answer;
  };

  /** Repeats the same attempt until its state is known. */
  const settleToTheEnd = async (buyer: Buyer, quote: Quote, id: string = crypto.randomUUID()) => {
    for (;;) {
      const answer = await settle(buyer, quote, id);
      if (answer.status !== 202 && answer.status !== 503) return answer;
      await sleep(50);
    }
  };

  /** Pays an address outside, and repeats the same attempt until its state is known. */
  const payToTheEnd = async (buyer: Buyer, { payTo, feePayer }: { payTo: string; feePayer: Keypair }) => {
    const attemptId = crypto.randomUUID();
    const requirement = {
      ...{ scheme: 'exact', network: networkOf('test').caip2, asset: chain.mint.toBase58() },
      ...{ amount: PRICE.toString(), payTo, maxTimeoutSeconds: 60 },
      extra: { feePayer: feePayer.publicKey.toBase58() },
    };
    const price = { resource: 'http://127.0.0.1/paid', version: 2 as const, requirement };
    for (;;) {
      const askedAt = Date.now();
      const answer = await payExternal(api, buyer.token, price, attemptId);
      const said = refusalIn(answer.body);
      const { accountId } = buyer;
      if (said !== null)
        refusals.push({ accountId, attemptId, quoteId: attemptId, askedAt, at: Date.now(), ...said });
      if (answer.status !== 503) return answer;
      await sleep(50);
    }
  };

  /** A vendor's fee payer, and three addresses that can be paid. */
  const outside = async () => {
    const feePayer = Keypair.generate();
    const payees = await atOnce(3, () => createConsumer(api, stack, { balance: 1n, allowance: 0n }));
    await chain.connection.requestAirdrop(feePayer.publicKey, LAMPORTS_PER_SOL);
    return {
      feePayer,
      payees: payees.map(({ wallet }) => wallet.publicKey.toBase58()),
      /** Includes a signed payment, as its vendor does. */
      include: async (transaction: string): Promise<string> => {
        const signed = VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'));
        signed.sign([feePayer]);
        return chain.connection.sendRawTransaction(signed.serialize(), { skipPreflight: true });
      },
    };
  };

  /**
   * Starts 64 settles and begins the work while they run: some are signed, some accepted, some not
   * yet sent.
   */
  const settlesAgainst = async (buyer: Buyer, work: () => Promise<unknown>) => {
    const quotes = await atOnce(RACERS, () => quoteOf(api, vendor));
    // One payment before, so that the wallet's snapshot exists and is old.
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

  const rows = async <Row extends pg.QueryResultRow>(sql: string, values: unknown[] = []): Promise<Row[]> =>
    (await database.query<Row>(sql, values)).rows;

  const counts = new Map<string, number>();

  return {
    api,
    /** Counts something that happened, for the table of a long run. */
    count: (what: string, times = 1) => void counts.set(what, (counts.get(what) ?? 0) + times),
    counts,
    chain,
    vendor,
    newVendor: () => createVendor(api, stack, { price: PRICE }),
    gatewayUrl: stack.gateway_url,
    buyerWith,
    /** A delegate of the buyer, as a caller of settle. */
    delegateOf: async (
      buyer: Awaited<ReturnType<typeof buyerWith>>,
      limits: Parameters<typeof createDelegate>[2],
      more: object = {},
    ) => {
      const { delegate_id, api_key } = await createDelegate(api, buyer, limits, more);
      return { id: delegate_id, token: api_key, accountId: buyer.accountId };
    },
    settleToTheEnd,
    payToTheEnd,
    outside,
    settlesAgainst,
    rows,
    /**
     * Does the work while each commit that accepts a payment of the account is delayed, as by a
     * standby that lags.
     */
    whileCommitsWait: async <T>({ accountId }: Buyer, work: () => Promise<T>): Promise<T> => {
      await rows(
        `create or replace function settlement.wait_with_commit() returns trigger language plpgsql as $$
         begin perform pg_sleep(0.2); return null; end $$`,
      );
      const name = `waits_${accountId}`;
      await rows(
        `create constraint trigger ${name} after insert on settlement.settlements
         deferrable initially deferred for each row when (new.account_id = '${accountId}')
         execute function settlement.wait_with_commit()`,
      );
      return work().finally(() => rows(`drop trigger ${name} on settlement.settlements`));
    },
    /**
     * Compares the refusals since the last comparison with the records. Returns what is untrue
     * about them.
     */
    untrueRefusals: async (): Promise<string[]> => {
      const given = refusals.splice(0);
      const found = await rows<LedgerRow>(RECORDED, [[...new Set(given.map(({ accountId }) => accountId))]]);
      return untrueRefusals(given, found).map(({ what }) => what);
    },
    quotes: (count: number): Promise<Quote[]> => atOnce(count, () => quoteOf(api, vendor)),
    /** Lamports for transactions that an owner sends. */
    lamportsFor: (buyer: Consumer) =>
      chain.connection.requestAirdrop(buyer.wallet.publicKey, LAMPORTS_PER_SOL),
  };
};
