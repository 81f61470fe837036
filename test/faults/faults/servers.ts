import { globSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { STREAMS } from '../../../shared/bus/topology.ts';
import { type Fault, over } from '../fault.ts';
import type { Harness } from '../harness.ts';
import { serviceNames } from './kill.ts';

const gap = [500, 2000] as const;

/** Kills a process again and again, so that it is unavailable until the heal. */
const keepDown = (harness: Harness, name: string) => {
  let isDown = true;
  const keeping = (async () => {
    while (isDown) {
      await harness.kill(name);
      await sleep(20);
    }
  })();
  return async () => {
    isDown = false;
    await keeping;
  };
};

const killed = (harness: Harness, name: string) => async () => ((await harness.kill(name)) ? over : null);

/** The servers: JetStream, Postgres, Redis. */
export const serverFaults = (harness: Harness): Fault[] => [
  { name: 'nats-kill', holdMs: gap, inject: killed(harness, 'nats-server') },
  {
    // Everything that JetStream stored is lost: streams, consumers, jobs, events, acknowledgements.
    name: 'nats-wipe',
    holdMs: gap,
    inject: async () => {
      if (!(await harness.kill('nats-server'))) return null;
      rmSync(path.join(harness.stateDir, 'nats/jetstream'), { recursive: true, force: true });
      return over;
    },
  },
  {
    // The streams exist with their state, but their messages are lost.
    name: 'nats-blocks-removed',
    holdMs: gap,
    inject: async () => {
      if (!(await harness.kill('nats-server'))) return null;
      const folder = path.join(harness.stateDir, 'nats/jetstream');
      const blocks = globSync('**/*.blk', { cwd: folder });
      for (const block of blocks) rmSync(path.join(folder, block), { force: true });
      return blocks.length > 0 ? over : null;
    },
  },
  {
    // What a full stream does to a reader that is away: its messages are gone before it reads them.
    name: 'events-dropped',
    holdMs: [2000, 5000],
    inject: async () => {
      const bringUp = keepDown(harness, 'webhook');
      return async () => {
        const { streams } = await harness.bus.jetstreamManager();
        await streams.purge(STREAMS.events);
        await bringUp();
      };
    },
  },
  { name: 'nats-down', holdMs: [1000, 4000], inject: async () => keepDown(harness, 'nats-server') },
  { name: 'postgres-kill', holdMs: gap, inject: killed(harness, 'postgres') },
  {
    // Backends are killed during any operation, for instance a COMMIT whose answer is then lost.
    name: 'postgres-terminate',
    holdMs: [1000, 3000],
    inject: async (rng) => {
      let cutting = true;
      const share = rng.int(20, 60) / 100;
      const loop = (async () => {
        while (cutting) {
          await harness
            .query(
              `select pg_terminate_backend(pid) from pg_stat_activity
               where datname = current_database() and usename <> current_user and random() < $1`,
              [share],
            )
            .catch(() => []);
          await sleep(50);
        }
      })();
      return async () => {
        cutting = false;
        await loop;
      };
    },
  },
  {
    // A synchronous standby lags: rows that a statement changed are locked and not visible yet.
    name: 'commits-wait',
    holdMs: [2000, 6000],
    inject: async (rng) => {
      await harness.holdCommits(rng.int(20, 400));
      return () => harness.holdCommits(0);
    },
  },
  { name: 'redis-kill', holdMs: gap, inject: killed(harness, 'redis-server') },
  { name: 'redis-away', holdMs: [2000, 5000], inject: async () => keepDown(harness, 'redis-server') },
];

/**
 * Longer than a worker's lease, so that another worker claims its intents and the paused one
 * resumes late.
 */
const LEASE_PAST_MS = [3500, 7000] as const;

/** SIGSTOP: the process stays alive, with its connections and leases, and does not answer. */
export const pauses = (harness: Harness): Fault[] =>
  serviceNames(harness)
    .filter((name) => /^(chain-submitter|settlement)/.test(name))
    .map((name) => ({
      name: `pause-${name}`,
      holdMs: LEASE_PAST_MS,
      inject: async () => {
        const pid = harness.pids()[name];
        if (pid === undefined || !harness.send(name, 'SIGSTOP')) return null;
        return async () => {
          harness.send(name, 'SIGCONT');
        };
      },
    }));
