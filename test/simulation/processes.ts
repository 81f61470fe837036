import { createChainView } from '../../services/chain-submitter/chain.ts';
import { createCommits } from '../../services/chain-submitter/commits.ts';
import type { Deps as SubmitterDeps } from '../../services/chain-submitter/deps.ts';
import { createDriver } from '../../services/chain-submitter/drive.ts';
import { createFlights } from '../../services/chain-submitter/flights.ts';
import { cancelPrepared } from '../../services/chain-submitter/handlers/cancelPrepared.ts';
import { observePrepared } from '../../services/chain-submitter/handlers/observePrepared.ts';
import { observeWallet } from '../../services/chain-submitter/handlers/observeWallet.ts';
import { prepareTransfer } from '../../services/chain-submitter/handlers/prepareTransfer.ts';
import { submitPrepared } from '../../services/chain-submitter/handlers/submitPrepared.ts';
import { expireFlights } from '../../services/chain-submitter/jobs/expire.ts';
import { createLooks, pollDue } from '../../services/chain-submitter/jobs/poll.ts';
import { rebroadcast } from '../../services/chain-submitter/jobs/rebroadcast.ts';
import { reconcile } from '../../services/chain-submitter/jobs/reconcile.ts';
import { settle as settleJob } from '../../services/chain-submitter/jobs/settle.ts';
import { rpcOver } from '../../services/chain-submitter/rpc.ts';
import { keepAlive } from '../../services/chain-submitter/store/workers.ts';
import { releaseRefund } from '../../services/settlement/refunds/release-refund.ts';
import { reserveRefund } from '../../services/settlement/refunds/reserve-refund.ts';
import { expireSettlements } from '../../services/settlement/settlements/expire-settlements.ts';
import { settleProgressed } from '../../services/settlement/settlements/on-chain-submitter-settle-progressed.ts';
import { redeem } from '../../services/settlement/settlements/redeem.ts';
import { resumeSettlements } from '../../services/settlement/settlements/resume-settlements.ts';
import { settle } from '../../services/settlement/settlements/settle.ts';
import { createTermsCache } from '../../services/settlement/settlements/terms-cache.ts';
import type { Waiting } from '../../shared/bus/wake.ts';
import { ServiceError } from '../../shared/contract/errors.ts';
import type { Logger } from '../../shared/lib/logger.ts';
import { type Bus, createRelay } from './bus.ts';
import type { Chain } from './chain.ts';
import { type Database, EPOCH, type Outbox } from './database.ts';
import { parties } from './parties.ts';
import { createProvider, type Profile } from './providers.ts';
import { isMistake, type Process, type World } from './world.ts';

/** Slow enough that a run is short, fast enough that a fork is seen before the end of a blockhash. */
const POLL_MS = 400;
const SECOND_MS = 1000;
const SETTLE_WAIT_MS = 15_000;

const quiet = () => {};
export const loggerOf = (world: World, process: Process): Logger => {
  const say = (fields: unknown, text?: string) => {
    const { err } = (fields ?? {}) as { err?: Error };
    if (isMistake(err)) world.fault(err);
    world.trace(process.name, `${text ?? String(fields)}${err === undefined ? '' : `: ${err.message}`}`);
  };
  return { trace: quiet, debug: quiet, info: say, warn: say, error: say, fatal: say } as unknown as Logger;
};

/** A service's work by the clock: one round after the other, errors left to the next. */
export const every = (world: World, process: Process, ms: number, round: () => Promise<void>): void =>
  world.inside(process, ms, () => {
    void round()
      .catch((error: unknown) => {
        if (isMistake(error)) world.fault(error);
      })
      .then(() => every(world, process, ms, round));
  });

type Surroundings = { world: World; bus: Bus; chain: Chain };

/** A run of chain-submitter: the product's driver, jobs and stores, on virtual time and ports. */
export const startSubmitter = (
  { world, bus, chain }: Surroundings,
  {
    process,
    database,
    outbox,
    profiles,
  }: {
    process: Process;
    database: Database;
    outbox: Outbox;
    profiles: readonly Profile[];
  },
) => {
  const seenBy = world.off === 'expiry proof: every provider' ? profiles.slice(0, 1) : profiles;
  const providers = seenBy.map((profile, index) =>
    createProvider(world, chain, parties, { process, number: index + 1, profile }),
  );
  const rpc = rpcOver(providers, (ms) => world.sleep(process, ms));
  const pool = database.connect(process);
  const parts = {
    pool,
    relay: createRelay(world, { bus, outbox, process }),
    clock: () => EPOCH + world.now() + process.skewMs,
    logger: loggerOf(world, process),
    workerId: process.name,
    environment: 'test',
    network: parties.network,
    keys: parties.publicKeys,
    rpc,
    chain: createChainView(rpc, parties.mint),
    signers: parties.signers,
    caps: {
      reserveMicro: async () =>
        world.random.chance(world.faults.lostAnswer)
          ? { reached: 'wallet' as const, capMicro: 0n }
          : { release: () => {} },
    },
    limits: {
      ...{ fees_settle: 1n, rent_settle: 1n, fees_user: 1n, rent_user: 1n, fees_revoke: 1n },
      ...{ cosignatures: 1n, revokes: 1n },
    },
    ownWork: {
      ...{ beginCreation: () => true, endCreation: () => {}, claimOf: () => null, reserve: async () => {} },
      beforeSigning: async () => ({ release: () => {} }),
    } as unknown as SubmitterDeps['ownWork'],
    cosigning: { check: async () => {}, reserve: async () => {} },
    commits: createCommits(pool, process.name),
    flights: createFlights(),
  };
  const deps: SubmitterDeps = { ...parts, driver: createDriver(parts) };
  const start = async (): Promise<void> => {
    try {
      await keepAlive(deps.pool, deps.workerId);
    } catch {
      return world.inside(process, 200, () => void start());
    }
    const looks = createLooks((work) => {
      void work.catch((error: unknown) => {
        if (isMistake(error)) world.fault(error);
      });
    });
    every(world, process, SECOND_MS, () => reconcile(deps));
    every(world, process, SECOND_MS, () => expireFlights(deps));
    every(world, process, SECOND_MS, () => rebroadcast(deps));
    every(world, process, POLL_MS, () => pollDue(deps, looks));
    bus.consume(process, { 'job.chain-submitter.settle': settleJob(deps) });
  };
  void start();
  return {
    process,
    observe: observeWallet(deps),
    prepareTransfer: prepareTransfer(deps),
    submitPrepared: submitPrepared(deps),
    cancelPrepared: cancelPrepared(deps),
    observePrepared: observePrepared(deps),
  };
};
export type Submitter = ReturnType<typeof startSubmitter>;

/** Waiting requests of all replicas; a wake that goes over the network may be lost. */
export const createWaiters = (world: World) => {
  const replicas = new Map<Process, Map<string, Set<(record?: unknown) => void>>>();
  return (process: Process): Waiting => {
    const waiters = new Map<string, Set<(record?: unknown) => void>>();
    replicas.set(process, waiters);
    return {
      until: (key, timeoutMs) => {
        let done = (_record?: unknown) => {};
        const woken = new Promise<unknown>((resolve) => {
          const set = waiters.get(key) ?? new Set();
          done = (record) => {
            set.delete(done);
            if (set.size === 0) waiters.delete(key);
            resolve(record);
          };
          waiters.set(key, set.add(done));
          world.inside(process, timeoutMs, () => done());
        });
        return { woken, cancel: () => done() };
      },
      wake: (key, record) => {
        const here = record === undefined ? undefined : waiters.get(key);
        if (here !== undefined) for (const done of here) done(record);
        else
          for (const others of replicas.values())
            for (const done of others.get(key) ?? [])
              if (!world.random.chance(world.faults.loss)) world.schedule(5, () => done());
      },
      stop: async () => {},
    };
  };
};

/** A run of settlement: the product's handlers, consumer, jobs and stores, on virtual time and ports. */
export const startSettlement = (
  { world, bus }: Omit<Surroundings, 'chain'>,
  {
    process,
    database,
    outbox,
    waiting,
    submitters,
  }: {
    process: Process;
    database: Database;
    outbox: Outbox;
    waiting: Waiting;
    submitters: () => readonly Submitter[];
  },
) => {
  const deps: Parameters<typeof settle>[0] &
    Parameters<typeof redeem>[0] &
    Parameters<typeof settleProgressed>[0] = {
    logger: loggerOf(world, process),
    isChainReadable: async () => true,
    budgetRefillsInSeconds: async () => null,
    isPaused: async () => false,
    isFrozen: async () => false,
    findPayment: async () => {
      throw new Error('no database is restored in the simulation');
    },
    pool: database.connect(process),
    clock: () => EPOCH + world.now() + process.skewMs,
    environment: 'test',
    publicKeys: parties.publicKeys,
    signingKey: parties.settlementKey,
    mint: parties.mint,
    feeWallet: parties.network.feeWallet,
    settleWaitMs: SETTLE_WAIT_MS,
    relay: { ...createRelay(world, { bus, outbox, process }), stop: async () => {} },
    quarantine: async ({ reason }) => world.fail('no fact contradicts a record', reason),
    waiting,
    terms: createTermsCache(),
    caps: {
      reserve: async () => ({ release: () => {} }),
      refillsInSeconds: () => 3600,
      limits: { walletMicro: 0n, environmentMicro: 0n, ofWallet: new Map() },
    },
    findWallet: async (accountId) =>
      parties.payers.find(({ account_id }) => account_id === accountId) ?? null,
    observeWallet: async (owner) => {
      const able = submitters().filter((one) => one.process.alive);
      const away = new ServiceError('service_unavailable', 'nobody answers', { money_moved: 'no' });
      if (able.length === 0) throw away;
      // The caller gives up on a callee that died or sleeps.
      const gaveUp = world.sleep(process, 5000).then(() => {
        throw away;
      });
      return Promise.race([world.random.pick(able).observe({ owner }), gaveUp]);
    },
  };
  every(world, process, 2 * SECOND_MS, expireSettlements(deps));
  every(world, process, 2 * SECOND_MS, resumeSettlements(deps));
  bus.consume(process, { 'evt.chain-submitter.settleProgressed': settleProgressed(deps) });
  return {
    process,
    settle: settle(deps),
    redeem: redeem(deps),
    reserveRefund: reserveRefund(deps),
    releaseRefund: releaseRefund(deps),
  };
};
export type SettlementReplica = ReturnType<typeof startSettlement>;
