import { setTimeout as sleep } from 'node:timers/promises';

const TRIES = 5;
const PAUSE_MS = 200;

/**
 * A snapshot of the chain that is not older than `slot`. Right after a confirmation, another node
 * may lag behind the node that reported it. After a second the snapshot is returned as it is.
 * @param slot the oldest acceptable slot; null accepts any
 */
export const snapshotSince = async <S extends { slot: number }>(
  observe: () => Promise<S>,
  slot: number | null,
): Promise<S> => {
  for (let attempt = 1; ; attempt++) {
    const snapshot = await observe();
    if (slot === null || snapshot.slot >= slot || attempt === TRIES) return snapshot;
    await sleep(PAUSE_MS);
  }
};
