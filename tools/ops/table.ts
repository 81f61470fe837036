import type { Table } from './command.ts';

/** The width of a terminal that operators have. */
export const WIDTH = 120;
/** A last column that would be narrower than this is not folded. */
const MIN_FOLDED = 24;

/**
 * Control characters as dots. A quarantined message may be forged, and must not control a terminal.
 */
const printable = (text: string): string => text.replaceAll(/\p{Cc}/gu, '·');

/** Text in lines of at most some width, broken at spaces. A longer word has a line of its own. */
const linesOf = (text: string, width: number): string[] => {
  const lines: string[] = [];
  for (const word of text.split(' ').filter(Boolean)) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
};

/** Text in lines of a terminal, each with an indent. */
export const foldText = (text: string, indent = ''): string =>
  linesOf(printable(text), WIDTH - indent.length)
    .map((line) => indent + line)
    .join('\n');

/** Lines of a text that are too long for a terminal, folded below their own indent. */
export const foldLines = (text: string): string =>
  text
    .split('\n')
    .map((line) => (line.length <= WIDTH ? line : foldText(line, /^ */.exec(line)![0])))
    .join('\n');

/** A table as text with columns of minimal width. A last column that is too wide is folded. */
export const tableText = (table: Table): string => {
  const rows = table.map((row) => row.map(printable));
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  const start = widths.slice(0, -1).reduce((sum, width) => sum + width + 2, 0);
  const folds = WIDTH - start >= MIN_FOLDED;
  const line = (row: readonly string[]) => {
    const cells = row.map((cell, at) => cell.padEnd(widths[at]!));
    const whole = cells.join('  ').trimEnd();
    if (whole.length <= WIDTH || !folds) return whole;
    const last = linesOf(row.at(-1)!, WIDTH - start);
    return [...cells.slice(0, -1), last.join(`\n${' '.repeat(start)}`)].join('  ');
  };
  return rows.map((row) => line(row)).join('\n');
};
