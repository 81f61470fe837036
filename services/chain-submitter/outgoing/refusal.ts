import type { OutgoingReason } from '../../../shared/contract/chain-submitter.ts';

/** An outgoing payment that is not signed. Nothing was signed for it. */
export class OutgoingRefusal extends Error {
  override name = 'OutgoingRefusal';
  readonly reason: OutgoingReason;
  constructor(reason: OutgoingReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** @throws OutgoingRefusal */
export const refuse = (reason: OutgoingReason, message: string): never => {
  throw new OutgoingRefusal(reason, message);
};
