import { createHash } from 'node:crypto';
import bs58 from 'bs58';

export type Commitment = 'processed' | 'confirmed' | 'finalized';
type Block = { slot: number; height: number; hash: string };
export type LedgerState = { slot: number; forks: number; blocks: Block[] };

/** A blockhash is valid for this many blocks after its own: Solana's MAX_PROCESSING_AGE. */
export const MAX_BLOCKHASH_AGE = 150;
/** A transaction is final when this many slots are on top of it: Solana's lockout depth. */
export const FINALIZED_AFTER_SLOTS = 32;
const RETAINED_BLOCKS = 300;
// Above the slot LiteSVM starts at, so that its programs count as deployed in the past.
const FIRST_SLOT = 450_000_000;
// On the real network skipped slots have no block, so the height is lower than the slot. A service
// that confuses the two must fail here too.
const SLOTS_WITHOUT_BLOCK = 21_734_117;

export type Ledger = ReturnType<typeof createLedger>;

/**
 * The block of a slot, and the one below it.
 *
 * @returns `pruned` for a slot older than the blocks that are kept, `skipped` for one without a
 *   block. What was sent in the slot after a fork is found by its signature only
 */
export const findBlock = (
  { blocks }: LedgerState,
  wanted: number,
): { block: Block; parent: Block } | 'pruned' | 'skipped' => {
  if (wanted <= blocks[0]!.slot) return 'pruned';
  const index = blocks.findLastIndex((block) => block.slot === wanted);
  const [block, parent] = [blocks[index], blocks[index - 1]];
  // The skipped slot after a fork repeats the block below it.
  return block && parent && block.hash !== parent.hash ? { block, parent } : 'skipped';
};

/**
 * Slots, block heights, blockhashes and what each commitment level sees of them.
 *
 * The newest slot is open and receives transactions. `confirmedAfterSlots` is 1, or 0 if the chain
 * confirms at once. That mode does not create a slot per transaction, because 150 transactions
 * would then expire every blockhash in use.
 *
 * @param seed Random per chain, so that no two chains share a blockhash or a transaction.
 */
export const createLedger = (seed: string) => {
  let slot = 0;
  let forks = 0;
  let confirmedAfterSlots = 1;
  let blocks: Block[] = [];
  let byHash = new Map<string, Block>();

  const hashOf = (label: string) => bs58.encode(createHash('sha256').update(`${seed}|${label}`).digest());

  // The skipped slot after a fork repeats the block below it and does not own that block's hash.
  const own = (block: Block) => {
    if (!byHash.has(block.hash)) byHash.set(block.hash, block);
  };
  const disown = (block: Block) => {
    if (byHash.get(block.hash) === block) byHash.delete(block.hash);
  };

  const addBlock = (height: number, hash = hashOf(`${forks}|${slot}`)) => {
    const block = { slot, height, hash };
    blocks.push(block);
    own(block);
    if (blocks.length > RETAINED_BLOCKS) disown(blocks.shift()!);
  };

  const tip = () => blocks.at(-1)!;

  const advance = () => {
    slot += 1;
    addBlock(tip().height + 1);
  };

  // The chain begins with enough blocks that `finalized` exists from the first request on.
  slot = FIRST_SLOT;
  addBlock(FIRST_SLOT - SLOTS_WITHOUT_BLOCK);
  for (let count = 0; count < FINALIZED_AFTER_SLOTS; count += 1) advance();

  const slotAt = (commitment: Commitment): number => {
    if (commitment === 'finalized') return slot - FINALIZED_AFTER_SLOTS;
    return commitment === 'confirmed' ? slot - confirmedAfterSlots : slot;
  };

  const blockAt = (commitment: Commitment): Block => {
    const seen = slotAt(commitment);
    return blocks.findLast((block) => block.slot <= seen) ?? blocks[0]!;
  };

  return {
    genesisHash: hashOf('genesis'),
    slot: () => slot,
    slotAt,
    blockAt,

    setConfirmedAfterSlots: (slots: 0 | 1) => {
      confirmedAfterSlots = slots;
    },

    /** Opens the next slot, with its own block. */
    advance,

    /** Opens slots up to this one. Does nothing if it is in the past. */
    advanceTo: (target: number) => {
      while (slot < target) advance();
    },

    /** The commitment that a transaction of that slot has reached. */
    commitmentOf: (includedSlot: number): Commitment => {
      const age = slot - includedSlot;
      if (age >= FINALIZED_AFTER_SLOTS) return 'finalized';
      return age >= confirmedAfterSlots ? 'confirmed' : 'processed';
    },

    /** Whether a transaction with this blockhash may be included, as seen from `commitment`. */
    isBlockhashValid: (hash: string, commitment: Commitment): boolean => {
      const block = byHash.get(hash);
      if (!block || block.slot > slotAt(commitment)) return false;
      return blockAt(commitment).height <= block.height + MAX_BLOCKHASH_AGE;
    },

    /**
     * The first slot that is lost if the newest `count` slots are undone, or undefined if a
     * finalized slot would be undone.
     */
    firstLostSlot: (count: number): number | undefined => {
      const lost = blocks.at(-count);
      return lost && blocks.length > count && lost.slot > slotAt('finalized') ? lost.slot : undefined;
    },

    /**
     * Drops the newest `count` slots with their blocks. The slot number still rises by one, and
     * that slot is skipped. It has no block, so the height is `count` lower and the newest valid
     * blockhash is that of the last remaining block.
     */
    fork: (count: number) => {
      for (const block of blocks.splice(blocks.length - count)) disown(block);
      forks += 1;
      slot += 1;
      addBlock(tip().height, tip().hash);
    },

    state: (): LedgerState => ({ slot, forks, blocks }),
    restore: (state: LedgerState) => {
      ({ slot, forks } = state);
      blocks = [...state.blocks];
      byHash = new Map();
      blocks.forEach(own);
    },
  };
};
