import { setTimeout as sleep } from 'node:timers/promises';
import { createVendor } from '../../deploy/local/seed/actors.ts';
import { scrape } from '../../test/support/servers/scrape.ts';
import { LANED } from '../../tools/k8s/load-scaling.ts';
import { createPayers } from '../harness/actors.ts';
import { startLoad } from '../harness/load.ts';
import { templatePayment } from '../harness/rows.ts';
import type { Benchmark, Run } from '../harness/run.ts';
import { type BenchStack, noteDurability, startBenchStack } from '../harness/stack.ts';
import { percentile } from '../harness/statistics.ts';
import { type LoadSamples, writeLoads } from '../load-ratios.ts';

const PRICE_MICRO = 50_000n;
const PAYERS = 32;
/** For each payment a second: a settle waits for the chain, and on a busy machine for more. */
const CONNECTIONS = 3;
const SLOT_MS = 400;
const SAMPLE_MS = 5000;
/** Access tokens are renewed between two slices. */
const SLICE_SECONDS = 60;
/** Replicas of settlement and of chain-submitter: enough that owners may share their lanes. */
const REPLICAS = 3;

/**
 * Payments of one vendor at 0.05 USDC, so many a second, with all settings as they are shipped but
 * the request limits of accounts. Nothing may be refused.
 */
export const steady: Benchmark = {
  about:
    'payments of one vendor, --rates (50) a second for --seconds each: refusals, and the loads of replicas',
  run: async (run) => {
    const { report, options } = run;
    const bench = await startBenchStack(run, 'stack', {
      chainSlotMs: SLOT_MS,
      hourlyCaps: {},
      instances: { settlement: REPLICAS, 'chain-submitter': REPLICAS },
    });
    await noteDurability(bench, run);
    const load = await startLoad();
    run.defer(load.stop);
    const vendor = await createVendor(bench.api, bench.stack, { price: PRICE_MICRO });
    const payers = await createPayers(bench, PAYERS);
    await templatePayment(bench, vendor, payers[0]!);
    const rows: (string | number)[][] = [];
    for (const perSecond of options.rates) {
      const sampling = startSampling(bench);
      const settles: number[] = [];
      const statuses: Record<string, number> = {};
      let [elapsed, failure] = [0, ''];
      while (elapsed < options.seconds) {
        const seconds = Math.min(SLICE_SECONDS, options.seconds - elapsed);
        report.progress(`steady: ${perSecond} a second, ${(options.seconds - elapsed).toFixed(0)} s to go`);
        const payerTokens = await Promise.all(payers.map(({ token }) => token()));
        const job = {
          origin: bench.stack.gateway_url,
          vendor,
          payerTokens,
          concurrency: CONNECTIONS * perSecond,
        };
        const outcome = await load.run({ kind: 'payments', ...job, seconds, perSecond }, { mayFail: true });
        settles.push(...(outcome.times.settle ?? []));
        for (const [status, count] of Object.entries(outcome.statuses))
          statuses[status] = (statuses[status] ?? 0) + count;
        failure ||= outcome.firstFailure ?? '';
        elapsed += seconds;
      }
      const samples = await sampling.stop();
      if (options.write) writeLoads(perSecond, samples, SAMPLE_MS / 1000);
      report.data(`${perSecond} a second`, { statuses, failure, samples });
      const refused = Object.entries(statuses).reduce(
        (sum, [status, count]) => (Number(status) >= 200 && Number(status) < 202 ? sum : sum + count),
        0,
      );
      rows.push([
        String(perSecond),
        settles.length / options.seconds,
        percentile(settles, 0.5),
        percentile(settles, 0.99),
        refused,
        ...LANED.map((service) => percentile(samples[service], 0.5)),
      ]);
      if (failure !== '') report.note(`${perSecond} a second: ${failure}`);
      report.target({
        what: `${perSecond} a second: answers that are no success`,
        value: refused,
        atMost: 0,
      });
    }
    showRates(run, rows);
  },
};

const showRates = ({ report }: Run, rows: (string | number)[][]): void =>
  report.table(
    'one vendor, 0.05 USDC a payment',
    [
      'asked a second',
      'settled a second',
      'settle p50 ms',
      'p99 ms',
      'not 200',
      ...LANED.map((name) => `${name}: load`),
    ],
    rows,
  );

/** The loads of the replicas that own lanes, as their pages show them. */
const startSampling = (bench: BenchStack) => {
  const stop = new AbortController();
  const samples = Object.fromEntries(LANED.map((service) => [service, [] as number[]])) as LoadSamples;
  const work = (async () => {
    while (!stop.signal.aborted) {
      await sleep(SAMPLE_MS, undefined, { signal: stop.signal }).catch(() => {});
      if (stop.signal.aborted) return;
      for (const service of LANED) samples[service].push(await loadOf(bench, service));
    }
  })();
  return {
    stop: async (): Promise<LoadSamples> => {
      stop.abort();
      await work;
      return samples;
    },
  };
};

const loadOf = async ({ stack }: BenchStack, service: string): Promise<number> => {
  const pages = Object.entries(stack.metrics).filter(([name]) => name.replace(/#\d+$/, '') === service);
  const loads = await Promise.all(
    pages.map(async ([, url]) => {
      const page = await scrape(url);
      return (page.value('quittance_lanes') ?? 0) > 0 ? (page.value('quittance_replica_load_ratio') ?? 0) : 0;
    }),
  );
  return loads.reduce((sum, each) => sum + each, 0);
};
