import type { ExternalReason } from '../../../shared/contract/chain-submitter.ts';

/** An outgoing payment that is not signed. Nothing was signed for it. */
export class ExternalRefusal extends Error {
  override name = 'ExternalRefusal';
  readonly reason: ExternalReason;
  constructor(reason: ExternalReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** @throws ExternalRefusal */
export const refuse = (reason: ExternalReason, message: string): never => {
  throw new ExternalRefusal(reason, message);
};
