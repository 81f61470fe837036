import { useEffect, useState } from 'react';
import { startWorker } from '../lib/worker.ts';
import type { Operations, Question, Reply } from './wallet-worker.ts';
import address from './wallet-worker.ts?worker&url';

/** The page's client of the wallet worker. Secrets go in and signatures come out, never a key. */
export type WalletWorker = {
  [name in keyof Operations]: (
    input: Parameters<Operations[name]>[0],
  ) => Promise<Awaited<ReturnType<Operations[name]>>>;
};

/** An error of the worker. `name` is the name of the original error. */
export class WalletError extends Error {
  constructor({ name, message }: { name: string; message: string }) {
    super(message);
    this.name = name;
  }
}

const start = (): { calls: WalletWorker; end: () => void } => {
  const worker = startWorker(address);
  const waiting = new Map<number, { resolve: (answer: never) => void; reject: (error: Error) => void }>();
  let last = 0;
  worker.addEventListener('message', ({ data }: MessageEvent<Reply>) => {
    const asked = waiting.get(data.id);
    waiting.delete(data.id);
    if ('error' in data) asked?.reject(new WalletError(data.error));
    else asked?.resolve(data.answer as never);
  });
  worker.addEventListener('error', () => {
    for (const { reject } of waiting.values())
      reject(new Error('The wallet worker of this page did not start.'));
    waiting.clear();
  });
  const call = (name: keyof Operations) => (input: unknown) =>
    new Promise((resolve, reject) => {
      last += 1;
      waiting.set(last, { resolve, reject });
      worker.postMessage({ id: last, name, input: input as never } satisfies Question);
    });
  return {
    calls: {
      make: call('make'),
      prove: call('prove'),
      read: call('read'),
      sign: call('sign'),
      addPasskey: call('addPasskey'),
    } as WalletWorker,
    end: () => worker.terminate(),
  };
};

/** A worker that runs as long as a dialog is open, with its memory. Null at first. */
export const useWalletWorker = (): WalletWorker | null => {
  const [calls, setCalls] = useState<WalletWorker | null>(null);
  useEffect(() => {
    const worker = start();
    setCalls(worker.calls);
    return worker.end;
  }, []);
  return calls;
};
