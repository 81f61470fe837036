import { readFileSync } from 'node:fs';
import path from 'node:path';
import { signal } from '../../deploy/local/processes/process-identity.ts';
import type { Stack } from '../../deploy/local/stack/stack-file.ts';

const stackOf = (stateDir: string): Stack =>
  JSON.parse(readFileSync(path.join(stateDir, 'stack.json'), 'utf8')) as Stack;

/** The names of a stack's processes that match, as in stack.json. */
export const processNames = (stateDir: string, pattern: RegExp): string[] =>
  Object.keys(stackOf(stateDir).processes).filter((name) => pattern.test(name));

/** Kills a process of a running stack without warning. The supervisor starts it again. */
export const killProcess = (stateDir: string, name: string): void => {
  const pid = stackOf(stateDir).processes[name];
  if (pid === undefined) throw new Error(`${name} is not running, so it cannot be killed`);
  signal(pid, 'SIGKILL');
};
