import { readdirSync, readFileSync } from 'node:fs';

/** Of Linux's clock, which ticks 100 times a second in every build that one meets. */
const TICK_MS = 10;
const PAGE_KB = 4;

type Stat = { pid: number; parent: number; cpuMs: number; startedMs: number };

/** /proc/<pid>/stat, or null when the process is gone. */
const statOf = (pid: number): Stat | null => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may hold spaces itself; `fields[0]` is the third of proc(5).
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const ticks = (index: number) => Number(fields[index]);
    // User and system time, and that of children which have ended: Postgres' connections are
    // processes.
    const cpuMs = (ticks(11) + ticks(12) + ticks(13) + ticks(14)) * TICK_MS;
    return { pid, parent: ticks(1), cpuMs, startedMs: ticks(19) * TICK_MS };
  } catch {
    return null;
  }
};

/** The process and all below it. */
const treeOf = (pid: number): Stat[] => {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => statOf(Number(name)) ?? []);
  const members = new Set([pid]);
  // A child may be listed before its parent: its number is not always the greater one.
  for (let before = 0; before !== members.size; ) {
    before = members.size;
    for (const each of all) if (members.has(each.parent)) members.add(each.pid);
  }
  return all.filter((each) => members.has(each.pid));
};

/** CPU time so far, user and system, in milliseconds. */
export const cpuMsOf = (pid: number): number => treeOf(pid).reduce((sum, { cpuMs }) => sum + cpuMs, 0);

/** Resident memory in megabytes. Of a tree of processes what they share is counted once. */
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

/** Bytes that went to a disk, of the process and all below it. */
export const writtenBytesOf = (pid: number): number =>
  treeOf(pid).reduce((sum, each) => {
    try {
      const io = readFileSync(`/proc/${each.pid}/io`, 'utf8');
      return sum + Number(/^write_bytes: (\d+)/m.exec(io)?.[1] ?? 0);
    } catch {
      return sum;
    }
  }, 0);

/** How long the process has run, in milliseconds, by the machine's own clock. */
export const ageMsOf = (pid: number): number => {
  const uptime = Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]) * 1000;
  const stat = statOf(pid);
  if (stat === null) throw new Error(`process ${pid} is gone`);
  return uptime - stat.startedMs;
};

/** A setting that a process was started with. */
export const settingOf = (pid: number, name: string): string | undefined =>
  readFileSync(`/proc/${pid}/environ`, 'utf8')
    .split('\0')
    .find((each) => each.startsWith(`${name}=`))
    ?.slice(name.length + 1);
