import { readFileSync } from 'node:fs';

/** Linux tells programs CPU time in hundredths of a second, whatever the kernel's own clock. */
const TICKS_PER_SECOND = 100;

/**
 * The CPU seconds, user and system, of this process and of all its descendants that have ended. A
 * system without /proc answers those of this process alone.
 */
export const cpuSeconds = (): number => {
  try {
    // The name of the program, in parentheses, may contain spaces.
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)!.split(' ');
    // utime, stime, cutime and cstime (man 5 proc).
    const ticks = fields.slice(11, 15).reduce((sum, each) => sum + Number(each), 0);
    return ticks / TICKS_PER_SECOND;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  }
};
