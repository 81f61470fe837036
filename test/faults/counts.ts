import type { Break } from './invariants.ts';

/** How often each name occurs. */
export const countsOf = (names: readonly string[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
};

/** `3 pending, 1 success`, the most frequent first. */
export const listOf = (counts: Record<string, number>): string =>
  Object.entries(counts)
    .sort(([, a], [, b]) => b - a)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ');

const sumOf = (counts: Record<string, number>): number =>
  Object.values(counts).reduce((all, one) => all + one, 0);

const SHOWN = 20;

/** The lines of a report on what was broken, and how soon everything ended. */
export const faultLines = (report: {
  faults: Record<string, number>;
  deaths: Record<string, number>;
  forks: number;
}): string[] => [
  `faults (${sumOf(report.faults)}): ${listOf(report.faults)}`,
  `processes that ended (${sumOf(report.deaths)}): ${listOf(report.deaths)}; ${report.forks} forks`,
];

/** The lines of a report on the end and on the invariants. */
export const breakLines = (report: {
  breaks: Break[];
  recoveredMs: number | null;
  seconds: number;
}): string[] => {
  const { breaks, recoveredMs, seconds } = report;
  const invariants = [...new Set(breaks.map(({ invariant }) => invariant))];
  return [
    `everything ended ${recoveredMs === null ? 'NEVER' : `${(recoveredMs / 1000).toFixed(1)} s after the faults`}; ${seconds.toFixed(0)} s`,
    breaks.length === 0 ? 'every invariant holds' : `${breaks.length} BREAKS:`,
    ...invariants.map((one) => `  ${breaks.filter(({ invariant }) => invariant === one).length} ${one}`),
    ...breaks.slice(0, SHOWN).map(({ invariant, what }) => `  ${invariant}: ${what}`),
  ];
};
