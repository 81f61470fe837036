import type { Bus } from '../bus/connect.ts';
import type { Pool } from '../db/pool.ts';
import type { LaneOwnership } from '../lib/lane.ts';
import { everyMs } from '../lib/periodic.ts';
import type { Logger } from '../lib/telemetry/logger.ts';
import { count, type GaugeCollector } from '../lib/telemetry/metrics.ts';
import { lanesToTake } from './model.ts';
import { deleteReplica, renewReplica, takeLanes } from './store.ts';

const RENEW_EVERY_MS = 1000;
/** The load is a mean of so many renewals, so that one long turn makes no owner busy. */
const RENEWALS_OF_LOAD = 3;

/**
 * The lanes of a replica. Ownership only decides who is asked first, so that payments share
 * statements. It is never a lock: another replica may believe that it owns the same lane, and any
 * replica handles any call and any job (docs/design/settle.md, Lanes).
 */
type Lanes = LaneOwnership & {
  gauges: GaugeCollector;
  /** Gives the lanes up at once. */
  stop: () => Promise<void>;
};

/**
 * The part of a core that the process used, as a mean of the last calls. The utilisation of the
 * event loop would count the time in which other processes have the processor, and more owners on a
 * machine that is used up would make that worse.
 */
const createLoadMeter = (): (() => number) => {
  let last = { at: performance.now(), cpu: process.cpuUsage() };
  const loads: number[] = [];
  return () => {
    const now = { at: performance.now(), cpu: process.cpuUsage() };
    const cpuMs = (now.cpu.user + now.cpu.system - last.cpu.user - last.cpu.system) / 1000;
    loads.push(cpuMs / (now.at - last.at));
    last = now;
    if (loads.length > RENEWALS_OF_LOAD) loads.shift();
    return loads.reduce((sum, load) => sum + load, 0) / loads.length;
  };
};

/** Takes part in the lanes of a service, as an owner or as a stand-by. */
export const startLanes = ({
  pool,
  logger,
  bus: { replicaId },
}: {
  pool: Pool;
  logger: Logger;
  bus: Pick<Bus, 'replicaId'>;
}): Lanes => {
  const listeners: ((owned: ReadonlySet<number>) => void)[] = [];
  const measureLoad = createLoadMeter();
  let load = 0;
  let owned: ReadonlySet<number> = new Set();

  const own = (lanes: readonly number[]): void => {
    const lost = [...owned].filter((lane) => !lanes.includes(lane)).length;
    const taken = lanes.filter((lane) => !owned.has(lane)).length;
    if (lost + taken === 0) return;
    owned = new Set(lanes);
    count('quittance_lanes_moved_total', taken, { change: 'taken' });
    count('quittance_lanes_moved_total', lost, { change: 'lost' });
    logger.info({ owned: lanes.length, taken, lost }, 'lanes moved');
    for (const listener of listeners) listener(owned);
  };

  const renew = async (nextWithinMs: number): Promise<void> => {
    load = measureLoad();
    const self = { replica_id: replicaId, load };
    const state = await renewReplica(pool, self, nextWithinMs);
    const wanted = lanesToTake(state, self);
    const taken = wanted.length === 0 ? [] : await takeLanes(pool, replicaId, wanted);
    const kept = state.lanes.filter(({ replica_id }) => replica_id === replicaId).map(({ lane }) => lane);
    own([...kept, ...taken]);
  };

  const periodic = everyMs(RENEW_EVERY_MS, 'lanes', renew, logger);
  return {
    onChange: (listener) => {
      listeners.push(listener);
      listener(owned);
    },
    gauges: {
      name: 'lanes',
      metrics: ['quittance_lanes', 'quittance_replica_load_ratio'],
      collect: async () => [
        { metric: 'quittance_lanes', value: owned.size },
        { metric: 'quittance_replica_load_ratio', value: load },
      ],
    },
    stop: async () => {
      await periodic.stop();
      await deleteReplica(pool, replicaId).catch((error: unknown) =>
        logger.warn({ err: error }, 'lanes not given up, they lapse'),
      );
    },
  };
};
