/**
 * Which name somebody meant by a mistyped one: of fields, options, commands, settings and paths.
 * The SDK has a generated copy, which the command, the MCP server and the gate use.
 */

/**
 * The number of edits between two names: a character added, left out, replaced, or two swapped.
 */
const distance = (a: string, b: string): number => {
  let [before, last]: [number[], number[]] = [[], Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1];
      row[j] = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        row[j] = Math.min(row[j]!, before[j - 2]! + 1);
    }
    [before, last] = [last, row];
  }
  return last[b.length]!;
};

const MAX_EDITS = 2;
/** A third of a name may be wrong. Shorter names have too many others near them. */
const NAME_PER_EDIT = 3;
/** The comparison costs the product of the lengths. */
const MAX_NAME = 64;
const plain = (name: string): string => name.replaceAll(/[^A-Za-z0-9]/g, '').toLowerCase();

/** The name that was probably meant. Undefined: none is near. */
export const nearest = (name: string, names: readonly string[]): string | undefined => {
  if (name.length > MAX_NAME) return undefined;
  const most = Math.min(MAX_EDITS, Math.floor(name.length / NAME_PER_EDIT));
  return names
    .map((each) => ({
      each,
      edits: plain(each) === plain(name) ? 0 : distance(name.toLowerCase(), each.toLowerCase()),
    }))
    .filter(({ edits }) => edits <= most)
    .sort((a, b) => a.edits - b.edits)[0]?.each;
};
