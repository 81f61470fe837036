import type { Table } from './command.ts';

/** A table as text, its columns as wide as they have to be. */
export const tableText = (rows: Table): string => {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    row
      .map((cell, at) => cell.padEnd(widths[at]!))
      .join('  ')
      .trimEnd();
  return rows.map((row) => line(row)).join('\n');
};
