import { subjects } from '../../shared/contract/service.ts';
import type { Outgoing } from '../../shared/db/outbox.ts';
import { formatMicro } from '../../shared/lib/micro.ts';
import type { DevFundRow } from './store/dev_funds.ts';

/**
 * The job that sends test funds. chain-submitter knows it by the fund's id, so a further drive never sends twice;
 * the message id differs because the queue drops a repeated one.
 */
export const fundJob = ({ fund_id, account_id, owner, amount, drive }: DevFundRow): Outgoing => ({
  subject: subjects.job('chain-submitter', 'fund'),
  msgId: `fund:${fund_id}${drive === 0 ? '' : `:${drive}`}`,
  payload: { fund_id, account_id, owner, amount: formatMicro(amount) },
});
