import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Pool } from '../../../shared/db/pool.ts';
import { type Clock, isoTime } from '../../../shared/lib/clock.ts';
import type { Logger } from '../../../shared/lib/telemetry/logger.ts';
import { count } from '../../../shared/lib/telemetry/metrics.ts';
import { recordAction } from '../../../shared/operator/actions.ts';
import type { IncludedTransaction } from '../chain/included-transaction.ts';
import { isProviderError, RpcUnavailable } from '../chain/json-rpc.ts';
import type { Provider } from '../chain/provider.ts';
import { getIncluded } from '../chain/read-included.ts';
import type { RpcPool } from '../chain/rpc-pool.ts';
import type { Network } from '../ledger/model/network.ts';
import { PROGRAMS } from '../ledger/model/programs.ts';
import {
  type Compared,
  getCompared,
  type LostRecords,
  recordCompared,
  recordLost,
} from '../ledger/store/lost-records.ts';
import { listRecorded } from '../ledger/store/transactions.ts';
import { decodeAnyMessage } from '../transactions/message.ts';

/*
 * Finds lost records by the chain. Every transaction that a fee payer signs is recorded before it
 * is sent, so one that the chain has and the record has not proves that the database is an earlier
 * state of itself: a restored copy, whatever tool has restored it.
 */

/** So many slots are compared again, because providers may be behind. About two minutes. */
const OVERLAP_SLOTS = 300;
/** A database that was never compared looks back an hour. A blockhash is valid for a minute. */
const FIRST_SLOTS = 9000;
/** A longer list is invented by its provider. */
const MAX_PAGES = 1000;
const RECORDED_AT_ONCE = 5000;
const READ_AT_ONCE = 20;
/** A listed transaction that no provider returns for so long does not exist. */
const UNPROVEN_MS = 60_000;
const RETRY_MS = 1000;
/** Foreign transactions that name a fee payer. Each is read once. */
const MAX_FOREIGN = 100_000;

type Listed = Awaited<ReturnType<Provider['listSignatures']>>[number];

type Deps = {
  pool: Pool;
  rpc: RpcPool;
  network: Pick<Network, 'feePayers'>;
  logger: Logger;
  clock: Clock;
};

/** The transactions that name an address, from a slot on, as one provider lists them. */
const listFrom = async (provider: Provider, address: string, slot: number): Promise<Listed[]> => {
  const found: Listed[] = [];
  let before: string | undefined;
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const page = await provider.listSignatures(address, before);
    found.push(...page.filter((each) => each.slot >= slot));
    const last = page.at(-1);
    if (last === undefined || last.slot < slot) return found;
    before = last.signature;
  }
  throw new RpcUnavailable(`provider ${provider.number}: a list of transactions without an end`);
};

/**
 * What names a fee payer, by signature: all that any provider lists. One honest provider is enough,
 * because what another one invents is refused by its signature.
 * @throws RpcUnavailable when no provider answers
 */
const listEverywhere = async ({ rpc, network, logger }: Deps, slot: number): Promise<Map<string, Listed>> => {
  const answers = await Promise.allSettled(
    rpc.providers.map(async (provider) => {
      const lists: Listed[][] = [];
      for (const address of network.feePayers) lists.push(await listFrom(provider, address, slot));
      return lists.flat();
    }),
  );
  const failed = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as Error] : []));
  const bug = failed.find((error) => !isProviderError(error));
  if (bug !== undefined) throw bug;
  if (failed.length === answers.length) throw failed[0]!;
  for (const error of failed) logger.info({ err: error }, 'records compared without this provider');
  const all = new Map<string, Listed>();
  for (const answer of answers)
    for (const each of answer.status === 'fulfilled' ? answer.value : []) {
      const other = all.get(each.signature);
      if (other === undefined || other.slot < each.slot) all.set(each.signature, each);
    }
  return all;
};

const withoutRecorded = async (
  pool: Pool,
  listed: ReadonlyMap<string, Listed>,
): Promise<Map<string, Listed>> => {
  const rest = new Map(listed);
  const signatures = [...listed.keys()];
  for (let at = 0; at < signatures.length; at += RECORDED_AT_ONCE)
    for (const signature of await listRecorded(pool, signatures.slice(at, at + RECORDED_AT_ONCE)))
      rest.delete(signature);
  return rest;
};

/** An operator who drains a fee payer moves SOL alone. No transaction of ours does. */
const isTransferOfSol = (message: Uint8Array): boolean => {
  try {
    const { instructions } = decodeAnyMessage(message);
    return instructions.every(
      ({ program }) => program === PROGRAMS.system || program === PROGRAMS.computeBudget,
    );
  } catch {
    // It uses lookup tables, so it is none.
    return false;
  }
};

/** Finds among listed transactions one that a fee payer has signed. */
const createSearch = (deps: Deps) => {
  const { network, logger } = deps;
  const foreign = new LRUCache<string, true>({ max: MAX_FOREIGN });
  /** When a transaction was listed first that no provider returns. */
  const unproven = new Map<string, number>();

  /** Null: no provider returns it, for so long that it does not exist. */
  const readListed = async (signature: string): Promise<IncludedTransaction | null> => {
    try {
      const included = await getIncluded(deps, signature);
      unproven.delete(signature);
      return included;
    } catch (error) {
      if (!isProviderError(error)) throw error;
      const since = unproven.get(signature) ?? performance.now();
      unproven.set(signature, since);
      if (performance.now() - since < UNPROVEN_MS) throw error;
      unproven.delete(signature);
      count('quittance_anomalies_total', 1, { kind: 'providers_disagree' });
      logger.error({ signature }, 'a provider lists a transaction that no provider returns');
      return null;
    }
  };

  /**
   * The fee payer that has signed a transaction; null for one of another payer, which only names a
   * fee payer. Anybody can make such a one.
   */
  const ownPayerOf = async (signature: string): Promise<string | null> => {
    if (foreign.has(signature)) return null;
    const included = await readListed(signature);
    // Its fee payer's signature is verified: nobody else can make it.
    const payer = included?.feePayer() ?? null;
    if (payer !== null && network.feePayers.includes(payer) && !isTransferOfSol(included!.message))
      return payer;
    foreign.set(signature, true);
    return null;
  };

  return async (unknown: readonly Listed[]): Promise<{ signature: string; feePayer: string } | null> => {
    // All are read before one that cannot be read ends the comparison: each has its minute at once.
    const failures: Error[] = [];
    for (let at = 0; at < unknown.length; at += READ_AT_ONCE) {
      const some = unknown.slice(at, at + READ_AT_ONCE);
      const answers = await Promise.allSettled(some.map(({ signature }) => ownPayerOf(signature)));
      for (const [index, answer] of answers.entries()) {
        if (answer.status === 'rejected') failures.push(answer.reason as Error);
        else if (answer.value !== null) return { signature: some[index]!.signature, feePayer: answer.value };
      }
    }
    if (failures.length > 0) throw failures[0]!;
    return null;
  };
};

/** Records a loss, pauses signing, and reports it, unless another replica has done so. */
const reportLost = async ({ pool, logger }: Deps, lost: LostRecords, missing: number): Promise<void> => {
  const { signature, feePayer } = lost;
  const since = isoTime(lost.since);
  const reason = `records are lost since ${since}: ${feePayer} has signed ${signature}, which is not recorded`;
  const isFirst = await pool.transaction(async (tx) => {
    const found = await recordLost(tx, lost);
    if (found?.wasPaused === false)
      await recordAction(
        tx,
        { actor: 'chain-submitter', reason },
        {
          action: 'signing.pause',
          target: 'signing',
          before: { paused: false },
          after: { paused: true },
        },
      );
    return found !== null;
  });
  if (!isFirst) return;
  count('quittance_anomalies_total', 1, { kind: 'lost_record' });
  logger.error(
    { signature, fee_payer: feePayer, since, missing },
    'records are lost: the chain has transactions of this fee payer that are not recorded, signing is paused',
  );
};

/** Compares the transactions of the fee payers on the chain with the record. */
export const createRecordComparison = (deps: Deps) => {
  const { pool, rpc, logger, clock } = deps;
  const findOwn = createSearch(deps);

  const compareFrom = async ({ compared_slot, lost_slot, server_start }: Compared): Promise<void> => {
    const { slot, lastValidBlockHeight: untilHeight } = await rpc.latestBlockhash();
    const from = compared_slot === null ? slot - FIRST_SLOTS : Math.min(compared_slot, slot) - OVERLAP_SLOTS;
    const listed = await listEverywhere(deps, from);
    const unknown = [...(await withoutRecorded(pool, listed)).values()].filter(
      (each) => lost_slot === null || each.slot > lost_slot,
    );
    const own = await findOwn(unknown);
    if (own !== null) {
      const newestSlot = Math.max(...unknown.map((each) => Math.min(each.slot, slot + OVERLAP_SLOTS)));
      const since = Math.min(clock(), ...unknown.map(({ at }) => at ?? clock()));
      const lost = { ...own, since, newestSlot, upToSlot: Math.max(slot, newestSlot), untilHeight };
      await reportLost(deps, lost, unknown.length);
    }
    if (!(await recordCompared(pool, slot, server_start)))
      throw new RpcUnavailable('the server of the database has started again during the comparison');
  };

  return {
    /** Compares if it is due: each minute, and when the server of the database has started. */
    compareWhenDue: async (): Promise<void> => {
      const compared = await getCompared(pool);
      if (compared.is_due) await compareFrom(compared);
    },
    /**
     * Compares before anything is signed. Waits while no provider answers, because a restored copy
     * must not sign.
     */
    compareAtStart: async (): Promise<void> => {
      for (;;) {
        try {
          return await compareFrom(await getCompared(pool));
        } catch (error) {
          if (!isProviderError(error)) throw error;
          logger.warn(
            { err: error },
            'records not compared with the chain yet, nothing is signed, trying again',
          );
          await sleep(RETRY_MS);
        }
      }
    },
  };
};
