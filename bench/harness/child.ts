import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

type Child = {
  pid: number;
  process: ChildProcess;
  /** Its first message, which means that it is ready. */
  hello: unknown;
  stop: () => Promise<void>;
};

/**
 * Starts a program of the benchmarks as its own process and waits for its first message. The
 * program ends with this process, because it exits when the channel to its parent closes.
 * @param settings the first argument, as JSON
 * @throws if it ends before it is ready
 */
export const startChild = async (file: URL, settings: object = {}): Promise<Child> => {
  const child = fork(file, [JSON.stringify(settings)], { serialization: 'advanced' });
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`${file.pathname} ended with code ${code} before it was ready`);
  });
  const [hello] = (await Promise.race([once(child, 'message'), ended])) as [unknown];
  ended.catch(() => {});
  return {
    pid: child.pid!,
    process: child,
    hello,
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.disconnect();
      await gone;
    },
  };
};
