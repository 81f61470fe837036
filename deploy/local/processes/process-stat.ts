import { readdirSync, readFileSync } from 'node:fs';

/** Linux tells programs times in hundredths of a second, whatever the kernel's own clock. */
const TICK_MS = 10;

/**
 * A line of /proc/<pid>/stat (man 5 proc). `cpuMs`: user and system time, with that of children
 * that have ended. `started`: the start in ticks after that of the machine.
 */
type ProcessStat = {
  pid: number;
  state: string;
  parent: number;
  cpuMs: number;
  started: string;
  startedMs: number;
};

/** What Linux tells of a process; undefined if it has ended, or if there is no /proc. */
export const statOf = (pid: number): ProcessStat | undefined => {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
  // The name in parentheses may contain spaces and parentheses. `fields[0]` is the third field.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const ticks = fields.slice(11, 15).reduce((sum, each) => sum + Number(each), 0);
  return {
    pid,
    state: fields[0]!,
    parent: Number(fields[1]),
    cpuMs: ticks * TICK_MS,
    started: fields[19]!,
    startedMs: Number(fields[19]) * TICK_MS,
  };
};

/** A process and everything that it has started, the process first. */
export const treeOf = <T extends { pid: number; parent: number }>(all: readonly T[], pid: number): T[] => {
  const children = Map.groupBy(all, ({ parent }) => parent);
  const tree = all.filter((each) => each.pid === pid);
  for (const each of tree) tree.push(...(children.get(each.pid) ?? []));
  return tree;
};

/** A process of this machine and its descendants. */
export const readTree = (pid: number): ProcessStat[] =>
  treeOf(
    readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? (statOf(Number(name)) ?? []) : [])),
    pid,
  );
