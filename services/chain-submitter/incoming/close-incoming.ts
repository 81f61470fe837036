import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { incomingIntentId } from '../ledger/intent-id.ts';
import { closePayment } from '../payments/close.ts';
import { adoptLost, type LostDeps } from './lost-payment.ts';

/** Ends a payment of another client that was not signed, or returns its progress. */
export const closeIncoming =
  (deps: LostDeps): Handler<typeof chainSubmitter.internal.closeIncoming> =>
  ({ message_hash: messageHash, settlement_id: settlementId, lost }) => {
    const payment = { kind: 'incoming', intentId: incomingIntentId(messageHash), settlementId } as const;
    return closePayment(deps, payment, async () => {
      if (!lost) return;
      const { since, source_account: source, account_id: accountId } = lost;
      await adoptLost(deps, { settlementId, accountId }, { messageHash, source, since });
    });
  };
