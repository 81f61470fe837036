import type { Cryptoki } from './cryptoki.ts';
import { KeyRefused } from './return-values.ts';

/**
 * The state of a module in this process. A module is initialised once for all of its tokens. After
 * an error it is finalised and initialised again, because that is the only state from which every
 * module finds a token again.
 */
export type Pkcs11Module = {
  /** @throws what the work throws. Unless it is KeyRefused, the module is opened again. */
  use: <T>(work: (cryptoki: Cryptoki, generation: number) => Promise<T>) => Promise<T>;
};

/** @param load loads the shared library; it is called until it succeeds once */
export const createModule = (load: () => Promise<Cryptoki>): Pkcs11Module => {
  let loaded: Cryptoki | null = null;
  let opened: Promise<Cryptoki> | null = null;
  let closing: Promise<void> = Promise.resolve();
  let generation = 0;
  const running = new Set<Promise<unknown>>();

  const open = async (): Promise<Cryptoki> => {
    await closing;
    loaded ??= await load();
    await loaded.initialize();
    return loaded;
  };

  /** Closes a generation when its last call has ended. No call may run in C_Finalize. */
  const close = (of: number): void => {
    if (of !== generation) return;
    const cryptoki = opened;
    const calls = [...running];
    generation += 1;
    opened = null;
    closing = Promise.allSettled(calls)
      .then(() => cryptoki)
      .then((each) => each?.finalize())
      .catch(() => {}); // It is initialised again in any case.
  };

  return {
    use: async (work) => {
      opened ??= open();
      const of = generation;
      const result = opened.then((cryptoki) => work(cryptoki, of));
      running.add(result);
      try {
        return await result;
      } catch (error) {
        running.delete(result);
        if (!(error instanceof KeyRefused)) close(of);
        throw error;
      } finally {
        running.delete(result);
      }
    },
  };
};
