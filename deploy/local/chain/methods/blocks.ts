import { z } from 'zod';
import type { Chain } from '../chain.ts';
import { MAX_BLOCKHASH_AGE } from '../ledger.ts';
import { address, config, inContext, type Methods, parse, VERSION, viewOf } from './params.ts';

const SLOTS_IN_EPOCH = 432_000;
const MAX_FEE_ACCOUNTS = 128;

/** Methods about slots, blocks and the node itself. */
export const blockMethods = (chain: Chain): Methods => {
  const { ledger } = chain;
  return {
    getHealth: () => 'ok',
    getVersion: () => VERSION,
    getGenesisHash: () => ledger.genesisHash,
    getSlot: (params) => viewOf(chain, parse(params, config)[0]).slot,
    getBlockHeight: (params) => ledger.blockAt(viewOf(chain, parse(params, config)[0]).level).height,
    getLatestBlockhash: (params) => {
      const { slot, level } = viewOf(chain, parse(params, config)[0]);
      const { hash, height } = ledger.blockAt(level);
      return inContext(slot, { blockhash: hash, lastValidBlockHeight: height + MAX_BLOCKHASH_AGE });
    },
    isBlockhashValid: (params) => {
      const [blockhash, given] = parse(params, z.string(), config);
      const { slot, level } = viewOf(chain, given);
      return inContext(slot, ledger.isBlockhashValid(blockhash, level));
    },
    getEpochInfo: (params) => {
      const { slot, level } = viewOf(chain, parse(params, config)[0]);
      return {
        absoluteSlot: slot,
        blockHeight: ledger.blockAt(level).height,
        epoch: Math.floor(slot / SLOTS_IN_EPOCH),
        slotIndex: slot % SLOTS_IN_EPOCH,
        slotsInEpoch: SLOTS_IN_EPOCH,
        transactionCount: chain.history.count(),
      };
    },
    // One floor for all accounts, so the accounts that are asked about make no difference.
    getRecentPrioritizationFees: (params) => {
      parse(params, z.array(address).max(MAX_FEE_ACCOUNTS).nullish());
      return chain.recentFees();
    },
    getTransactionCount: () => chain.history.count(),
  };
};
