import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Network } from '../ledger/model/network.ts';

/**
 * The fee payers that co-sign transactions of other clients. Former ones are among them, because a
 * vendor may read the list once and offer the same fee payer for a long time.
 */
export const getFeePayers =
  ({ network }: { network: Network }): Handler<typeof chainSubmitter.internal.getFeePayers> =>
  async () => ({ fee_payers: [...network.feePayers] });
