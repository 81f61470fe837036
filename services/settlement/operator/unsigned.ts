import { conflict, notFound } from '../../../shared/contract/errors.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { formatMicro } from '../../../shared/lib/money/micro.ts';
import type { LostDeps } from '../outgoing/lost.ts';
import { isOutgoing, type Outgoing, paymentOf, timeOf } from '../outgoing/sign.ts';
import { findOutgoing } from '../record/store/outgoing/outgoing-payments.ts';
import { findLostTime } from '../record/store/restores.ts';

/*
 * Outgoing payments that were accepted and do not end. Those without bytes are ended by the sweep,
 * unless the chain has a payment that may be theirs: a restore has lost their record then, and only
 * their payer knows which payment it is (docs/adr/0034). Those whose bytes were handed out are
 * ended by the chain, unless a restore of chain-submitter has lost the bytes.
 */

export type UnsignedDeps = Pick<LostDeps, 'pool' | 'findLostOutgoing'>;
type Found = Awaited<ReturnType<LostDeps['findLostOutgoing']>>;

/** An outgoing payment as operators see it. */
export const view = (row: Outgoing) => {
  const { settlement_id, account_id, payment_attempt_id, owner } = row;
  const amount = formatMicro(row.quote_amount);
  const [payees, created_at] = [[...row.payees], isoTime(row.created_at)];
  return { settlement_id, account_id, payment_attempt_id, amount, payees, owner, created_at };
};

/**
 * An outgoing payment that is under way.
 * @throws ServiceError not_found; conflict when it has ended
 */
export const getUnsigned = async (
  { pool }: Pick<UnsignedDeps, 'pool'>,
  settlementId: string,
): Promise<Outgoing> => {
  const row = await findOutgoing(pool, settlementId);
  if (row === null || !isOutgoing(row)) throw notFound('outgoing payment here');
  if (row.chain_status !== 'pending')
    throw conflict(`the payment is not under way: ${row.status}, ${row.chain_status} on chain`);
  return row;
};

/**
 * What the chain has that may be the payment; nothing for one without bytes and without a restore.
 * @throws ServiceError service_unavailable when the chain cannot be searched
 */
export const searchUnsigned = async (
  { pool, findLostOutgoing }: UnsignedDeps,
  row: Outgoing,
): Promise<Found> => {
  const { account_id, payment_attempt_id } = row;
  const lost = row.message_hash === null ? await findLostTime(pool, account_id) : timeOf(row);
  if (lost === null) return { found: 'none', transactions: [] };
  const { pay_to, amount, memo } = paymentOf(row);
  const owners = [...new Set([row.owner, ...lost.owners])];
  return findLostOutgoing({
    account_id,
    payment_attempt_id,
    pay_to,
    amount,
    memo,
    lost: { ...lost, owners },
  });
};
