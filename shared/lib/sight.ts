import { setTimeout as sleep } from 'node:timers/promises';

const TRIES = 5;
const PAUSE_MS = 200;

/**
 * A sight of the chain that is not older than what is known to have happened: right after a confirmation another
 * node may still lag behind the one that told of it. After a second the sight is taken as it is.
 * @param slot of what must be seen, null when nothing must
 */
export const sightSince = async <S extends { slot: number }>(
  observe: () => Promise<S>,
  slot: number | null,
): Promise<S> => {
  for (let attempt = 1; ; attempt++) {
    const sight = await observe();
    if (slot === null || sight.slot >= slot || attempt === TRIES) return sight;
    await sleep(PAUSE_MS);
  }
};
