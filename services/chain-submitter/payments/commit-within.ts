import type { Reservation } from '../../../shared/db/budget.ts';
import { failpoint } from '../../../shared/lib/failpoint.ts';

/** How bytes are signed and committed within what is reserved for them. */
type Committing<Bytes> = {
  sign: () => Promise<Bytes>;
  /** @returns false when the payment has an intent */
  commit: (signed: Bytes) => Promise<boolean>;
  /** Whether an error of the commit proves that nothing was committed. */
  isRefused: (error: unknown) => boolean;
};

/**
 * Signs a payment and commits its bytes. What is reserved for it counts if they are committed. It
 * counts, too, while that is unclear: the row may still appear, and the sweep sends its bytes then.
 * @returns null when the payment has an intent
 */
export const commitWithin = async <Bytes>(
  reservation: Reservation,
  { sign, commit, isRefused }: Committing<Bytes>,
): Promise<Bytes | null> => {
  let counts = false;
  try {
    const signed = await sign();
    await failpoint('submitter.afterSign');
    counts = await commit(signed).catch((error: unknown) => {
      counts = !isRefused(error);
      throw error;
    });
    if (!counts) return null;
    await failpoint('submitter.afterCommit');
    return signed;
  } finally {
    if (!counts) reservation.release();
  }
};
