import type { ChainError } from '../../intents/model/failure.ts';

/** What a provider knows of a signature; null: nothing. */
export type SignatureStatus = {
  slot: number;
  err: ChainError | null;
  confirmationStatus: 'processed' | 'confirmed' | 'finalized' | null;
} | null;

/** What one provider says of a transaction; null: it knows nothing of it. */
export type View = { provider: number; status: SignatureStatus };

const RANK = { processed: 1, confirmed: 2, finalized: 3 } as const;
const rank = (status: SignatureStatus): number =>
  status === null ? 0 : RANK[status.confirmationStatus ?? 'finalized'];

/** Whether a view has the transaction as succeeded, beyond all but a deep fork. */
export const isConfirmed = ({ status }: View): boolean =>
  rank(status) >= RANK.confirmed && status?.err === null;
const hasFailed = ({ status }: View): boolean => rank(status) >= RANK.confirmed && status?.err !== null;
const isFinal = ({ status }: View): boolean => rank(status) === RANK.finalized;

/** What the views of a transaction come to. */
export type Comparison =
  /** Nobody knows it. */
  | 'unknown'
  /** It is on the chain and not confirmed, or it failed there and that is not final. */
  | 'processed'
  /** One or more have it as confirmed: worth asking another about its amounts. */
  | 'confirmed'
  /** All views say that it succeeded and is final. */
  | 'finalized'
  /** One or more say that it failed and is final: worth asking everybody. */
  | 'failed'
  /** One says that it succeeded, another that it failed. No vote of the chain gives both. */
  | 'contradiction';

/** Compares what providers say. Whether all of them were asked, the caller knows. */
export const compareViews = (views: readonly View[]): Comparison => {
  if (views.every(({ status }) => status === null)) return 'unknown';
  if (views.some(isConfirmed)) {
    if (views.some(hasFailed)) return 'contradiction';
    return views.every(isFinal) ? 'finalized' : 'confirmed';
  }
  return views.some((view) => hasFailed(view) && isFinal(view)) ? 'failed' : 'processed';
};

/** The view that an opinion of `confirmed` or `finalized` rests on first. */
export const findConfirmedView = (views: readonly View[]): View | undefined => views.find(isConfirmed);

/** The error of a transaction that every view has as failed for good, else null. */
export const findAgreedError = (views: readonly View[]) =>
  views.length > 0 && views.every((view) => hasFailed(view) && isFinal(view)) ? views[0]!.status!.err : null;
