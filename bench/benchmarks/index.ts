import type { Benchmark } from '../harness/run.ts';
import { consolePages } from './console.ts';
import { counts } from './counts.ts';
import { firstCall } from './first-call.ts';
import { footprint } from './footprint.ts';
import { gate } from './gate.ts';
import { consume, redeem, verify } from './gates.ts';
import { growth } from './growth.ts';
import { idle } from './idle.ts';
import { metered } from './metered.ts';
import { paidRoute } from './paid-route.ts';
import { prepaid } from './prepaid.ts';
import { quote } from './quote.ts';
import { scaleOut } from './scale-out.ts';
import { settle } from './settle.ts';
import { soak } from './soak.ts';
import { visibility } from './visibility.ts';
import { x402 } from './x402.ts';

/** Every benchmark by its name in `npm run bench -- <name>`. */
export const benchmarks: Record<string, Benchmark> = {
  quote,
  settle,
  x402,
  'paid-route': paidRoute,
  redeem,
  verify,
  consume,
  prepaid,
  metered,
  gate,
  'first-call': firstCall,
  growth,
  counts,
  footprint,
  idle,
  'scale-out': scaleOut,
  soak,
  visibility,
  console: consolePages,
};
