import { createBenchVendor } from '../harness/actors.ts';
import { startChild } from '../harness/child.ts';
import type { Run } from '../harness/run.ts';
import type { BenchStack } from '../harness/stack.ts';

export type ShopSettings = {
  baseUrl: string;
  serviceKey: string;
  serviceId: string;
  redisUrl: string;
  /** The ceiling of a tab, and what each call of it costs. Micro-units. */
  tab: { max: string; price: string };
};

/** Starts a vendor's server with the SDK, for a new service. @returns its URL and its process */
export const startShop = async (
  run: Run,
  bench: BenchStack,
  tab: ShopSettings['tab'],
): Promise<{ origin: string; pid: number }> => {
  const { apiKey, serviceId } = await createBenchVendor(bench);
  const settings: ShopSettings = {
    baseUrl: bench.stack.gateway_url,
    serviceKey: apiKey,
    serviceId,
    redisUrl: bench.stack.redis_url,
    tab,
  };
  const child = await startChild(new URL('./main.ts', import.meta.url), settings);
  run.defer(child.stop);
  return { origin: (child.hello as { address: string }).address, pid: child.pid };
};
