import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { isRunning, type ProcessIdentity, signal } from '../../deploy/local/processes/process-identity.ts';

type Found = ProcessIdentity & { parent: number };

/** The processes of this machine. */
const processes = (): Found[] =>
  readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      // The command in parentheses may contain spaces and parentheses.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return [{ pid: Number(name), parent: Number(fields[1]), started: fields[19]! }];
    } catch {
      return []; // It has ended.
    }
  });

/** A process and everything that it has started, the process first. */
export const treeOf = <T extends { pid: number; parent: number }>(all: readonly T[], pid: number): T[] => {
  const children = Map.groupBy(all, ({ parent }) => parent);
  const tree = all.filter((each) => each.pid === pid);
  for (const each of tree) tree.push(...(children.get(each.pid) ?? []));
  return tree;
};

const PERIOD_MS = 100;
const PERIODS_PER_READ = 5;

/**
 * Gives a process and all its descendants so many cores: they run for a part of each tenth of a
 * second and are stopped for the rest. That needs no rights, and no other process is signalled.
 * @returns ends it, and lets every process continue
 */
export const slowDown = (pid: number, cpu: number): (() => void) => {
  const share = cpu / availableParallelism();
  if (share >= 1) return () => {};
  if (process.platform !== 'linux') throw new Error('--cpu needs Linux');
  let tree: Found[] = [];
  let stopped: Found[] = [];
  let periods = 0;
  let timer: NodeJS.Timeout;
  const proceed = () => {
    // Also those whose parent has ended since.
    for (const each of stopped) if (isRunning(each)) signal(each.pid, 'SIGCONT');
    stopped = [];
    timer = setTimeout(halt, PERIOD_MS * share);
  };
  const halt = () => {
    if (periods % PERIODS_PER_READ === 0) tree = treeOf(processes(), pid);
    periods += 1;
    for (const each of tree) {
      stopped.push(each);
      if (isRunning(each)) signal(each.pid, 'SIGSTOP');
    }
    timer = setTimeout(proceed, PERIOD_MS * (1 - share));
  };
  proceed();
  return () => {
    clearTimeout(timer);
    proceed();
    clearTimeout(timer);
  };
};
