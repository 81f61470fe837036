import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Peers } from '../peers.ts';

/** GET /v1/blockhash: for the transaction that a page builds. */
export const getBlockhash =
  ({
    readBlockhash,
    getFeePayers,
  }: Pick<Peers, 'readBlockhash' | 'getFeePayers'>): Handler<typeof settlement.operations.getBlockhash> =>
  async () => {
    const [{ blockhash }, feePayers] = await Promise.all([readBlockhash({}), getFeePayers()]);
    return { blockhash, fee_payer: feePayers[0]! };
  };
