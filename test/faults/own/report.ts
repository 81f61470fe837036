import { listOf } from '../checks/counts.ts';
import { approvalLine } from './approval-invariants.ts';
import type { ClientLog } from './client-log.ts';
import { refundLine } from './refund-invariants.ts';
import { unitLine } from './unit-invariants.ts';

/** What clients of our own payments were answered, as lines of text. */
export const ownReportLines = (clientLog: ClientLog): string[] => {
  const { refusals, redeemed, hedged } = clientLog;
  const { attempts, paid, answers } = clientLog.counts();
  const denials = refusals.filter(({ moneyMoved }) => moneyMoved === 'no').length;
  const named = refusals.filter(({ settlementId }) => settlementId !== undefined).length;
  return [
    `${attempts} attempts, ${paid} paid, ${redeemed.length} redeemed, ${answers} answers to settle`,
    `${refusals.length} refusals: ${denials} stated that nothing moved, ${named} named a settlement`,
    `hedges: ${listOf(hedged)}`,
    approvalLine(clientLog.decisions),
    refundLine(clientLog.refunds),
    unitLine(clientLog.deliveries),
  ];
};
