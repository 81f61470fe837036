/** How much of each end is shown. */
const END = 4;
/** The kind in front of an id: `stl_`, `del_`. It is the same for all ids of a kind. */
const KIND = /^[a-z]{1,8}_(?=[0-9a-z]{20})/;

/**
 * An id or an address where there is no room for all of it: its kind, and the first and the last
 * four characters (`8N7Z…WgzV`, `stl_01m8…tx9a`). The head alone is how addresses are forged.
 */
export const shortId = (id: string): string => {
  const kind = KIND.exec(id)?.[0] ?? '';
  const rest = id.slice(kind.length);
  return rest.length <= 3 * END ? id : `${kind}${rest.slice(0, END)}…${rest.slice(-END)}`;
};
