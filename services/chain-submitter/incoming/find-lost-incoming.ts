import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { hashMessage, messageOf } from '../../../shared/lib/chain/wire-transaction.ts';
import { findLostMessage, type LostDeps } from '../payments/lost-message.ts';
import { searchedOf } from './lost-payment.ts';

/**
 * Searches for a payment that is refused as a new one, whatever it is refused for, so that no
 * refusal denies one that was made. A transaction that failed on chain has moved nothing.
 */
export const findLostIncoming =
  (deps: LostDeps): Handler<typeof chainSubmitter.internal.findLostIncoming> =>
  async ({ transaction, since }) => {
    const message = messageOf(transaction);
    const source = message === null ? null : searchedOf(message);
    if (message === null || source === null) return { paid: false };
    const messageHash = hashMessage(message);
    return { paid: (await findLostMessage(deps, { messageHash, source, since, succeeded: true })) !== null };
  };
