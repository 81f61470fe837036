import { startChild } from '../harness/child.ts';
import type { Run } from '../harness/run.ts';
import type { BuyerJob, BuyerOutcome, BuyerSettings, VendorSettings } from './job.ts';

/** A vendor and its buyer, each in a process of its own. */
export type RouteSide = {
  pids: { vendor: number; buyer: number };
  /** Makes the calls of a job in the buyer's process. */
  buy: (job: Omit<BuyerJob, 'origin'>) => Promise<BuyerOutcome>;
};

/** Starts both processes of a side. They are stopped with the run. */
export const startSide = async (
  run: Run,
  { vendor: sold, buyer: paying }: { vendor: VendorSettings; buyer: BuyerSettings },
): Promise<RouteSide> => {
  const start = async (name: string, settings: object) => {
    const child = await startChild(new URL(`./${name}.ts`, import.meta.url), settings);
    run.defer(child.stop);
    return child;
  };
  const vendor = await start('vendor', sold);
  const { address: origin } = vendor.hello as { address: string };
  const buyer = await start('buyer', paying);
  return {
    pids: { vendor: vendor.pid, buyer: buyer.pid },
    buy: async (job) => buyer.ask<BuyerOutcome>({ ...job, origin }),
  };
};
