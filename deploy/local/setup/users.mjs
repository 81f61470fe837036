// Which processes run from a folder of packages.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';

/** A set-up or npm itself reads nothing of the packages later. */
const SETUP = /tools\/run\.mjs|deploy\/local\/setup\/|^npm /;

/** The pids of the processes that this Node binary runs, without this one and other set-ups. */
export function usersOf(binary) {
  let real;
  try {
    real = realpathSync(binary);
  } catch {
    return [];
  }
  return processes()
    .filter(({ pid, program, command }) => pid !== process.pid && program === real && !SETUP.test(command))
    .map(({ pid }) => pid);
}

function processes() {
  if (process.platform !== 'linux') return listed();
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const program = readlinkSync(`/proc/${pid}/exe`);
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
        return [{ pid: Number(pid), program, command }];
      } catch {
        // It ended, or belongs to another user.
        return [];
      }
    });
}

function listed() {
  const lines = (columns) => execFileSync('ps', ['-axo', columns], { encoding: 'utf8' }).trim().split('\n');
  const commands = new Map(lines('pid=,args=').map((line) => split(line)));
  return lines('pid=,comm=').map((line) => {
    const [pid, program] = split(line);
    return { pid, program, command: commands.get(pid) ?? '' };
  });
}

function split(line) {
  const [, pid, rest] = /^\s*(\d+)\s+(.*)$/.exec(line) ?? [];
  return [Number(pid), rest ?? ''];
}
