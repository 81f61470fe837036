import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Peers } from '../peers.ts';

/** GET /v1/blockhash: for the transaction that the payment page builds. */
export const getBlockhash =
  ({ readBlockhash }: Pick<Peers, 'readBlockhash'>): Handler<typeof settlement.operations.getBlockhash> =>
  async () =>
    readBlockhash({});
