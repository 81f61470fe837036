import { BadTokenError } from '../../checks/tokens.ts';
import { ApiError } from '../../errors.ts';
import { PaymentDeclinedError } from './errors.ts';
import type { Receipt } from './receipt.ts';

/** A payment that was not made: this client declined it, or the API refused it. */
export type Declined = PaymentDeclinedError | BadTokenError | ApiError;

/** A tab that has ended. */
export type EndedTab = {
  settlementId: string;
  /** The address of the call that has opened it. */
  url: string;
  /** What was captured of it, USDC micro-units, as the API says. 0: it was released. */
  paidMicro: string;
};

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
  /**
   * Called once for each tab that has ended, whoever has ended it: this client, its vendor, or the
   * API. That is seen when a call presents the tab or needs its room, and by `closeTabs`.
   */
  onTabEnded?: (tab: EndedTab) => unknown;
};

const isDeclined = (error: unknown): error is Declined => {
  if (error instanceof PaymentDeclinedError || error instanceof BadTokenError) return true;
  if (!(error instanceof ApiError) || error.paymentAttemptId === null) return false;
  return error.moneyMoved === 'no' && !error.retryable && error.safeAction !== 'await_approval';
};

/** Runs the caller's callbacks. Their errors are printed, and change no outcome. */
export const createCallbacks = ({ onPaid, onDeclined, onTabEnded }: Callbacks) => {
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
    tabEnded: (tab: EndedTab): void => {
      if (onTabEnded !== undefined) void run('onTabEnded', () => onTabEnded(tab));
    },
    refused: (error: unknown, { method, url }: { method: string; url: string }): void => {
      if (onDeclined !== undefined && isDeclined(error))
        void run('onDeclined', () => onDeclined(error, { method, url }));
    },
  };
};
