import { type Fault, over } from '../fault.ts';
import type { Break } from '../invariants.ts';
import { bodyOf, type Ledger } from '../ledger.ts';
import type { World } from '../world.ts';

/** Those with a second instance: the other one answers meanwhile. */
const isDoubled = (world: World, name: string) => world.names.includes(`${name.replace(/#2$/, '')}#2`);

/**
 * SIGTERM to one process after the other, each when its predecessor is back, under load. Whoever asks meanwhile gets an
 * answer, at worst a 503 that says what is safe.
 */
export const rolling = (world: World, ledger: Ledger, breaks: Break[]): Fault => ({
  name: 'rolling-restart',
  holdMs: [200, 500],
  inject: async (rng) => {
    await world.healthy();
    const from = Date.now();
    for (const name of rng.shuffle(world.names).filter((each) => isDoubled(world, each)))
      await world.restart(name);
    const to = Date.now();
    for (const attempt of ledger.attempts) {
      for (const answer of attempt.answers) {
        if (answer.askedAt < from || answer.at > to) continue;
        const { status, body } = answer;
        const clean = status !== null && (status < 500 || (status === 503 && bodyOf(answer).error));
        if (clean) continue;
        breaks.push({
          invariant: 'restarts-are-unseen',
          what: `${status} ${JSON.stringify(body)} during a rolling restart`,
          attempt,
        });
      }
    }
    return over;
  },
});
