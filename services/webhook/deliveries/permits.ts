/** The permits of one replica, by endpoint: how many deliveries to it are under way. */
type Permits = {
  /** The deliveries under way to each endpoint, for the statement that claims more. */
  inUse: Readonly<Record<string, number>>;
  /** How many more deliveries may begin. */
  free: () => number;
  acquire: (endpointId: string) => void;
  release: (endpointId: string) => void;
};

export const createPermits = (max: number): Permits => {
  const inUse: Record<string, number> = {};
  let total = 0;
  return {
    inUse,
    free: () => max - total,
    acquire: (endpointId) => {
      inUse[endpointId] = (inUse[endpointId] ?? 0) + 1;
      total += 1;
    },
    release: (endpointId) => {
      const left = inUse[endpointId]! - 1;
      if (left === 0) delete inUse[endpointId];
      else inUse[endpointId] = left;
      total -= 1;
    },
  };
};
