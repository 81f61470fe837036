/** The number of lanes. It is in tables and subjects, so all replicas must agree on it. */
export const LANES = 16;

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
