import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { writeAtomically } from './atomic-file.ts';
import {
  identify,
  isRunning,
  killGroup,
  type ProcessIdentity,
  signal,
  waitUntilGone,
} from './process-identity.ts';

type LockContent = { supervisor: ProcessIdentity; children: (ProcessIdentity & { name: string })[] };

export type Lock = {
  /**
   * Stores the list of children, so that a later start can end them if both the supervisor and the
   * reaper are killed.
   */
  setChildren: (children: (ProcessIdentity & { name: string })[]) => void;
  release: () => void;
};

/** Another stack uses the same state folder. `pid` is its supervisor's. */
export class StackRunningError extends Error {
  readonly pid: number;
  constructor(pid: number, stateDir: string) {
    super(
      `A stack is already running with the state folder ${stateDir} (pid ${pid}). Stop that stack first.`,
    );
    this.pid = pid;
  }
}

/**
 * Locks the state folder for this process. It replaces the lock of a dead supervisor after that
 * supervisor's children have ended: the reaper has `leftoverMilliseconds`, then they are killed.
 *
 * @throws StackRunningError if the holder is alive. Ports cannot prevent a second start, because
 *   every start picks free ones.
 */
export async function takeLock(
  stateDir: string,
  print: (line: string) => void,
  leftoverMilliseconds = 6000,
): Promise<Lock> {
  mkdirSync(stateDir, { recursive: true });
  const file = path.join(stateDir, 'lock.json');
  const supervisor = identify(process.pid);
  if (!supervisor) throw new Error('cannot read the start time of this process');

  while (!createLock(file, { supervisor, children: [] })) {
    const text = readIfThere(file);
    if (text === undefined) continue;
    const holder = parseLock(text);
    if (holder && isRunning(holder.supervisor)) throw new StackRunningError(holder.supervisor.pid, stateDir);
    if (removeStale(file, text) && holder) await endLeftovers(holder, print, leftoverMilliseconds);
  }
  return {
    setChildren: (children) => writeAtomically(file, JSON.stringify({ supervisor, children })),
    release: () => rmSync(file, { force: true }),
  };
}

/**
 * Creates the lock as a hard link of a complete file. Of two simultaneous starts only one succeeds,
 * and none reads an incomplete lock.
 */
function createLock(file: string, content: LockContent): boolean {
  const temporary = `${file}.${process.pid}.new`;
  writeFileSync(temporary, JSON.stringify(content));
  try {
    linkSync(temporary, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}

/**
 * Removes the stale lock that was read. If another start replaced it in the meantime, the new lock
 * is restored.
 */
function removeStale(file: string, expected: string): boolean {
  const aside = `${file}.${process.pid}.stale`;
  try {
    renameSync(file, aside);
  } catch {
    return false;
  }
  const same = readFileSync(aside, 'utf8') === expected;
  if (!same) {
    try {
      linkSync(aside, file);
    } catch {
      // A third start holds the lock already.
    }
  }
  rmSync(aside, { force: true });
  return same;
}

async function endLeftovers(
  { children }: LockContent,
  print: (line: string) => void,
  milliseconds: number,
): Promise<void> {
  const alive = children.filter(isRunning);
  if (alive.length === 0) return;
  print(`Ending the processes of a stack that was killed: ${alive.map(({ name }) => name).join(', ')}`);
  if (await waitUntilGone(alive, milliseconds)) return;
  for (const { pid } of alive.filter(isRunning)) {
    signal(pid, 'SIGKILL');
    killGroup(pid);
  }
  await waitUntilGone(alive, 3000);
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function parseLock(text: string): LockContent | undefined {
  try {
    return JSON.parse(text) as LockContent;
  } catch {
    return undefined;
  }
}
