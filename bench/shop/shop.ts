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
  /** The ceiling of a tab, and what each call of it costs. Micro-units. */
  tab: { max: string; price: string };
};
const DEFAULTS = { prepaid: { units: 1000, ahead: 250 }, tab: { max: '1000000', price: '50' } };

/** Starts a vendor's server with the SDK, for a new service. @returns its URL and its process */
export const startShop = async (
  run: Run,
  bench: BenchStack,
  sold: Partial<Pick<ShopSettings, 'prepaid' | 'tab'>>,
): Promise<{ origin: string; pid: number }> => {
  const { apiKey, serviceId } = await createBenchVendor(bench);
  const settings: ShopSettings = {
    baseUrl: bench.stack.gateway_url,
    serviceKey: apiKey,
    serviceId,
    redisUrl: bench.stack.redis_url,
    price: PRICE_MICRO.toString(),
    ...DEFAULTS,
    ...sold,
  };
  const child = await startChild(new URL('./main.ts', import.meta.url), settings);
  run.defer(child.stop);
  return { origin: (child.hello as { address: string }).address, pid: child.pid };
};
