import type { ForeignReason } from '../../../shared/contract/chain-submitter.ts';

/** A transaction of another client that is not co-signed. Nothing was signed for it. */
export class ForeignRefusal extends Error {
  override name = 'ForeignRefusal';
  readonly reason: ForeignReason;
  constructor(reason: ForeignReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** @throws ForeignRefusal */
export const refuse = (reason: ForeignReason, message: string): never => {
  throw new ForeignRefusal(reason, message);
};

/** Runs work for a caller. A refusal becomes its answer. */
export const answerRefusal = async <T>(
  work: () => Promise<T>,
): Promise<T | { outcome: 'refused'; reason: ForeignReason; message: string }> => {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ForeignRefusal)) throw error;
    return { outcome: 'refused', reason: error.reason, message: error.message };
  }
};
