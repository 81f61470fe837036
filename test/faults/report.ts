import type { Report } from './campaign.ts';
import type { Break } from './invariants.ts';

const SHOWN = 20;

const describe = ({ invariant, what, attempt }: Break): string => {
  const who = attempt
    ? ` (attempt ${attempt.id}, quote ${attempt.quote.quote_id}, settlement ${attempt.settlementId ?? 'none'})`
    : '';
  return `  ${invariant}: ${what}${who}`;
};

/** What a campaign ends with, for people. */
export const reportLines = ({
  rows,
  breaks,
  attempts,
  paid,
  answers,
  redeemed,
  terminalMs,
}: Report): string[] => {
  const width = Math.max(...rows.map(({ fault }) => fault.length), 5);
  const line = (...cells: [string, ...(string | number)[]]) =>
    cells.map((cell, at) => (at === 0 ? String(cell).padEnd(width) : String(cell).padStart(9))).join(' ');
  const sum = (pick: (row: Report['rows'][number]) => number) =>
    rows.reduce((total, row) => total + pick(row), 0);
  return [
    '',
    line('fault', 'events', 'payments', 'breaks'),
    ...rows.map(({ fault, events, payments, breaks: own }) => line(fault, events, payments, own)),
    line(
      'all',
      sum(({ events }) => events),
      attempts,
      breaks.length,
    ),
    '',
    `${attempts} attempts, ${paid} paid, ${redeemed} redeemed, ${answers} answers to settle; ` +
      `all at their end ${terminalMs === null ? 'NEVER' : `${(terminalMs / 1000).toFixed(1)} s after the heal`}`,
    breaks.length === 0 ? 'every invariant holds' : `${breaks.length} BREAKS:`,
    ...breaks.slice(0, SHOWN).map(describe),
    ...(breaks.length > SHOWN ? [`  … and ${breaks.length - SHOWN} more`] : []),
  ];
};
