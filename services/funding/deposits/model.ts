import type { DepositStatus } from '../../../shared/contract/funding.deposits.ts';
import { stateMachine } from '../../../shared/state-machine.ts';

/** What a provider says of a customer's payment. None of it is taken for money. */
export type ReportedEvent = 'waiting' | 'paid' | 'sent' | 'refused' | 'cancelled';
/** Besides: our call that opened the payment page, our own sight of the transfer, time. */
export type DepositEvent = ReportedEvent | 'opened' | 'seen' | 'elapsed';

/**
 * Reports repeat and overtake one another, so each event belongs to all states that it may change.
 * `completed` has one way in, our own sight of the transfer on chain, and none out.
 *
 * `sent` is heard after an end too: a customer whose first card was declined pays with another on the same page, and
 * a bank transfer may come after we stopped waiting. The money then arrives, and a record that denies it would be
 * wrong; that it has arrived is still for the chain to say.
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

/** A transfer into the wallet's token account as chain-submitter saw it, finalized. */
export type SeenTransfer = { instruction: string; amountMicro: bigint };

export type DepositProblem = { code: string; message: string };
export const PROBLEMS = {
  no_transfer: 'the transaction that the provider names moved nothing into this wallet',
  wrong_amount: 'the transfer on chain has another amount than the provider says',
  already_counted: 'the transfer that the provider names has completed another deposit',
  not_seen: 'the provider says that it has sent, and the chain shows no such transfer yet',
} as const;
/** A problem as it is stored and shown. */
export const problemOf = (code: keyof typeof PROBLEMS): DepositProblem => ({ code, message: PROBLEMS[code] });

/**
 * Which transfer of a finalized transaction completes a deposit, or why none does.
 * @param promisedMicro what the provider says it has sent: the transfer must be exactly that
 * @param taken places in this transaction that completed other deposits
 */
export const matchTransfer = (
  promisedMicro: bigint,
  transfers: readonly SeenTransfer[],
  taken: ReadonlySet<string>,
): { transfer: SeenTransfer } | { problem: DepositProblem } => {
  if (transfers.length === 0) return { problem: problemOf('no_transfer') };
  const free = transfers.filter(({ instruction }) => !taken.has(instruction));
  if (free.length === 0) return { problem: problemOf('already_counted') };
  const transfer = free.find(({ amountMicro }) => amountMicro === promisedMicro);
  return transfer === undefined ? { problem: problemOf('wrong_amount') } : { transfer };
};

/** Looks without result after which a sent deposit is told to be missing: a quarter of an hour. */
const LOOKS_BEFORE_ALARM = 48;
/** True at the one look that raises the alarm. */
export const isOverdue = (looks: number): boolean => looks === LOOKS_BEFORE_ALARM;
