import type { Table } from './command.ts';

/**
 * A table as text, its columns as wide as they have to be. Control characters are shown as dots: a message that was set
 * aside may be forged, and must not write to an operator's terminal.
 */
export const tableText = (table: Table): string => {
  const rows = table.map((row) => row.map((cell) => cell.replaceAll(/\p{Cc}/gu, '·')));
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    row
      .map((cell, at) => cell.padEnd(widths[at]!))
      .join('  ')
      .trimEnd();
  return rows.map((row) => line(row)).join('\n');
};
