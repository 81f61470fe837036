import type { X402Report } from './campaign.ts';

const SHOWN = 20;

const listOf = (counts: Record<string, number>): string =>
  Object.entries(counts)
    .sort(([, a], [, b]) => b - a)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ');

/** Formats the result of a campaign of x402 as lines of text. */
export const x402ReportLines = (report: X402Report): string[] => {
  const { breaks, faults, deaths, undelivered: open, recoveredMs } = report;
  const sum = (counts: Record<string, number>) => Object.values(counts).reduce((all, one) => all + one, 0);
  const invariants = [...new Set(breaks.map(({ invariant }) => invariant))];
  return [
    '',
    `faults (${sum(faults)}): ${listOf(faults)}`,
    `processes that ended (${sum(deaths)}): ${listOf(deaths)}; ${report.forks} forks`,
    `${report.purchases} purchases, ${report.payments} payments signed, ${report.transfers} on the chain`,
    `answers: ${listOf(report.answers)}`,
    `failures: ${listOf(report.failures)}`,
    `answers that a vendor cannot read: ${listOf(report.unknown)}`,
    `${report.delivered} delivered, ${open.issued} paid and listed as issued, ${open.redeemed} handed out to nobody`,
    `${report.window} successes handed out again after a gateway had died, ${report.reversed} reversed by a fork`,
    `everything ended ${recoveredMs === null ? 'NEVER' : `${(recoveredMs / 1000).toFixed(1)} s after the faults`}; ${report.seconds.toFixed(0)} s`,
    breaks.length === 0 ? 'every invariant holds' : `${breaks.length} BREAKS:`,
    ...invariants.map((one) => `  ${breaks.filter(({ invariant }) => invariant === one).length} ${one}`),
    ...breaks.slice(0, SHOWN).map(({ invariant, what }) => `  ${invariant}: ${what}`),
  ];
};
