import type { Benchmark } from '../frame/run.ts';
import { consume, redeem, verify } from './gates.ts';
import { growth } from './growth.ts';
import { quote } from './quote.ts';
import { settle } from './settle.ts';

/** Every benchmark by the name that `npm run bench -- <name>` takes. */
export const benchmarks: Record<string, Benchmark> = {
  quote,
  settle,
  redeem,
  verify,
  consume,
  growth,
};
