import { job, type Message } from '../../../shared/events/event.ts';
import { formatMicro } from '../../../shared/lib/money/micro.ts';
import type { DevFundRow } from './store.ts';

/**
 * The job that sends test funds. chain-submitter identifies it by the fund's id, so a repeated
 * dispatch never sends the funds twice.
 */
export const fundJob = ({ fund_id, account_id, owner, amount, dispatch_count }: DevFundRow): Message =>
  job(
    'chain-submitter.fund',
    { fund_id, account_id, owner, amount: formatMicro(amount) },
    { dispatch: dispatch_count },
  );
