import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { machine } from './machine.ts';

/** A median beside its target. */
type Target = { what: string; value: number; atLeast?: number; atMost?: number };

export type Report = {
  /** Prints a table and stores it. */
  table: (title: string, head: readonly string[], rows: readonly (readonly Cell[])[]) => void;
  target: (target: Target) => void;
  /** A line that a reader of the figures needs. */
  note: (text: string) => void;
  /** Raw values, only for the file. */
  data: (name: string, value: unknown) => void;
  /** A line that the next one replaces, only on a terminal. */
  progress: (text: string) => void;
  /** Prints the targets and writes `.local/bench/<name>.json`. */
  finish: () => void;
};

type Cell = string | number;

/** Three significant digits, because a fourth is noise here. */
const show = (cell: Cell): string => {
  if (typeof cell === 'string') return cell;
  if (!Number.isFinite(cell)) return '–';
  const magnitude = Math.abs(cell);
  return cell.toFixed(magnitude >= 100 || cell === 0 ? 0 : magnitude >= 10 ? 1 : magnitude >= 1 ? 2 : 3);
};

const isReached = ({
  value,
  atLeast = Number.NEGATIVE_INFINITY,
  atMost = Number.POSITIVE_INFINITY,
}: Target) => value >= atLeast && value <= atMost;

const goal = ({ atLeast, atMost }: Target): string =>
  atLeast === undefined ? `≤ ${show(atMost!)}` : `≥ ${show(atLeast)}`;

/** Collects the results of a benchmark and prints them as they arrive. */
export const createReport = (name: string, options: object): Report => {
  const on = machine();
  const tables: object[] = [];
  const targets: Target[] = [];
  const notes: string[] = [];
  const data: Record<string, unknown> = {};
  const isTerminal = process.stderr.isTTY;
  const print = (line: string): void => {
    if (isTerminal) process.stderr.write('\r\x1b[K');
    console.log(line);
  };

  print(`\n# ${name}   ${JSON.stringify(options)}`);
  for (const [what, text] of Object.entries(on)) print(`  ${what.padEnd(18)} ${text}`);

  const report: Report = {
    table: (title, head, rows) => {
      tables.push({ title, head, rows });
      const lines = [head, ...rows.map((row) => row.map(show))];
      const widths = head.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)));
      const isText = head.map((_, column) => rows.some((row) => typeof row[column] === 'string'));
      print(`\n${title}`);
      for (const line of lines) {
        const cells = line.map((cell, column) =>
          isText[column] ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!),
        );
        print(`  ${cells.join('   ')}`);
      }
    },
    target: (target) => void targets.push(target),
    note: (text) => {
      notes.push(text);
      print(`  ${text}`);
    },
    data: (key, value) => {
      data[key] = value;
    },
    progress: (text) => {
      if (isTerminal) process.stderr.write(`\r\x1b[K  ${text}`);
    },
    finish: () => {
      if (targets.length > 0) {
        const rows = targets.map((each) => [
          each.what,
          each.value,
          goal(each),
          isReached(each) ? 'reached' : 'NOT reached',
        ]);
        report.table('Targets', ['', 'median', 'to reach', ''], rows);
      }
      const folder = path.resolve(import.meta.dirname, '../../.local/bench');
      mkdirSync(folder, { recursive: true });
      const judged = targets.map((each) => ({ ...each, reached: isReached(each) }));
      const whole = { name, options, machine: on, notes, tables, targets: judged, data };
      writeFileSync(path.join(folder, `${name}.json`), `${JSON.stringify(whole, null, 2)}\n`);
      print(`\n  written to .local/bench/${name}.json`);
    },
  };
  return report;
};
