import type { Benchmark } from '../harness/run.ts';
import { counts } from './counts.ts';
import { gate } from './gate.ts';
import { consume, redeem } from './gates.ts';
import { growth } from './growth.ts';
import { metered } from './metered.ts';
import { migrate } from './migrate.ts';
import { paidRoute } from './paid-route.ts';
import { quote } from './quote.ts';
import { scaleOut } from './scale-out.ts';
import { settle } from './settle.ts';
import { soak } from './soak.ts';
import { steady } from './steady.ts';
import { sums } from './sums.ts';
import { x402 } from './x402.ts';

/** Every benchmark by its name in `npm run prove -- bench <name>`. */
export const benchmarks: Record<string, Benchmark> = {
  quote,
  settle,
  x402,
  'paid-route': paidRoute,
  redeem,
  consume,
  metered,
  gate,
  growth,
  migrate,
  sums,
  counts,
  'scale-out': scaleOut,
  soak,
  steady,
};
