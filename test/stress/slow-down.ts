import { availableParallelism } from 'node:os';
import { isRunning, type ProcessIdentity, signal } from '../../deploy/local/processes/process-identity.ts';
import { readTree } from '../../deploy/local/processes/process-stat.ts';

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
  let tree: ProcessIdentity[] = [];
  let stopped: ProcessIdentity[] = [];
  let periods = 0;
  let timer: NodeJS.Timeout;
  const proceed = () => {
    // Also those whose parent has ended since.
    for (const each of stopped) if (isRunning(each)) signal(each.pid, 'SIGCONT');
    stopped = [];
    timer = setTimeout(halt, PERIOD_MS * share);
  };
  const halt = () => {
    if (periods % PERIODS_PER_READ === 0) tree = readTree(pid);
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
