import { breakLines, faultLines, listOf } from '../counts.ts';
import type { X402Report } from './campaign.ts';

/** Formats the result of a campaign of x402 as lines of text. */
export const x402ReportLines = (report: X402Report): string[] => {
  const { undelivered: open } = report;
  return [
    '',
    ...faultLines(report),
    `${report.purchases} purchases, ${report.payments} payments signed, ${report.transfers} on the chain`,
    `answers: ${listOf(report.answers)}`,
    `failures: ${listOf(report.failures)}`,
    `answers that a vendor cannot read: ${listOf(report.unknown)}`,
    `${report.delivered} delivered, ${open.issued} paid and listed as issued, ${open.redeemed} handed out to nobody`,
    `${report.window} successes handed out again after a gateway had died, ${report.reversed} reversed by a fork`,
    ...breakLines(report),
  ];
};
