import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

type Child = {
  pid: number;
  process: ChildProcess;
  /** Sends a message and returns the answer. One at a time. @throws if the process ends */
  ask: <T>(message: object) => Promise<T>;
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
    ask: async <T>(message: object): Promise<T> => {
      const done = new AbortController();
      const { signal } = done;
      const answer = once(child, 'message', { signal });
      const exit = once(child, 'exit', { signal });
      exit.catch(() => {});
      child.send(message);
      return Promise.race([
        answer.then(([said]) => said as T),
        exit.then(() => Promise.reject(new Error(`${file.pathname} has ended`))),
      ]).finally(() => done.abort());
    },
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.disconnect();
      await gone;
    },
  };
};
