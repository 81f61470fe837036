import type { ChainError } from '../../ledger/model/chain-error.ts';

/** A provider's status of a signature; null when the provider does not know it. */
export type SignatureStatus = {
  slot: number;
  err: ChainError | null;
  confirmationStatus: 'processed' | 'confirmed' | 'finalized' | null;
} | null;

/** One provider's view of a transaction. */
export type View = { provider: number; status: SignatureStatus };

const RANK = { processed: 1, confirmed: 2, finalized: 3 } as const;
const rank = (status: SignatureStatus): number =>
  status === null ? 0 : RANK[status.confirmationStatus ?? 'finalized'];

/**
 * Whether a view has the transaction as succeeded, at a commitment that only a deep fork reverts.
 */
export const isConfirmed = ({ status }: View): boolean =>
  rank(status) >= RANK.confirmed && status?.err === null;
const hasFailed = ({ status }: View): boolean => rank(status) >= RANK.confirmed && status?.err !== null;
const isFinal = ({ status }: View): boolean => rank(status) === RANK.finalized;

/** The common result of several views. */
type Comparison =
  /** No view has the transaction. */
  | 'unknown'
  /** It is included but not confirmed, or it failed and that is not final. */
  | 'processed'
  /** At least one view has it as confirmed, so another provider is queried about its amounts. */
  | 'confirmed'
  /** All views have it as succeeded and final. */
  | 'finalized'
  /** At least one view has it as failed and final, so every provider is queried. */
  | 'failed'
  /** One view has it as succeeded, another as failed. No vote of the chain leads to both. */
  | 'contradiction';

/** Compares views. The caller knows whether they are the views of all providers. */
export const compareViews = (views: readonly View[]): Comparison => {
  if (views.every(({ status }) => status === null)) return 'unknown';
  if (views.some(isConfirmed)) {
    if (views.some(hasFailed)) return 'contradiction';
    return views.every(isFinal) ? 'finalized' : 'confirmed';
  }
  return views.some((view) => hasFailed(view) && isFinal(view)) ? 'failed' : 'processed';
};

/** The first view that has the transaction as confirmed. */
export const findConfirmedView = (views: readonly View[]): View | undefined => views.find(isConfirmed);

/** The error of a transaction that every view has as failed and final, else null. */
export const findAgreedError = (views: readonly View[]): ChainError | null =>
  views.length > 0 && views.every((view) => hasFailed(view) && isFinal(view)) ? views[0]!.status!.err : null;

/**
 * Whether a status is final and shows a failure. Such a transaction moved nothing and never will.
 */
export const hasFailedFinally = (status: SignatureStatus): boolean =>
  status !== null && status.err !== null && status.confirmationStatus === 'finalized';
