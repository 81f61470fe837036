import type { DepositStatus } from '../../../shared/contract/funding/deposits.ts';
import { stateMachine } from '../../../shared/state-machine.ts';

/** What a provider reports of a customer's payment. A report never counts as received money. */
export type ReportedEvent = 'waiting' | 'paid' | 'sent' | 'refused' | 'cancelled';
/**
 * The other events: a call opened the payment page, the transfer was observed on the chain, the
 * time ran out.
 */
export type DepositEvent = ReportedEvent | 'opened' | 'seen' | 'elapsed';

/**
 * Reports repeat and arrive out of order, so each event applies to every state that it may change.
 * Only the observation of the transfer on the chain leads to `completed`, and no event leaves it.
 *
 * `sent` applies to `failed`, `cancelled` and `expired` too. A customer whose first card was
 * declined pays with another card on the same page, and a bank transfer may arrive after the
 * expiry. The record must not deny that money. Only the chain decides whether it has arrived.
 */
export const deposits = stateMachine<DepositStatus, DepositEvent>({
  created: {
    opened: 'awaiting_payment',
    waiting: 'awaiting_payment',
    paid: 'processing',
    sent: 'settling',
    refused: 'failed',
    cancelled: 'cancelled',
    elapsed: 'expired',
  },
  awaiting_payment: {
    paid: 'processing',
    sent: 'settling',
    refused: 'failed',
    cancelled: 'cancelled',
    elapsed: 'expired',
  },
  processing: { sent: 'settling', refused: 'failed', cancelled: 'cancelled' },
  settling: { seen: 'completed' },
  completed: {},
  failed: { sent: 'settling' },
  cancelled: { sent: 'settling' },
  expired: { sent: 'settling' },
});

/** A finalized transfer into the wallet's token account as chain-submitter observed it. */
export type SeenTransfer = { instruction: string; amountMicro: bigint };

export type DepositProblem = { code: string; message: string };
const PROBLEMS = {
  no_transfer: 'the transaction that the provider names moved nothing into this wallet',
  wrong_amount: 'the transfer on the chain has another amount than the provider reports',
  already_counted: 'the transfer that the provider names has completed another deposit',
  not_seen: 'the provider reports the payment as sent, but the chain has no such transfer yet',
} as const;
/** A problem as it is stored and shown. */
export const problemOf = (code: keyof typeof PROBLEMS): DepositProblem => ({ code, message: PROBLEMS[code] });

/**
 * The transfer of a finalized transaction that completes a deposit, or why none does.
 * @param promisedMicro the amount that the provider reports as sent; the transfer must have exactly
 *   it
 * @param counted instructions of this transaction that completed other deposits
 */
export const matchTransfer = (
  promisedMicro: bigint,
  transfers: readonly SeenTransfer[],
  counted: ReadonlySet<string>,
): { transfer: SeenTransfer } | { problem: DepositProblem } => {
  if (transfers.length === 0) return { problem: problemOf('no_transfer') };
  const free = transfers.filter(({ instruction }) => !counted.has(instruction));
  if (free.length === 0) return { problem: problemOf('already_counted') };
  const transfer = free.find(({ amountMicro }) => amountMicro === promisedMicro);
  return transfer === undefined ? { problem: problemOf('wrong_amount') } : { transfer };
};

/** Polls without a result after which a sent deposit counts as overdue: a quarter of an hour. */
const POLLS_BEFORE_ALARM = 48;
/** True at the one poll that raises the alarm. */
export const isOverdue = (pollCount: number): boolean => pollCount === POLLS_BEFORE_ALARM;
