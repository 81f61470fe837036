import { breakLines, faultLines, listOf } from '../counts.ts';
import type { OutgoingReport } from './campaign.ts';

/** Formats the result of a campaign of outgoing payments as lines of text. */
export const outgoingReportLines = (report: OutgoingReport): string[] => [
  '',
  ...faultLines(report),
  `${report.attempts} attempts, ${report.signed} signed (${report.repeated} more than once), ${report.transfers} on the chain`,
  `answers: ${listOf(report.answers)}`,
  `refusals: ${listOf(report.refusals)}`,
  `calls without an answer: ${listOf(report.unknown)}`,
  `included of signed: ${report.behaviours
    .map(({ behaviour, signed, paid }) => `${behaviour} ${paid} of ${signed}`)
    .join(', ')}`,
  `answers of honest vendors: ${listOf(report.honest)}`,
  `${report.undelivered} paid and refused by the vendor, ${report.unpaid} delivered and not paid`,
  `${report.failed} failed with proof, ${report.reversed} reversed by a fork`,
  ...breakLines(report),
];
