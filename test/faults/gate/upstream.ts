import { type ChildProcess, fork } from 'node:child_process';
import path from 'node:path';
import type { Step } from './log.ts';

const UPSTREAM = path.join(import.meta.dirname, 'upstream.mjs');

/** `gave up`: nobody took a long answer. */
type Message = { id: number; path: string; step: Step | 'gave up'; delivery: string | null };

/**
 * The API behind a gate, which reports its steps. It is started again after it was killed.
 * @param price what its answers name
 */
export const createUpstream = (
  port: number,
  price: string,
  onStep: (message: Message) => Promise<'go on' | 'dead'>,
) => {
  let child: ChildProcess;
  const start = (): Promise<void> =>
    new Promise((resolve) => {
      const own = fork(UPSTREAM, [String(port), price], { execArgv: [] });
      child = own;
      own.on('message', (message: Message | { ready: true }) => {
        if ('ready' in message) return resolve();
        void onStep(message).then((then) => {
          // Another step may have ended it meanwhile.
          if (then === 'go on' && own.connected) own.send({ id: message.id }, () => undefined);
        });
      });
    });
  const kill = async (): Promise<void> => {
    const ended = new Promise((resolve) => child.once('close', resolve));
    child.kill('SIGKILL');
    await ended;
  };
  return { start, kill };
};
