import type { OnrampProvider } from '../../../shared/contract/funding.deposits.ts';
import { count } from '../../../shared/lib/metrics.ts';
import type { Deps } from '../deps.ts';
import { insertDepositChanged } from '../transfers/events.ts';
import type { DepositProblem } from './model.ts';
import type { Report } from './providers/onramp.ts';
import { insertReport } from './store/deposit_reports.ts';
import { lookAgain, lookUpDeposit, transitionDeposit, waitLonger } from './store/deposits.ts';

const problemIn = ({ event, reason }: Report): DepositProblem | null => {
  if (event !== 'refused' && event !== 'cancelled') return null;
  // The provider's own words for a machine; never more of them than a code.
  const code = /^[A-Za-z0-9_ -]{1,64}$/.test(reason ?? '') ? ` (${reason})` : '';
  return event === 'cancelled'
    ? { code: 'cancelled', message: 'the customer cancelled the payment' }
    : { code: 'payment_refused', message: `the provider reports that the payment failed${code}` };
};

/**
 * Takes in what a provider says of a deposit, from a webhook or from asking. Repeats, reports out of order and those
 * about nothing of ours change nothing.
 */
export const takeReport = async (
  { pool, relay, logger }: Pick<Deps, 'pool' | 'relay' | 'logger'>,
  provider: OnrampProvider,
  report: Report,
  source: 'webhook' | 'poll',
): Promise<void> => {
  const { depositId, transactionId, providerStatus, event, amountMicro, txHash, walletAddress } = report;
  const about = { deposit: depositId, provider, status: providerStatus };
  const deposit = await lookUpDeposit(pool, depositId);
  if (deposit === null || deposit.provider !== provider) {
    logger.warn(about, 'a report about a deposit that is not here');
    return;
  }
  if (walletAddress !== null && walletAddress !== deposit.owner) {
    count('settle.anomalies', 1, { kind: 'deposit_mismatch' });
    logger.error(about, 'the provider sends to another wallet');
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
    const moved = await transitionDeposit(tx, depositId, event, change);
    if (event === 'sent' && deposit.status === 'completed') {
      // A page may be paid twice. The wallet has the money; the deposit was completed by the first.
      count('settle.anomalies', 1, { kind: 'deposit_paid_again' });
      logger.warn(about, 'another payment for a completed deposit');
    }
    if (event === 'sent') await lookAgain(tx, depositId);
    if (event === 'waiting') await waitLonger(tx, depositId);
    return moved ? insertDepositChanged(tx, depositId) : [];
  });
  relay.dispatch(outbox);
};
