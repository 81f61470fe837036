import type { Report, Row } from './campaign.ts';
import type { Break } from './invariants.ts';

const SHOWN = 20;

const describe = ({ invariant, what, attempt }: Break): string => {
  const who = attempt
    ? ` (attempt ${attempt.id}, quote ${attempt.quote.quote_id}, settlement ${attempt.settlementId ?? 'none'})`
    : '';
  return `  ${invariant}: ${what}${who}`;
};

/**
 * The result of each fault: how often it ran, how many payments were under way, how many of those
 * were paid, and which invariants broke.
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

/** How often each invariant broke. Refusals are counted by their code. */
const tally = (breaks: readonly Break[]): string[] => {
  const counts = new Map<string, number>();
  for (const { invariant, what } of breaks) {
    const kind = invariant === 'refusals-are-true' ? `${invariant} (${what.split(',')[0]})` : invariant;
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return [...counts].map(([kind, count]) => `  ${count} ${kind}`);
};

/** Formats the result of a campaign as lines of text. */
export const reportLines = (report: Report): string[] => {
  const { rows, breaks, attempts, paid, answers, redeemed, refusals, hedged, terminal } = report;
  const { open, p50Ms, p99Ms, allMs } = terminal;
  return [
    '',
    ...table(rows, { attempts, paid, breaks: breaks.length }),
    '',
    `${attempts} attempts, ${paid} paid, ${redeemed} redeemed, ${answers} answers to settle`,
    `${refusals.all} refusals: ${refusals.no} stated that nothing moved, ${refusals.named} named a settlement`,
    `hedges: ${Object.entries(hedged)
      .map(([kind, count]) => `${count} ${kind}`)
      .join(', ')}`,
    `${open} open at the heal: p50 ${seconds(p50Ms)}, p99 ${seconds(p99Ms)}, ` +
      `all terminal ${allMs === null ? 'NEVER' : `${seconds(allMs)} after it`}`,
    breaks.length === 0 ? 'every invariant holds' : `${breaks.length} BREAKS:`,
    ...tally(breaks),
    ...breaks.slice(0, SHOWN).map(describe),
    ...(breaks.length > SHOWN ? [`  … and ${breaks.length - SHOWN} more`] : []),
  ];
};
