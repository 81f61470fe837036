/**
 * Waits for work at most so long. The work itself is not ended.
 * @throws what `late` makes, if there is no answer within `ms` milliseconds
 */
export const within = async <T>(ms: number, work: Promise<T>, late: () => Error): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(late()), ms);
  });
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer));
};
