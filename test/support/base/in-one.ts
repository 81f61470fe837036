const LENGTH_MS = { day: 86_400_000, hour: 3_600_000 };

/**
 * Runs work whose result holds within one UTC day or hour, because the product counts by it. If the
 * work fails and the next day or hour began meanwhile, it runs again.
 */
export const inOne = async <T>(period: keyof typeof LENGTH_MS, work: () => Promise<T>): Promise<T> => {
  const number = () => Math.floor(Date.now() / LENGTH_MS[period]);
  const began = number();
  try {
    return await work();
  } catch (error) {
    if (number() === began) throw error;
    return await work();
  }
};
