import type { IncomingReason } from '../../../shared/contract/chain-submitter.ts';

/** A transaction of another client that is not co-signed. Nothing was signed for it. */
export class IncomingRefusal extends Error {
  override name = 'IncomingRefusal';
  readonly reason: IncomingReason;
  constructor(reason: IncomingReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** @throws IncomingRefusal */
export const refuse = (reason: IncomingReason, message: string): never => {
  throw new IncomingRefusal(reason, message);
};

/** Runs work for a caller. A refusal becomes its answer. */
export const answerRefusal = async <T>(
  work: () => Promise<T>,
): Promise<T | { outcome: 'refused'; reason: IncomingReason; message: string }> => {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof IncomingRefusal)) throw error;
    return { outcome: 'refused', reason: error.reason, message: error.message };
  }
};
