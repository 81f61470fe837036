import { readdirSync, readFileSync } from 'node:fs';
import { readTree } from '../../deploy/local/processes/process-stat.ts';

const PAGE_KB = 4;

/**
 * CPU time so far, user and system, in milliseconds: of a process with its descendants, but of this
 * process alone, because everything that is measured descends from it.
 */
export const cpuMsOf = (pid: number): number => {
  if (pid !== process.pid) return readTree(pid).reduce((sum, { cpuMs }) => sum + cpuMs, 0);
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/** Resident memory in megabytes. Memory that the processes of a tree share is counted once. */
export const residentMbOf = (pid: number): number => {
  const tree = readTree(pid);
  if (tree.length === 1) {
    const pages = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]);
    return (pages * PAGE_KB) / 1024;
  }
  const kilobytes = tree.map((each) => {
    try {
      const rollup = readFileSync(`/proc/${each.pid}/smaps_rollup`, 'utf8');
      return Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0);
    } catch {
      return 0;
    }
  });
  return kilobytes.reduce((sum, each) => sum + each, 0) / 1024;
};

/** Open files and sockets. */
export const handlesOf = (pid: number): number =>
  readTree(pid).reduce((sum, each) => {
    try {
      return sum + readdirSync(`/proc/${each.pid}/fd`).length;
    } catch {
      return sum;
    }
  }, 0);
