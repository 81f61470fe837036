import { type Sample, sampleOf } from '../harness/statistics.ts';

/** Calls a route with the same number of open calls all the time. */
export const callFor = async (
  get: (url: string) => Promise<Response>,
  url: string,
  seconds: number,
  concurrency: number,
): Promise<Sample> => {
  const times: number[] = [];
  const began = performance.now();
  const call = async (): Promise<void> => {
    while (performance.now() < began + seconds * 1000) {
      const before = performance.now();
      const response = await get(url);
      const text = await response.text();
      if (response.status !== 200) throw new Error(`${url} answered ${response.status}: ${text}`);
      times.push(performance.now() - before);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, call));
  return sampleOf(times, performance.now() - began);
};
