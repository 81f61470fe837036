import { setTimeout as sleep } from 'node:timers/promises';
import { cpuMsOf } from './process-figures.ts';
import type { Run } from './run.ts';
import { type Sample, summary } from './statistics.ts';

/** Time for the work after the calls of a round. */
const AFTERMATH_MS = 1500;

/** CPU milliseconds per call: by side, by program (all replicas), one value per round. */
export type Cpu = Record<string, Record<string, number[]>>;
export type Pids = () => Record<string, number>;

/**
 * Runs a round of a side and waits for the work after its calls: events that others consume, rows
 * that are deleted.
 */
export const measured = async (
  pids: Pids,
  cpu: Cpu,
  side: string,
  work: () => Promise<Sample>,
): Promise<Sample> => {
  const read = () => {
    const sums: Record<string, number> = {};
    for (const [name, pid] of Object.entries(pids())) {
      const program = name.replace(/#\d+$/, '');
      sums[program] = (sums[program] ?? 0) + cpuMsOf(pid);
    }
    return sums;
  };
  const before = read();
  const sample = await work();
  await sleep(AFTERMATH_MS);
  const each = Object.entries(read()).map(([name, ms]): [string, number] => [
    name,
    (ms - before[name]!) / sample.calls,
  ]);
  const all = each.reduce((sum, [, ms]) => sum + ms, 0);
  cpu[side] ??= {};
  for (const [name, ms] of [['all', all] as const, ...each])
    cpu[side][name] = [...(cpu[side][name] ?? []), ms];
  return sample;
};

/** Medians of the rounds after the warm-up ones, which are counted too. */
export const showCpu = (run: Run, title: string, cpu: Cpu, { warmUps = 1 } = {}): void => {
  const [ours, ...others] = Object.keys(cpu) as [string, ...string[]];
  const median = (side: string, name: string) => summary(cpu[side]![name]!.slice(warmUps)).median;
  const names = Object.keys(cpu[ours]!).toSorted((a, b) => median(ours, b) - median(ours, a));
  run.report.table(
    title,
    ['', ours, ...others],
    names.map((name) => [name, ...[ours, ...others].map((side) => median(side, name))]),
  );
};
