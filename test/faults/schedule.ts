import type { Fault } from './fault.ts';
import type { Rng } from './rng.ts';

/**
 * The schedule: rounds of all chosen faults, each round in another order, so that a short run
 * leaves none out. The same seed gives the same faults with the same choices in the same order. How
 * many of them run depends on the time.
 */
export function* schedule(faults: readonly Fault[], rng: Rng): Generator<{ fault: Fault; own: Rng }> {
  for (let number = 0; ; ) {
    for (const fault of rng.shuffle(faults)) {
      yield { fault, own: rng.fork(number) };
      number += 1;
    }
  }
}
