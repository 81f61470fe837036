/** What a terminal shows. Names in it may come from strangers. */

/**
 * A text as one line of a terminal. Control characters and characters that change the direction of
 * writing are replaced, because they could hide or forge what is shown beside them.
 */
export const plain = (text: string): string => text.replaceAll(/[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu, '�');

/** A time of the API without its fraction of a second, which nobody reads: ISO 8601, UTC. */
export const shownTime = (time: string): string => time.replace(/\.\d+(?=Z$)/, '');

const widthOf = (text: string): number => [...text].length;

/** Rows as aligned columns under their headings. `right` lists the columns that end aligned. */
export const table = (
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  right: readonly number[] = [],
): string => {
  const cells = [headings, ...rows].map((row) => row.map(plain));
  const widths = headings.map((_, column) => Math.max(...cells.map((row) => widthOf(row[column] ?? ''))));
  const padded = (text: string, column: number) => {
    const spaces = ' '.repeat(widths[column]! - widthOf(text));
    return right.includes(column) ? spaces + text : text + spaces;
  };
  return cells.map((row) => row.map(padded).join('  ').trimEnd()).join('\n');
};

/** Names and values of one object, aligned. A null value is omitted together with its name. */
export const properties = (of: readonly (readonly [string, string | null])[]): string => {
  const shown = of.filter((each): each is readonly [string, string] => each[1] !== null);
  const width = Math.max(...shown.map(([name]) => widthOf(name)));
  return shown.map(([name, value]) => `${name.padEnd(width)}  ${plain(value)}`).join('\n');
};
