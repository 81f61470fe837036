import { payingFetch } from '../../sdk/src/pay/main.ts';
import { createPayers } from '../harness/actors.ts';
import { type Cpu, measured, showCpu } from '../harness/cpu.ts';
import { compare } from '../harness/rounds.ts';
import type { Benchmark } from '../harness/run.ts';
import { startBenchStack } from '../harness/stack.ts';
import { callFor } from '../shop/calls.ts';
import { startShop } from '../shop/shop.ts';

const CONCURRENCY = 16;
const PREPAID = { units: 1000, ahead: 250 };

/** The routes of the shop, and the targets. A repeatable one stores no answers. */
const ROUTES = [
  { name: 'prepaid', path: '/prepaid', atLeast: 0.55 },
  { name: 'prepaid, repeatable', path: '/repeatable', atLeast: 0.7 },
] as const;

type Get = (url: string) => Promise<Response>;

export const prepaid: Benchmark = {
  about: 'a prepaid route through the SDK on both sides, against the same route unpaid with one Redis call',
  run: async (run) => {
    const bench = await startBenchStack(run, 'stack', { chainSlotMs: 0 });
    const shop = await startShop(run, bench, { prepaid: PREPAID });
    const [payer] = await createPayers(bench, 1);
    const baseUrl = bench.stack.gateway_url;
    const delegateKey = { environment: 'test', signIn: await payer!.token() } as const;
    const pay = payingFetch(fetch, { baseUrl, delegateKey, maxAmount: 1_000_000n });
    const pids = () => ({ ...bench.pids(), shop: shop.pid, buyer: process.pid });
    for (const { name, path, atLeast } of ROUTES) {
      const cpu: Cpu = {};
      const side = (of: string, get: Get, at: string) => ({
        name: of,
        round: (seconds: number) =>
          measured(pids, cpu, of, () => callFor(get, `${shop.origin}${at}`, seconds, CONCURRENCY)),
      });
      const title = `${name}, ${PREPAID.units} calls per settlement, ${PREPAID.ahead} consumed ahead, concurrency ${CONCURRENCY}`;
      const ratios = await compare(run, title, [side(name, pay, path), side('unpaid', fetch, '/free')]);
      showCpu(run, `${title}: CPU ms per call`, cpu);
      run.report.target({
        what: `${name}: throughput, share of the unpaid route’s`,
        value: ratios.unpaid!.perSecond.median,
        atLeast,
      });
    }
  },
};
