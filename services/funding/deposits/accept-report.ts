import type { Records } from '../../../shared/boot.ts';
import type { OnrampProvider } from '../../../shared/contract/funding/deposits.ts';
import { count } from '../../../shared/lib/telemetry/metrics.ts';
import { insertDepositChanged } from './events.ts';
import type { DepositProblem } from './model.ts';
import type { Report } from './providers/onramp.ts';
import { insertReport } from './store/deposit_reports.ts';
import { extendExpiry, findDepositUnscoped, restartPolling, transitionDeposit } from './store/deposits.ts';

export type AcceptReportDeps = Pick<Records, 'pool' | 'relay' | 'logger'>;

const problemIn = ({ event, reason }: Report): DepositProblem | null => {
  if (event !== 'refused' && event !== 'cancelled') return null;
  // Only a short code is repeated: free text of the provider never reaches the customer.
  const code = /^[A-Za-z0-9_ -]{1,64}$/.test(reason ?? '') ? ` (${reason})` : '';
  return event === 'cancelled'
    ? { code: 'cancelled', message: 'the customer cancelled the payment' }
    : { code: 'payment_refused', message: `the provider reports that the payment failed${code}` };
};

/**
 * Records what a provider reports of a deposit, in a webhook or in the answer to a poll. A repeated
 * report, a report out of order and a report about an unknown deposit change nothing.
 */
export const acceptReport = async (
  { pool, relay, logger }: AcceptReportDeps,
  provider: OnrampProvider,
  report: Report,
  source: 'webhook' | 'poll',
): Promise<void> => {
  const { depositId, transactionId, providerStatus, event, amountMicro, txHash, walletAddress } = report;
  const about = { deposit_id: depositId, provider, status: providerStatus };
  const deposit = await findDepositUnscoped(pool, depositId);
  if (deposit === null || deposit.provider !== provider) {
    logger.warn(about, 'report dropped: no such deposit of this provider');
    return;
  }
  if (walletAddress !== null && walletAddress !== deposit.owner) {
    count('quittance_anomalies_total', 1, { kind: 'deposit_mismatch' });
    logger.error(about, 'report dropped: the provider sends to another wallet');
    return;
  }
  const outbox = await pool.transaction(async (tx) => {
    const isNew = await insertReport(tx, {
      deposit_id: depositId,
      provider,
      transaction_id: transactionId,
      provider_status: providerStatus,
      event,
      amount: amountMicro,
      tx_hash: txHash,
      source,
    });
    if (!isNew) return [];
    const change = { promisedMicro: amountMicro, problem: problemIn(report) };
    const changed = await transitionDeposit(tx, depositId, event, change);
    if (event === 'sent' && deposit.status === 'completed') {
      // A page may be paid twice. The wallet received the second payment; the first one completed
      // the deposit.
      count('quittance_anomalies_total', 1, { kind: 'deposit_paid_again' });
      logger.warn(about, 'second payment reported for a completed deposit');
    }
    if (event === 'sent') await restartPolling(tx, depositId);
    if (event === 'waiting') await extendExpiry(tx, depositId);
    return changed ? insertDepositChanged(tx, depositId) : [];
  });
  relay.dispatch(outbox);
};
