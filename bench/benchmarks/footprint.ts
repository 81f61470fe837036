import { setTimeout as sleep } from 'node:timers/promises';
import { responds } from '../../deploy/local/stack/tool-specs.ts';
import { createBenchVendor, createPayers, settleCalls } from '../harness/actors.ts';
import { settled } from '../harness/counters.ts';
import { type Load, startLoad } from '../harness/load.ts';
import { ageMsOf, cpuMsOf, residentMbOf, settingOf } from '../harness/process-figures.ts';
import type { Benchmark, Run } from '../harness/run.ts';
import { type BenchStack, startBenchStack } from '../harness/stack.ts';
import { summary } from '../harness/statistics.ts';

const CONCURRENCY = 16;
const PAYERS = 8;
const IDLE_MS = 10_000;
/**
 * More than any machine settles per second in this benchmark, so the load lasts for the whole
 * round.
 */
const PER_SECOND = 100;

/** The memory and the start-up time of each service. */
export const footprint: Benchmark = {
  about: 'memory of each service, idle and while payments are settled, and its start-up',
  run: async (run) => {
    const bench = await startBenchStack(run, 'stack', { chainSlotMs: 0 });
    const load = await startLoad();
    run.defer(load.stop);
    run.report.progress('idle');
    await sleep(IDLE_MS);
    const idle = residents(bench);
    const busy = await underLoad(run, bench, load);
    showMemory(run, bench, idle, busy);
    await startUps(run, bench);
  },
};

const services = ({ stack }: BenchStack): string[] => Object.keys(stack.metrics);

const residents = (bench: BenchStack): Record<string, number> =>
  Object.fromEntries(Object.entries(bench.pids()).map(([name, pid]) => [name, residentMbOf(pid)]));

/**
 * @returns the maximum memory of each process, sampled every second until all payments are final
 */
const underLoad = async (run: Run, bench: BenchStack, load: Load): Promise<Record<string, number>> => {
  const { rounds, seconds } = run.options;
  const vendor = await createBenchVendor(bench);
  const payers = await createPayers(bench, PAYERS);
  const peak: Record<string, number> = {};
  const sampling = setInterval(() => {
    for (const [name, mb] of Object.entries(residents(bench))) peak[name] = Math.max(peak[name] ?? 0, mb);
  }, 1000);
  try {
    for (let round = 0; round < rounds; round += 1) {
      run.report.progress(`under load: round ${round + 1} of ${rounds}`);
      const calls = await settleCalls(bench, load, {
        vendor,
        payers,
        count: Math.ceil(PER_SECOND * seconds),
      });
      const origin = bench.stack.gateway_url;
      await bench.profiled(() => load.run({ kind: 'calls', origin, calls, concurrency: CONCURRENCY }));
      await settled(bench);
    }
  } finally {
    clearInterval(sampling);
  }
  return peak;
};

const showMemory = (
  { report }: Run,
  bench: BenchStack,
  idle: Record<string, number>,
  busy: Record<string, number>,
): void => {
  report.table(
    'resident memory, MB',
    ['', 'idle', 'most under load'],
    Object.keys(idle).map((name) => [name, idle[name]!, busy[name] ?? Number.NaN]),
  );
  const most = (of: Record<string, number>) => Math.max(...services(bench).map((name) => of[name] ?? 0));
  report.target({ what: 'resident MB of the largest service, idle', value: most(idle), atMost: 110 });
  report.target({ what: 'resident MB of the largest service, under load', value: most(busy), atMost: 160 });
};

/**
 * Ends one service after the other and measures its successor, from the start of the process until
 * it is ready.
 */
const startUps = async (run: Run, bench: BenchStack): Promise<void> => {
  const times: Record<string, number[]> = {};
  const cpu: Record<string, number> = {};
  for (let round = 0; round < run.options.rounds; round += 1) {
    for (const name of services(bench)) {
      run.report.progress(`start-up: round ${round + 1} of ${run.options.rounds}, ${name}`);
      times[name] = [...(times[name] ?? []), await startUpMs(bench, name)];
      cpu[name] = Math.min(cpu[name] ?? Number.POSITIVE_INFINITY, cpuMsOf(bench.pids()[name]!));
    }
  }
  const rows = Object.entries(times).map(([name, values]) => ({ name, ...summary(values) }));
  run.report.table(
    'start-up, ms',
    ['', 'min', 'median', 'max', 'CPU min'],
    rows.map(({ name, min, median, max }) => [name, min, median, max, cpu[name]!]),
  );
  const slowest = Math.max(...rows.map(({ median }) => median));
  run.report.target({ what: 'start-up of the slowest service, ms', value: slowest, atMost: 1200 });
};

const startUpMs = async (bench: BenchStack, name: string): Promise<number> => {
  const old = bench.pids()[name]!;
  // A process of our own stack, whose supervisor starts the successor.
  process.kill(old, 'SIGTERM');
  for (let tries = 0; tries < 3000; tries += 1) {
    const pid = bench.pids()[name];
    if (pid !== undefined && pid !== old) {
      const url = `http://127.0.0.1:${settingOf(pid, 'HTTP_PORT')}/v1/health/ready`;
      if (await responds(url)) return ageMsOf(pid);
    }
    await sleep(10);
  }
  throw new Error(`${name} did not start again`);
};
