import { BadTokenError } from '../../checks/tokens.ts';
import { ApiError } from '../../errors.ts';
import { PaymentDeclinedError } from './errors.ts';
import type { Receipt } from './receipt.ts';

/** A payment that was not made: this client declined it, or the API refused it. */
export type Declined = PaymentDeclinedError | BadTokenError | ApiError;

export type Callbacks = {
  /**
   * Called after each payment, before its delivery. After a crash it may be called again with the
   * same `settlementId`.
   */
  onPaid?: (receipt: Receipt) => unknown;
  /**
   * Called for each request that was not paid, with the error that its call throws. Nothing was
   * paid for it. A payment that waits for an approval, or whose outcome is open, is not declined.
   */
  onDeclined?: (error: Declined, request: { method: string; url: string }) => unknown;
};

const isDeclined = (error: unknown): error is Declined => {
  if (error instanceof PaymentDeclinedError || error instanceof BadTokenError) return true;
  if (!(error instanceof ApiError) || error.paymentAttemptId === null) return false;
  return error.moneyMoved === 'no' && !error.retryable && error.safeAction !== 'await_approval';
};

/** Runs the caller's callbacks. Their errors are printed, and change no outcome. */
export const createCallbacks = ({ onPaid, onDeclined }: Callbacks) => {
  const run = async (name: string, callback: () => unknown): Promise<void> => {
    try {
      await callback();
    } catch (error) {
      console.error(`payingFetch: ${name} has failed:`, error);
    }
  };
  return {
    paid: (receipt: Receipt): void => {
      if (onPaid !== undefined) void run('onPaid', () => onPaid(receipt));
    },
    refused: (error: unknown, { method, url }: { method: string; url: string }): void => {
      if (onDeclined !== undefined && isDeclined(error))
        void run('onDeclined', () => onDeclined(error, { method, url }));
    },
  };
};
