import { payingFetch } from '../../sdk/src/pay/main.ts';
import { createPayers } from '../harness/actors.ts';
import { type Cpu, measured, showCpu } from '../harness/cpu.ts';
import { compare } from '../harness/rounds.ts';
import type { Benchmark, Run } from '../harness/run.ts';
import { type BenchStack, noteDurability, startBenchStack } from '../harness/stack.ts';
import { callFor } from '../shop/calls.ts';
import { startShop } from '../shop/shop.ts';
import { compareWithSkeleton } from './gates.ts';
import { compareSides, createSides } from './paid-route.ts';

const CONCURRENCY = 16;
type Get = (url: string) => Promise<Response>;
const THOUSAND = 1000;

/** The routes of the shop with a tab, and the targets. A repeatable one stores no answers. */
const ROUTES = [
  { name: 'tab', path: '/tab', atLeast: 0.55 },
  { name: 'tab, repeatable', path: '/repeatable-tab', atLeast: 0.8 },
] as const;

export const metered: Benchmark = {
  about:
    'pay for what was used: uses against the skeleton, tabs against the unpaid route, the first byte of a first call against the stock x402 route',
  run: async (run) => {
    const isWanted = (part: string): boolean => run.options.only?.includes(part) ?? true;
    if (isWanted('usage') || isWanted('tabs')) {
      const bench = await startBenchStack(run, 'stack', { chainSlotMs: 0 });
      await noteDurability(bench, run);
      if (isWanted('usage')) await compareWithSkeleton(run, bench, 'usage');
      if (isWanted('tabs')) await compareTabs(run, bench);
    }
    if (isWanted('first byte')) await compareFirstByte(run);
  },
};

/** A tab through the SDK on both sides, against the same route unpaid with one Redis call. */
const compareTabs = async (run: Run, bench: BenchStack): Promise<void> => {
  const shop = await startShop(run, bench, { max: '1000000', price: '50' });
  const [payer] = await createPayers(bench, 1);
  const delegateKey = { environment: 'test', signIn: await payer!.token() } as const;
  const pay = payingFetch(fetch, { baseUrl: bench.stack.gateway_url, delegateKey, maxAmount: 10_000_000n });
  const pids = () => ({ ...bench.pids(), shop: shop.pid, buyer: process.pid });
  await countTransactions(run, bench, `${shop.origin}/tab`, pay);
  for (const { name, path, atLeast } of ROUTES) {
    const cpu: Cpu = {};
    const side = (of: string, get: Get, at: string) => ({
      name: of,
      round: (seconds: number) =>
        measured(pids, cpu, of, () => callFor(get, `${shop.origin}${at}`, seconds, CONCURRENCY)),
    });
    const title = `${name}, concurrency ${CONCURRENCY}`;
    const ratios = await compare(run, title, [side(name, pay, path), side('unpaid', fetch, '/free')]);
    showCpu(run, `${title}: CPU ms per call`, cpu);
    const value = ratios.unpaid!.perSecond.median;
    run.report.target({ what: `${name}: throughput, share of the unpaid route’s`, value, atLeast });
  }
  await pay.closeTabs();
};

/** The transactions of a thousand calls. */
const countTransactions = async (
  run: Run,
  { db }: BenchStack,
  url: string,
  pay: ReturnType<typeof payingFetch>,
): Promise<void> => {
  const paid = async (): Promise<number> => {
    const { rows } = await db.query(
      'select count(*)::int as paid from settlement.settlements where tx_hash is not null',
    );
    return rows[0].paid as number;
  };
  const before = await paid();
  for (let made = 0; made < THOUSAND; made += 1) {
    const { status } = await pay(url);
    if (status !== 200) throw new Error(`${url} answered ${status}`);
  }
  await pay.closeTabs();
  // The tab is captured, and the transaction is recorded a moment later.
  const endsAt = performance.now() + 30_000;
  while ((await paid()) === before && performance.now() < endsAt)
    await new Promise((resolve) => setTimeout(resolve, 50));
  run.report.target({
    what: 'tab: transactions per thousand calls',
    value: (await paid()) - before,
    atMost: 1,
  });
};

/** The first call of a buyer, with slots of 400 ms. It waits for no transaction. */
const compareFirstByte = async (run: Run): Promise<void> => {
  const sides = await createSides(run, 'slots', true);
  // One caller, because with many the CPU of two cores is what they wait for.
  const pressure = { concurrency: 1, restUpToMs: 400, ownAddresses: true, untilFirstByte: true };
  await compareSides(run, sides, 'first byte of a first call', pressure, { p50: 0.25 });
};
