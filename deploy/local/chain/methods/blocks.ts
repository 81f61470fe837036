import { z } from 'zod';
import type { Chain } from '../chain.ts';
import { blockCleanedUp, blockNotAvailable, slotSkipped } from '../errors.ts';
import { encodeInBlock, TRANSACTION_ENCODINGS } from '../formats/transaction-json.ts';
import { findBlock, MAX_BLOCKHASH_AGE } from '../ledger.ts';
import {
  address,
  commitment,
  config,
  historyViewOf,
  inContext,
  type Methods,
  parse,
  slotNumber,
  VERSION,
  viewOf,
} from './params.ts';

const SLOTS_IN_EPOCH = 432_000;
const MAX_FEE_ACCOUNTS = 128;

const blockConfig = z
  .object({
    commitment: commitment.nullish(),
    encoding: z.enum(TRANSACTION_ENCODINGS).nullish(),
    transactionDetails: z.enum(['full', 'accounts', 'signatures', 'none']).nullish(),
    rewards: z.boolean().nullish(),
    maxSupportedTransactionVersion: z.number().int().min(0).max(255).nullish(),
  })
  .nullish();

const getBlock = (chain: Chain, params: unknown[]) => {
  const { ledger, history } = chain;
  const [slot, given] = parse(params, slotNumber, blockConfig);
  if (slot > historyViewOf(chain, given).slot) throw blockNotAvailable(slot);
  const state = ledger.state();
  const found = findBlock(state, slot);
  if (found === 'pruned') throw blockCleanedUp(slot, state.blocks[0]!.slot + 1);
  if (found === 'skipped') throw slotSkipped(slot);
  const { block, parent } = found;
  const transactions = history.inSlot(slot);
  const details = given?.transactionDetails ?? 'full';
  const encoding = details === 'accounts' ? details : (given?.encoding ?? 'json');
  const maxVersion = given?.maxSupportedTransactionVersion ?? undefined;
  return {
    blockHeight: block.height,
    blockTime: transactions[0]?.time ?? null,
    blockhash: block.hash,
    parentSlot: parent.slot,
    previousBlockhash: parent.hash,
    ...(given?.rewards !== false && { rewards: [] }),
    ...(details === 'signatures' && { signatures: transactions.map(({ signature }) => signature) }),
    ...((details === 'full' || details === 'accounts') && {
      transactions: transactions.map((one) => encodeInBlock(chain.load(one), encoding, maxVersion)),
    }),
  };
};

/** Methods about slots, blocks and the node itself. */
export const blockMethods = (chain: Chain): Methods => {
  const { ledger } = chain;
  return {
    getHealth: () => 'ok',
    getVersion: () => VERSION,
    getGenesisHash: () => ledger.genesisHash,
    getSlot: (params) => viewOf(chain, parse(params, config)[0]).slot,
    getBlockHeight: (params) => ledger.blockAt(viewOf(chain, parse(params, config)[0]).level).height,
    getBlock: (params) => getBlock(chain, params),
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
