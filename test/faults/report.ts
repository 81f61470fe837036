import type { Break } from './break.ts';
import type { Report, Row } from './campaign.ts';
import { listOf } from './checks/counts.ts';

const SHOWN = 20;

/** A violation with the kind of traffic that it concerns. */
export const breakLine = ({ traffic, invariant, what }: Break): string =>
  `${traffic ?? 'all'} ${invariant}: ${what}`;

/**
 * The result of each fault: how often it ran, how many payments were under way, how many of those
 * were paid, and how many of their invariants broke.
 */
export const table = (
  rows: readonly Row[],
  all: { attempts: number; paid: number; breaks: number },
): string[] => {
  const width = Math.max(...rows.map(({ fault }) => fault.length), 5);
  const line = (...cells: [string, ...(string | number)[]]) =>
    cells.map((cell, at) => (at === 0 ? String(cell).padEnd(width) : String(cell).padStart(9))).join(' ');
  const events = rows.reduce((total, row) => total + row.events, 0);
  return [
    line('fault', 'events', 'attempts', 'paid', 'breaks'),
    ...rows.map((row) => line(row.fault, row.events, row.payments, row.paid, row.breaks)),
    line('all', events, all.attempts, all.paid, all.breaks),
  ];
};

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

/** How often each invariant broke, by kind of traffic. Refusals are counted by their code. */
const tally = (breaks: readonly Break[]): string[] => {
  const counts = new Map<string, number>();
  for (const { traffic, invariant, what } of breaks) {
    const kind = invariant === 'refusals-are-true' ? `${invariant} (${what.split(',')[0]})` : invariant;
    const line = `${traffic ?? 'all'} ${kind}`;
    counts.set(line, (counts.get(line) ?? 0) + 1);
  }
  return [...counts].map(([kind, count]) => `  ${count} ${kind}`);
};

/** The payments of all kinds of traffic. */
export const totalsOf = ({ outcomes }: Pick<Report, 'outcomes'>): { attempts: number; paid: number } => ({
  attempts: outcomes.reduce((sum, { attempts }) => sum + attempts, 0),
  paid: outcomes.reduce((sum, { paid }) => sum + paid, 0),
});

/** Formats the result of a campaign as lines of text. */
export const reportLines = (report: Report): string[] => {
  const { rows, breaks, outcomes, deaths, forks, terminal } = report;
  const { open, p50Ms, p99Ms, allMs } = terminal;
  return [
    '',
    ...table(rows, { ...totalsOf(report), breaks: breaks.length }),
    '',
    ...outcomes.flatMap(({ name, attempts, paid, lines }) => [
      `${name}: ${attempts} attempts, ${paid} paid`,
      ...lines.map((line) => `  ${line}`),
    ]),
    `processes that ended: ${listOf(deaths)}; ${forks} forks; ${report.seconds.toFixed(0)} s`,
    `${open} open at the heal: p50 ${seconds(p50Ms)}, p99 ${seconds(p99Ms)}, ` +
      `all terminal ${allMs === null ? 'NEVER' : `${seconds(allMs)} after it`}`,
    breaks.length === 0 ? 'every invariant holds' : `${breaks.length} BREAKS:`,
    ...tally(breaks),
    ...breaks.slice(0, SHOWN).map((one) => `  ${breakLine(one)}`),
    ...(breaks.length > SHOWN ? [`  … and ${breaks.length - SHOWN} more`] : []),
  ];
};
