import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Blockhashes } from '../chain/blockhashes.ts';
import { readForCaller } from '../chain/read-for-caller.ts';

/** A blockhash for a transaction that a page builds. Pages that ask together share a read. */
export const getBlockhash =
  ({
    blockhashes,
  }: {
    blockhashes: Pick<Blockhashes, 'get'>;
  }): Handler<typeof chainSubmitter.internal.getBlockhash> =>
  async () => ({ blockhash: (await readForCaller(blockhashes.get())).blockhash });
