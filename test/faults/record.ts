import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Report, Row } from './campaign.ts';
import { table, totalsOf } from './report.ts';

/** The figures of a run. Runs are added up, because no single run has the time for all figures. */
type Record = Pick<Report, 'rows'> & {
  attempts: number;
  paid: number;
  command: string;
  seed: number;
  breaks: number;
  invariants: string[];
};

const folder = path.resolve(import.meta.dirname, '../../.local/faults-runs');

/** Stores the figures of a run in a separate file. */
export const keepRecord = (run: { command: string; seed: number; report: Report }): void => {
  const { rows, breaks } = run.report;
  const record: Record = {
    command: run.command,
    seed: run.seed,
    rows,
    ...totalsOf(run.report),
    breaks: breaks.length,
    invariants: [...new Set(breaks.map(({ invariant }) => invariant))],
  };
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, `${Date.now()}-${run.seed}.json`), JSON.stringify(record));
};

export const readRecords = (): Record[] =>
  (existsSync(folder) ? readdirSync(folder).sort() : []).map((file) =>
    JSON.parse(readFileSync(path.join(folder, file), 'utf8')),
  );

/** The table of all runs, added up. */
export const sumLines = (records: readonly Record[]): string[] => {
  const sum = new Map<string, Row>();
  for (const { fault, events, missed, payments, paid, breaks } of records.flatMap(({ rows }) => rows)) {
    const row = sum.get(fault) ?? { fault, events: 0, missed: 0, payments: 0, paid: 0, breaks: 0 };
    row.events += events;
    row.missed += missed;
    row.payments += payments;
    row.paid += paid;
    row.breaks += breaks;
    sum.set(fault, row);
  }
  const total = (of: 'attempts' | 'paid' | 'breaks') => records.reduce((all, record) => all + record[of], 0);
  return [
    ...records.map(
      ({ command, seed, attempts, paid, breaks }) =>
        `${command} (seed ${seed}): ${attempts} attempts, ${paid} paid, ${breaks} breaks`,
    ),
    ...table([...sum.values()], {
      attempts: total('attempts'),
      paid: total('paid'),
      breaks: total('breaks'),
    }),
    `${records.length} runs, ${total('attempts')} attempts, ${total('paid')} paid`,
  ];
};
