/** From where the keys of a service may be used. Null: from any address. */
type AllowedIps = readonly string[] | null;

/**
 * Whether a list may admit an address that the other one does not. Blocks are compared as they are
 * written: a narrower block of another text counts as wider, which costs one mail too many.
 */
export const widens = (before: AllowedIps, after: AllowedIps): boolean => {
  if (before === null) return false;
  return after === null || after.some((block) => !before.includes(block));
};

/** Whether two lists differ. Their order does not matter. */
export const isOtherList = (before: AllowedIps, after: AllowedIps): boolean =>
  widens(before, after) || widens(after, before);
