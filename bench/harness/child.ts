import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

type Child = {
  pid: number;
  process: ChildProcess;
  /** What it said once it was ready. */
  hello: unknown;
  stop: () => Promise<void>;
};

/**
 * Starts a program of the benchmarks as its own process and waits for its first message, that it is
 * ready. It ends with us: each of them exits when the channel to its parent is gone.
 * @param settings given as the first argument, as JSON
 * @throws when it ends before it is ready
 */
export const startChild = async (file: URL, settings: object = {}): Promise<Child> => {
  const child = fork(file, [JSON.stringify(settings)], { serialization: 'advanced' });
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`${file.pathname} ended with ${code}`);
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
