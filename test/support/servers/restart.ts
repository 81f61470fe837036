import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { signal } from '../../../deploy/local/processes/process-identity.ts';
import type { Stack } from '../../../deploy/local/stack/stack-file.ts';

const BACK_MS = 30_000;

/**
 * Ends a process of a running stack with SIGTERM and waits until its successor is ready.
 * @param stateDir of the stack: its logs show which process is ready
 * @param name as in stack.json
 */
export const restart = async (stateDir: string, name: string): Promise<void> => {
  const log = path.join(stateDir, 'logs', `${name}.log`);
  const word = name.startsWith('gateway') ? '"msg":"listening"' : '"msg":"ready"';
  const readyCount = () => (existsSync(log) ? readFileSync(log, 'utf8').split(word).length - 1 : 0);
  const stack = JSON.parse(readFileSync(path.join(stateDir, 'stack.json'), 'utf8')) as Stack;
  const pid = stack.processes[name];
  if (pid === undefined) throw new Error(`${name} is not running, so it cannot be restarted`);
  const before = readyCount();
  signal(pid, 'SIGTERM');
  const deadline = Date.now() + BACK_MS;
  while (readyCount() <= before) {
    if (Date.now() > deadline) throw new Error(`${name} was not restarted after SIGTERM`);
    await sleep(50);
  }
};
