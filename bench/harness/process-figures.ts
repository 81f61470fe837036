import { readdirSync, readFileSync } from 'node:fs';

/** Linux's clock ticks 100 times a second in all usual builds. */
const TICK_MS = 10;
const PAGE_KB = 4;

type Stat = { pid: number; parent: number; cpuMs: number; startedMs: number };

/** /proc/<pid>/stat, or null if the process has ended. */
const statOf = (pid: number): Stat | null => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may contain spaces. `fields[0]` is the third field of proc(5).
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const ticks = (index: number) => Number(fields[index]);
    // User and system time, including children that have ended, because Postgres' connections are
    // processes.
    const cpuMs = (ticks(11) + ticks(12) + ticks(13) + ticks(14)) * TICK_MS;
    return { pid, parent: ticks(1), cpuMs, startedMs: ticks(19) * TICK_MS };
  } catch {
    return null;
  }
};

/** The process and all its descendants. */
const treeOf = (pid: number): Stat[] => {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => statOf(Number(name)) ?? []);
  const members = new Set([pid]);
  // A child may be listed before its parent, because its pid is not always the greater one.
  for (let before = 0; before !== members.size; ) {
    before = members.size;
    for (const each of all) if (members.has(each.parent)) members.add(each.pid);
  }
  return all.filter((each) => members.has(each.pid));
};

/**
 * CPU time so far, user and system, in milliseconds: of a process with its descendants, but of this
 * process alone, because everything that is measured descends from it.
 */
export const cpuMsOf = (pid: number): number => {
  if (pid !== process.pid) return treeOf(pid).reduce((sum, { cpuMs }) => sum + cpuMs, 0);
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/** Resident memory in megabytes. Memory that the processes of a tree share is counted once. */
export const residentMbOf = (pid: number): number => {
  const tree = treeOf(pid);
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
  treeOf(pid).reduce((sum, each) => {
    try {
      return sum + readdirSync(`/proc/${each.pid}/fd`).length;
    } catch {
      return sum;
    }
  }, 0);

/** Bytes that the process and its descendants wrote to a disk. */
export const writtenBytesOf = (pid: number): number =>
  treeOf(pid).reduce((sum, each) => {
    try {
      const io = readFileSync(`/proc/${each.pid}/io`, 'utf8');
      return sum + Number(/^write_bytes: (\d+)/m.exec(io)?.[1] ?? 0);
    } catch {
      return sum;
    }
  }, 0);

/** How long the process has run, in milliseconds, by the clock of the machine. */
export const ageMsOf = (pid: number): number => {
  const uptime = Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]) * 1000;
  const stat = statOf(pid);
  if (stat === null) throw new Error(`process ${pid} has ended`);
  return uptime - stat.startedMs;
};

/** A setting in the environment with which a process was started. */
export const settingOf = (pid: number, name: string): string | undefined =>
  readFileSync(`/proc/${pid}/environ`, 'utf8')
    .split('\0')
    .find((each) => each.startsWith(`${name}=`))
    ?.slice(name.length + 1);
