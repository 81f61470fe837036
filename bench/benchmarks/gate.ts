import { createPortPicker } from '../../deploy/local/servers/ports.ts';
import { payingFetch } from '../../sdk/src/pay/main.ts';
import { createBenchVendor, createPayers } from '../harness/actors.ts';
import { type Cpu, measured, showCpu } from '../harness/cpu.ts';
import { sampled, startLoad } from '../harness/load.ts';
import { compare, type Side } from '../harness/rounds.ts';
import type { Benchmark, Run } from '../harness/run.ts';
import { type BenchStack, startBenchStack } from '../harness/stack.ts';
import { type Server, startNginx, startProxy } from '../proxies/proxies.ts';
import { callFor } from '../shop/calls.ts';

const CONCURRENCIES = [1, 16, 64];
const PAID_CONCURRENCY = 16;
const TAB = { max: '1000000', price: '50' };
/** A repeatable route stores no answers. The SDK's own routes have the same targets. */
const PAID = [
  { name: 'tab', path: '/tab', atLeast: 0.55 },
  { name: 'repeatable', path: '/repeatable', atLeast: 0.8 },
] as const;

export const gate: Benchmark = {
  about:
    'a gate before an API: a free route against a bare proxy of Node and nginx, tabs against the free one',
  run: async (run) => {
    const upstream = await startProxy(run, { kind: 'upstream' });
    const bench = await startBenchStack(run, 'stack', { chainSlotMs: 0 });
    const gateServer = await startGateOf(run, bench, upstream);
    await compareFree(run, upstream, gateServer);
    await comparePaid(run, bench, upstream, gateServer);
  },
};

const startGateOf = async (run: Run, bench: BenchStack, upstream: Server): Promise<Server> => {
  const { apiKey, serviceId } = await createBenchVendor(bench);
  const { stack } = bench;
  const port = await createPortPicker().any();
  return startProxy(run, {
    kind: 'gate',
    port,
    upstream: upstream.origin,
    settings: {
      paywall: {
        baseUrl: stack.gateway_url,
        serviceKey: apiKey,
        serviceId,
        environment: 'test',
        publicUrl: `http://127.0.0.1:${port}`,
      },
      routes: [
        { match: 'GET /tab', paid: { ...TAB, tab: true } },
        { match: 'GET /repeatable', paid: { ...TAB, tab: { replay: false } } },
      ],
      storeUrl: stack.redis_url,
    },
  });
};

/** The same requests through each proxy, from one load process. */
const compareFree = async (run: Run, upstream: Server, ours: Server): Promise<void> => {
  const bare = await startProxy(run, { kind: 'bare', upstream: upstream.origin });
  const nginx = await startNginx(run, upstream.origin);
  if (nginx === null) run.report.note('nginx is not on this machine: npm test extracts it');
  const load = await startLoad();
  run.defer(load.stop);
  const servers = { gate: ours, bare, ...(nginx === null ? {} : { nginx }) };
  for (const concurrency of run.options.concurrencies ?? CONCURRENCIES) {
    const title = `gate, a free route, concurrency ${concurrency}`;
    const cpu: Cpu = {};
    const sides = Object.entries(servers).map(
      ([name, { origin, pid }]): Side => ({
        name,
        round: (seconds) =>
          measured(
            () => ({ proxy: pid, upstream: upstream.pid, load: load.pid }),
            cpu,
            name,
            async () => {
              const calls = [{ method: 'GET' as const, path: '/free' }];
              return sampled(
                await load.run({ kind: 'calls', origin, calls, concurrency, seconds, repeat: true }),
              );
            },
          ),
      }),
    );
    const ratios = await compare(run, title, sides);
    showCpu(run, `${title}: CPU ms per call`, cpu);
    run.report.target({
      what: `${title}: throughput, share of a bare proxy’s`,
      value: ratios.bare!.perSecond.median,
      atLeast: 0.8,
    });
  }
};

/** Tabs through the paying fetch, and the free one with the plain fetch. */
const comparePaid = async (run: Run, bench: BenchStack, upstream: Server, ours: Server): Promise<void> => {
  const [payer] = await createPayers(bench, 1);
  const pay = payingFetch(fetch, {
    baseUrl: bench.stack.gateway_url,
    delegateKey: { environment: 'test', signIn: await payer!.token() },
    maxAmount: 1_000_000n,
  });
  const pids = () => ({ ...bench.pids(), gate: ours.pid, upstream: upstream.pid, buyer: process.pid });
  for (const { name, path, atLeast } of PAID) {
    const title = `gate, a ${name} route, concurrency ${PAID_CONCURRENCY}`;
    const cpu: Cpu = {};
    const side = (of: string, get: (url: string) => Promise<Response>, at: string): Side => ({
      name: of,
      round: (seconds) =>
        measured(pids, cpu, of, () => callFor(get, `${ours.origin}${at}`, seconds, PAID_CONCURRENCY)),
    });
    const ratios = await compare(run, title, [side(name, pay, path), side('free', fetch, '/free')]);
    showCpu(run, `${title}: CPU ms per call`, cpu);
    const value = ratios.free!.perSecond.median;
    run.report.target({ what: `${title}: throughput, share of the free route’s`, value, atLeast });
  }
};
