import { existsSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { type Lock, takeLock } from '../processes/lock.ts';
import { createSupervisor } from '../processes/supervisor.ts';
import { repositoryRoot } from '../servers/binaries.mjs';
import { outsideFolder } from '../servers/postgres-server.ts';
import { boot } from './boot.ts';
import type { Settings, StackOptions } from './settings.ts';
import { removeStackFile, type Stack, writeStackFile } from './stack-file.ts';
import { checkStateFormat } from './state-format.mjs';

export type RunningStack = {
  stack: Stack;
  /** The path of stack.json, which is up to date while the stack runs. */
  stackFile: string;
  /** Stops processes and starts them again, for new code. @throws if one does not start */
  replace: (names: readonly string[]) => Promise<void>;
  /** Stops everything, services first, and frees the state folder. */
  stop: () => Promise<void>;
  /** Kills the remaining processes, if stopping takes too long. */
  abort: () => void;
};

/**
 * Starts servers, chains and services. Returns when the gateway is ready and stack.json is written.
 *
 * @throws StackRunningError if a stack with this state folder runs; otherwise an error with the
 *   last output of the process that did not start, after everything was stopped again.
 */
export async function startStack(options: StackOptions = {}): Promise<RunningStack> {
  const stateDir = path.resolve(options.stateDir ?? path.join(repositoryRoot, '.local'));
  const stackFile = path.join(stateDir, 'stack.json');
  const settings: Settings = { ...options, stateDir, stackFile, print: options.print ?? (() => {}) };
  const lock = await takeLock(stateDir, settings.print);
  try {
    removeStackFile(stackFile);
    if (options.fresh) removeState(stateDir);
    if (!options.external?.postgresUrls) checkStateFormat(stateDir, repositoryRoot, options.databases);
    try {
      return await startOnce(settings, lock);
    } catch (error) {
      // Another program took a port between our check and the server's start.
      if (!/EADDRINUSE|address already in use/i.test((error as Error).message)) throw error;
      settings.print('Another program has taken a port, starting again with other ports');
      return await startOnce(settings, lock);
    }
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function startOnce(settings: Settings, lock: Lock): Promise<RunningStack> {
  const { stateDir, stackFile, print, signal } = settings;
  let stack: Stack | undefined;
  const supervisor = createSupervisor({
    logDir: path.join(stateDir, 'logs'),
    stackFile,
    lock,
    print,
    onChange: () => {
      if (stack) writeStackFile(stackFile, { ...stack, processes: supervisor.pids() });
    },
  });
  const stop = async (): Promise<void> => {
    stack = undefined;
    removeStackFile(stackFile);
    await supervisor.stop();
  };
  const abortStart = (): void => void stop();
  signal?.addEventListener('abort', abortStart, { once: true });
  try {
    signal?.throwIfAborted();
    const addresses = await boot(settings, supervisor);
    signal?.throwIfAborted();
    stack = { ...addresses, processes: supervisor.pids() };
    writeStackFile(stackFile, stack);
    return {
      stack,
      stackFile,
      replace: supervisor.replace,
      stop: async () => {
        await stop();
        lock.release();
      },
      abort: supervisor.abort,
    };
  } catch (error) {
    await stop();
    throw error;
  } finally {
    signal?.removeEventListener('abort', abortStart);
  }
}

/**
 * Everything that a start writes. The files of the set-up and the compiler in the same folder stay.
 */
function removeState(stateDir: string): void {
  const state =
    /^(stack\.json|state-format\.json|limits\.json|keys-.+\.json|seed-.+\.json|postgres(-.+)?|nats|redis|mail|prometheus|logs|(chain|onramps)-.+)$/;
  for (const name of existsSync(stateDir) ? readdirSync(stateDir) : []) {
    if (state.test(name)) rmSync(path.join(stateDir, name), { recursive: true, force: true });
  }
  rmSync(outsideFolder(stateDir), { recursive: true, force: true });
}
