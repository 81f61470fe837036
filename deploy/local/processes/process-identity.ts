import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { statOf } from './process-stat.ts';

/** Identifies a process even after its pid is reused. */
export type ProcessIdentity = { pid: number; started: string };

/**
 * The process that runs under this pid, or undefined.
 *
 * A zombie counts as ended: in a container PID 1 often never reaps, and `kill(pid, 0)` succeeds on
 * a zombie forever.
 */
export function identify(pid: number): ProcessIdentity | undefined {
  if (process.platform === 'linux') {
    const stat = statOf(pid);
    return stat === undefined || /[ZX]/.test(stat.state) ? undefined : { pid, started: stat.started };
  }
  try {
    const line = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    return line === '' || line.startsWith('Z') ? undefined : { pid, started: line.replace(/^\S+\s+/, '') };
  } catch {
    return undefined;
  }
}

/** True while the same process (same pid, same start time) runs. */
export function isRunning(identity: ProcessIdentity): boolean {
  return identify(identity.pid)?.started === identity.started;
}

/** Sends a signal and returns whether the process existed. */
export function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    process.kill(pid, name);
    return true;
  } catch {
    return false;
  }
}

/** Kills the whole group of a detached child, including the processes that it started. */
export function killGroup(pid: number): void {
  signal(-pid, 'SIGKILL');
}

/** Waits until none of them runs. Returns false if some still run after `milliseconds`. */
export async function waitUntilGone(identities: ProcessIdentity[], milliseconds: number): Promise<boolean> {
  const deadline = Date.now() + milliseconds;
  while (identities.some(isRunning)) {
    if (Date.now() >= deadline) return false;
    await sleep(20);
  }
  return true;
}
