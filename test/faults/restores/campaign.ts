import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import {
  type Consumer,
  createConsumer,
  createVendor,
  type Quote,
  quoteOf,
  settleWith,
  type Vendor,
} from '../../../deploy/local/seed/actors.ts';
import { type Api, createApi } from '../../../deploy/local/seed/api.ts';
import { databaseUrl } from '../../../deploy/local/servers/database.ts';
import { type RunningStack, startStack } from '../../../deploy/local/stack/stack.ts';
import { referenceOf } from '../../../services/chain-submitter/ledger/reference.ts';
import { SERVICE_NAMES } from '../../../shared/contract/service.ts';
import { type Databases, mapDatabases, settingsOf } from '../../../shared/db/databases.ts';
import { waitFor } from '../../support/base/wait.ts';
import { runBackup } from '../../support/packages/backup-command.ts';
import { opsAt } from '../../support/packages/ops.ts';
import { startChain } from '../../support/servers/local-chain.ts';
import { rpcAt } from '../access.ts';
import { createRng, type Rng } from '../rng.ts';
import { type ArchivedPostgres, type RestoreTool, startArchivedPostgres } from './archived-postgres.ts';

/**
 * What an operator does about a restore by another tool. `nothing`: the services go on, and find
 * another state in their database. `restart`: they are started again, and every step is forgotten.
 * `finish`: they are stopped, and `restore finish` is run.
 */
export const HANDLINGS = ['nothing', 'restart', 'finish'] as const;
type Handling = (typeof HANDLINGS)[number];

type Options = {
  stateDir: string;
  seed: number;
  /** One restore for each. */
  handlings: readonly Handling[];
  consumers?: number;
  tool?: RestoreTool;
  print: (line: string) => void;
};

/** A payment as its payer knows it. */
type Attempt = { id: string; quote: Quote; payer: Consumer };
type Answer = { status: number; moneyMoved: string | null };

type RestoresReport = {
  restores: number;
  attempts: number;
  /** Settlements that the restored records had not. */
  lost: number;
  /** Quotes that were paid twice. */
  doubled: string[];
  /** Attempts of which an answer denied a payment that the chain has. */
  untrue: string[];
  /** Attempts that were answered as paid, although the chain has no payment. */
  invented: string[];
  /** Attempts without a final answer. */
  open: string[];
};

const SLOT_MS = 50;
/** Its payers return after the restore, when most of the quotes have expired. */
const QUOTE_SECONDS = 8;
const LOAD_MS = [1500, 3500] as const;
const LOST_MS = [300, 1500] as const;
const WITHIN_MS = 90_000;
const DATABASE = 'quittance_test';

const finalOf = ({ status, moneyMoved }: Answer): boolean =>
  status === 200 || moneyMoved === 'no' || moneyMoved === 'yes';

/** Pays with quotes of a short time, until it is stopped. Every attempt is remembered. */
const startLoad = (
  { api, vendor, consumers }: { api: () => Api; vendor: Vendor; consumers: readonly Consumer[] },
  record: (attempt: Attempt, answer: Answer) => void,
) => {
  const state = { isOver: false };
  const running = consumers.map(async (payer) => {
    while (!state.isOver) {
      const quote = await quoteOf(api(), vendor, { expires_in_seconds: QUOTE_SECONDS }).catch(() => null);
      if (quote === null) {
        await sleep(100);
        continue;
      }
      const attempt = { id: crypto.randomUUID(), quote, payer };
      record(attempt, await ask(api(), attempt));
      await sleep(20);
    }
  });
  return async () => {
    state.isOver = true;
    await Promise.all(running);
  };
};

const ask = async (api: Api, { id, quote, payer }: Attempt): Promise<Answer> => {
  const answer = await settleWith(api, payer.token, quote, id).catch(() => null);
  if (answer === null) return { status: 0, moneyMoved: null };
  return { status: answer.status, moneyMoved: answer.body?.error?.money_moved ?? null };
};

/** The successful transactions that pay a quote, whoever has sent them. */
const paymentsOf = async (rpcUrl: string, { quote_id }: Quote): Promise<number> => {
  const listed = await rpcAt(rpcUrl)<{ err: unknown }[]>(
    'getSignaturesForAddress',
    referenceOf('test', quote_id),
    { commitment: 'confirmed' },
  );
  return listed.filter(({ err }) => err === null).length;
};

/**
 * Restores the database of a running installation to moments in the middle of its payments, and
 * asks every payer to repeat every attempt: no quote is paid twice, and no answer denies a payment
 * that the chain has.
 */
export const runRestores = async (options: Options): Promise<RestoresReport> => {
  const { stateDir, seed, handlings, consumers: many = 3, print } = options;
  const began = performance.now();
  const rng: Rng = createRng(seed);
  const postgres: ArchivedPostgres = await startArchivedPostgres(
    path.join(stateDir, 'archived'),
    options.tool,
  );
  const urls = Object.fromEntries(SERVICE_NAMES.map((name) => [name, postgres.url])) as Databases;
  let running = null as unknown as RunningStack;
  const start = async () => {
    running = await startStack({
      stateDir,
      ports: 'any',
      chainSlotMs: SLOT_MS,
      rateLimitScale: 1000,
      durable: false,
      external: { postgresUrls: urls },
    });
  };
  const report: RestoresReport = {
    ...{ restores: 0, attempts: 0, lost: 0 },
    ...{ doubled: [], untrue: [], invented: [], open: [] },
  };
  const api = () => createApi(running.stack.gateway_url, { timeoutMs: 20_000 });
  const rpcUrl = () => running.stack.environments.test!.rpc_url;

  const recorded = async (): Promise<string[]> => {
    const client = new pg.Client({ connectionString: databaseUrl(postgres.url, DATABASE) });
    client.on('error', () => {});
    await client.connect();
    try {
      const found = await client.query<{ id: string }>(
        'select settlement_id as id from settlement.settlements',
      );
      return found.rows.map(({ id }) => id);
    } finally {
      await client.end();
    }
  };

  const finish = async (takenAt: string): Promise<void> => {
    const chain = await startChain({ slotMs: SLOT_MS, dataDir: path.join(stateDir, 'chain-test') });
    try {
      const databases = mapDatabases(urls, (url) => databaseUrl(url, DATABASE));
      const done = await runBackup(
        ['restore', 'finish', '--taken-at', new Date(takenAt).toISOString(), '--reason', 'campaign', '--yes'],
        { ...settingsOf(databases), SOLANA_RPC_URLS: chain.url },
      );
      if (done.code !== 0) throw new Error(`restore finish: ${done.out}`);
    } finally {
      await chain.stop();
    }
  };

  const resume = () =>
    waitFor(
      () => opsAt(running.stackFile)('signing', 'resume', '--reason', 'campaign', '--yes'),
      ({ code }) => code === 0,
      WITHIN_MS,
      500,
    );

  const restoreOnce = async (handling: Handling, vendor: Vendor, consumers: readonly Consumer[]) => {
    await postgres.baseBackup();
    const attempts: Attempt[] = [];
    const denied = new Set<Attempt>();
    const paid = new Set<Attempt>();
    const note = (attempt: Attempt, answer: Answer) => {
      if (!attempts.includes(attempt)) attempts.push(attempt);
      if (answer.status === 200) paid.add(attempt);
      if (answer.moneyMoved === 'no') denied.add(attempt);
    };
    const stopLoad = startLoad({ api, vendor, consumers }, note);
    await sleep(rng.int(...LOAD_MS));
    const to = await postgres.now();
    await sleep(rng.int(...LOST_MS));
    const restore = async () => {
      const before = await recorded();
      await postgres.restoreTo(to);
      const after = new Set(await recorded());
      report.lost += before.filter((id) => !after.has(id)).length;
    };
    if (handling === 'nothing') {
      await restore();
      await stopLoad();
    } else {
      await Promise.all([running.stop(), stopLoad()]);
      await restore();
      if (handling === 'finish') await finish(to);
      await start();
    }
    // Every payer returns at once, and again when all quotes have expired.
    const askAll = async (): Promise<Attempt[]> => {
      const rest: Attempt[] = [];
      await Promise.all(
        consumers.map(async (consumer) => {
          for (const attempt of attempts.filter(({ payer }) => payer === consumer)) {
            const answer = await ask(api(), attempt);
            note(attempt, answer);
            if (!finalOf(answer)) rest.push(attempt);
          }
        }),
      );
      return rest;
    };
    await askAll();
    const last = Math.max(...attempts.map(({ quote }) => Date.parse(quote.expires_at)));
    await sleep(Math.max(0, last - Date.now()) + 200);
    await askAll();
    await resume();
    const open = await waitFor(askAll, (rest) => rest.length === 0, WITHIN_MS, 500).catch(askAll);

    let paidOnChain = 0;
    for (const attempt of attempts) {
      const payments = await paymentsOf(rpcUrl(), attempt.quote);
      const name = `${handling} ${attempt.quote.quote_id}`;
      if (payments > 1) report.doubled.push(name);
      if (payments > 0 && denied.has(attempt)) report.untrue.push(name);
      if (payments === 0 && paid.has(attempt)) report.invented.push(name);
      if (payments > 0) paidOnChain += 1;
    }
    report.open.push(...open.map(({ quote }) => `${handling} ${quote.quote_id}`));
    report.restores += 1;
    report.attempts += attempts.length;
    return { attempts: attempts.length, paid: paidOnChain };
  };

  try {
    await start();
    const vendor = await createVendor(api(), running.stack, { price: 20_000n });
    const consumers = await Promise.all(
      Array.from({ length: many }, () => createConsumer(api(), running.stack)),
    );
    for (const [index, handling] of handlings.entries()) {
      const { attempts, paid } = await restoreOnce(handling, vendor, consumers);
      print(
        `${((performance.now() - began) / 1000).toFixed(0)} s: restore ${index + 1} (${handling}): ${attempts} attempts, ${paid} paid`,
      );
    }
    return report;
  } finally {
    await running?.stop();
    await postgres.stop();
  }
};
