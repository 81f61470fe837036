import type { Table } from './command.ts';

/**
 * A table as text with columns of minimal width. Control characters become dots, because a
 * quarantined message may be forged and must not control the operator's terminal.
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
