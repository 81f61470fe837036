import { stateMachine } from '../../../../shared/state-machine.ts';

/**
 * The fields of a movement that the projection gets from an event or from an answer of its owner.
 */
export type Movement = {
  objectId: string;
  type: TransactionType;
  status: TransactionStatus;
  txHash: string | null;
  /** Null for an event that names the object alone. */
  details: {
    fromAccountId: string | null;
    toAccountId: string | null;
    /** Micro-units that left the payer, including the fee. */
    amountMicro: bigint;
    feeMicro: bigint;
    serviceId: string | null;
    delegateId: string | null;
    /** What was bought, by a payment or before its refund. */
    item: string | null;
    /** ISO 8601; the time that the lists are ordered by. */
    createdAt: string;
  } | null;
};
export type TransactionType = 'payment' | 'deposit' | 'withdrawal' | 'refund' | 'dev_fund';
export type Direction = 'in' | 'out';

export type TransactionStatus = 'confirmed' | 'finalized' | 'reversed';
/**
 * The state of a transaction after an event, which is named by the state that it reports. A
 * transfer ends as finalized or as reversed.
 */
export const transactions = stateMachine<TransactionStatus, TransactionStatus>({
  confirmed: { confirmed: 'confirmed', finalized: 'finalized', reversed: 'reversed' },
  finalized: { finalized: 'finalized', reversed: 'reversed' },
  reversed: { reversed: 'reversed' },
});

/**
 * The sides of each type that belong to an account of this system. A new type needs a line here and
 * one in the contract.
 */
export const SIDES: readonly { type: TransactionType; direction: Direction }[] = [
  { type: 'payment', direction: 'out' },
  { type: 'payment', direction: 'in' },
  { type: 'deposit', direction: 'in' },
  { type: 'withdrawal', direction: 'out' },
  { type: 'refund', direction: 'out' },
  { type: 'refund', direction: 'in' },
  { type: 'dev_fund', direction: 'in' },
];
/** The sides that a delegate sees: what it paid, and what of that was refunded. */
export const DELEGATE_SIDES = SIDES.filter(
  ({ type, direction }) => `${type} ${direction}` === 'payment out' || `${type} ${direction}` === 'refund in',
);

/**
 * The amount that an account paid or received: the payer pays the fee, and the vendor never
 * receives it.
 */
export const shareMicro = (direction: Direction, amountMicro: bigint, feeMicro: bigint): bigint =>
  direction === 'out' ? amountMicro : amountMicro - feeMicro;
