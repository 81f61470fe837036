/** The number of lanes. It is in tables and subjects, so all replicas must agree on it. */
export const LANES = 16;

/** A service whose replicas own lanes. */
export type LaneOwner = 'settlement' | 'chain-submitter';

/**
 * The lane of an account: a part of all accounts whose payments one replica serves from the call to
 * the answer, so that they share statements and messages (docs/adr/0070). FNV-1a, which every
 * process computes in the same way.
 */
export const laneOf = (accountId: string): number => {
  let hash = 0x811c9dc5;
  for (let at = 0; at < accountId.length; at += 1)
    hash = Math.imul(hash ^ accountId.charCodeAt(at), 0x01000193);
  // The lower bits of the last characters alone would be uneven.
  return ((hash >>> 0) ^ (hash >>> 16)) & (LANES - 1);
};

/** Which lanes this replica owns. */
export type LaneOwnership = {
  /** Calls the listener with the owned lanes now, and after each change. */
  onChange: (listener: (owned: ReadonlySet<number>) => void) => void;
};

/**
 * Keeps something running for each owned lane.
 * @param start what runs for a lane
 */
export const whileOwned = (
  { onChange }: LaneOwnership,
  start: (lane: number) => { stop: () => Promise<void> },
): { stop: () => Promise<void> } => {
  const running = new Map<number, { stop: () => Promise<void> }>();
  let isStopped = false;
  onChange((owned) => {
    if (isStopped) return;
    for (const [lane, one] of running) {
      if (owned.has(lane)) continue;
      running.delete(lane);
      void one.stop();
    }
    for (const lane of owned) if (!running.has(lane)) running.set(lane, start(lane));
  });
  return {
    stop: async () => {
      isStopped = true;
      await Promise.all([...running.values()].map(({ stop }) => stop()));
    },
  };
};
