import { createBenchVendor, PRICE_MICRO } from '../harness/actors.ts';
import { startChild } from '../harness/child.ts';
import type { Run } from '../harness/run.ts';
import type { BenchStack } from '../harness/stack.ts';

export type ShopSettings = {
  baseUrl: string;
  serviceKey: string;
  serviceId: string;
  redisUrl: string;
  /** Micro-units. */
  price: string;
  /** What one payment of the prepaid route buys, and how many units the vendor consumes ahead. */
  prepaid: { units: number; ahead: number };
};

/** Starts a vendor's server with the SDK, for a new service. @returns its URL and its process */
export const startShop = async (
  run: Run,
  bench: BenchStack,
  prepaid: ShopSettings['prepaid'],
): Promise<{ origin: string; pid: number }> => {
  const { apiKey, serviceId } = await createBenchVendor(bench);
  const settings: ShopSettings = {
    baseUrl: bench.stack.gateway_url,
    serviceKey: apiKey,
    serviceId,
    redisUrl: bench.stack.redis_url,
    price: PRICE_MICRO.toString(),
    prepaid,
  };
  const child = await startChild(new URL('./main.ts', import.meta.url), settings);
  run.defer(child.stop);
  return { origin: (child.hello as { address: string }).address, pid: child.pid };
};
