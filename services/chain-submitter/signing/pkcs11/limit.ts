/** Work did not end in time. It may still be running. */
class TooLate extends Error {}

/**
 * Runs at most `size` pieces of work at once. Others wait for their turn.
 * @returns a function that rejects with TooLate after `withinMs`, the waiting time included. Work
 *   that waits is then never started. Work that runs keeps its place until it ends.
 */
export const createLimit = (size: number) => {
  let running = 0;
  const waiting = new Set<() => void>();

  const next = () => {
    const [first] = waiting;
    if (first === undefined || running >= size) return;
    waiting.delete(first);
    first();
  };

  return <T>(work: () => Promise<T>, withinMs: number): Promise<T> =>
    new Promise((resolve, reject) => {
      const start = () => {
        running += 1;
        void work()
          .then(resolve, reject)
          .finally(() => {
            clearTimeout(timer);
            running -= 1;
            next();
          });
      };
      const timer = setTimeout(() => {
        waiting.delete(start);
        reject(new TooLate(`It did not answer within ${withinMs / 1000} s.`));
      }, withinMs);
      waiting.add(start);
      next();
    });
};
