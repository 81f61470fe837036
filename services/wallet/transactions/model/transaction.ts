import { stateMachine } from '../../../../shared/state-machine.ts';

/** What a projection knows of a transfer, whichever fact told it. */
export type Movement = {
  objectId: string;
  type: TransactionType;
  status: TransactionStatus;
  txHash: string | null;
  /** Null: told by a fact that names the object alone. */
  details: {
    fromAccountId: string | null;
    toAccountId: string | null;
    /** Micro-units that left, the fee among them. */
    amountMicro: bigint;
    feeMicro: bigint;
    serviceId: string | null;
    delegateId: string | null;
    /** ISO 8601, when it was first seen confirmed. */
    createdAt: string;
  } | null;
};
export type TransactionType = 'payment' | 'deposit' | 'withdrawal' | 'refund' | 'dev_fund';
export type Direction = 'in' | 'out';

export type TransactionStatus = 'confirmed' | 'finalized' | 'reversed';
/**
 * What a transaction becomes by what is told of it. A transfer ends as finalized or as reversed,
 * never as both.
 */
export const transactions = stateMachine<TransactionStatus, TransactionStatus>({
  confirmed: { confirmed: 'confirmed', finalized: 'finalized', reversed: 'reversed' },
  finalized: { finalized: 'finalized', reversed: 'reversed' },
  reversed: { reversed: 'reversed' },
});

/** Which sides of which type have an account of ours. A new type is a line here and one in the contract. */
export const SIDES: readonly { type: TransactionType; direction: Direction }[] = [
  { type: 'payment', direction: 'out' },
  { type: 'payment', direction: 'in' },
  { type: 'deposit', direction: 'in' },
  { type: 'withdrawal', direction: 'out' },
  { type: 'refund', direction: 'out' },
  { type: 'refund', direction: 'in' },
  { type: 'dev_fund', direction: 'in' },
];
/** Those that a delegate has a part in: what it paid, and what of that came back. */
export const DELEGATE_SIDES = SIDES.filter(
  ({ type, direction }) => `${type} ${direction}` === 'payment out' || `${type} ${direction}` === 'refund in',
);

/** What an account gave or got: the fee is the payer's to give and never reaches the vendor. */
export const shareMicro = (direction: Direction, amountMicro: bigint, feeMicro: bigint): bigint =>
  direction === 'out' ? amountMicro : amountMicro - feeMicro;
