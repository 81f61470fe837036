import bs58 from 'bs58';
import { PROGRAMS } from '../../services/chain-submitter/ledger/model/programs.ts';
import { readInstruction } from '../../services/chain-submitter/transactions/decode.ts';
import { decodeAnyMessage } from '../../services/chain-submitter/transactions/message.ts';
import { disassemble } from '../../shared/lib/chain/wire-transaction.ts';
import type { Harness } from './harness.ts';

export const SLOT_MS = 400;
/** The number of blocks for which a blockhash is valid. */
const BLOCKHASH_BLOCKS = 150;
export const CONFIRMED_SLOTS = 2;
export const FINALIZED_SLOTS = 32;

export type TokenAccount = { owner: string; amount: bigint; delegate: string | null; allowance: bigint };
type Transfer = { source: string; destination: string; authority: string; amount: bigint };
/**
 * The effect of the bytes. `outside`: a transaction of the payer that the services did not make.
 */
export type Payment = {
  signature: string;
  blockhash: string;
  transfers: Transfer[];
  /** Null: an outgoing payment, or none of the services. */
  reference: string | null;
  wire: Uint8Array;
  outside?: (accounts: Map<string, TokenAccount>) => void;
};
type ChainError = { InstructionError: [number, { Custom: number }] };
export type Included = {
  payment: Payment;
  slot: number;
  error: ChainError | null;
  deltas: Map<string, bigint>;
  before: Map<string, TokenAccount>;
};
type Block = { slot: number; hash: string; included: Included[] };

const parsed = new Map<string, Payment>();
const MAX_PARSED = 2000;

/** Decodes wire bytes with the decoder of the policy check. */
export const readPayment = (wire: Uint8Array): Payment => {
  const { signatures, message } = disassemble(wire);
  const signature = bs58.encode(signatures[0]!);
  const key = Buffer.from(message).toString('latin1');
  let known = parsed.get(key);
  if (known === undefined) {
    const plain = decodeAnyMessage(message);
    const instructions = plain.instructions
      .filter(({ program }) => program !== PROGRAMS.memo)
      .map(readInstruction);
    const transfers = instructions.flatMap((one) =>
      one.name === 'transferChecked' ? [{ ...one, amount: one.amountMicro }] : [],
    );
    const reference = transfers.find((one) => one.reference !== null)?.reference ?? null;
    known = { signature, blockhash: plain.blockhash, transfers, reference, wire };
    if (parsed.size > MAX_PARSED) parsed.clear();
    parsed.set(key, known);
  }
  return { ...known, signature, wire };
};

const refused = (index: number, code: number): ChainError => ({
  InstructionError: [index, { Custom: code }],
});

/** Executes a payment on the given accounts, as the token program does. */
const execute = (payment: Payment, account: (address: string) => TokenAccount): ChainError | null => {
  for (const [index, { source, destination, authority, amount }] of payment.transfers.entries()) {
    const from = account(source);
    if (from.amount < amount) return refused(index, 1);
    from.amount -= amount;
    if (from.owner !== authority) {
      if (from.delegate !== authority) return refused(index, 4);
      if (from.allowance < amount) return refused(index, 1);
      from.allowance -= amount;
      if (from.allowance === 0n) from.delegate = null;
    }
    account(destination).amount += amount;
  }
  return null;
};

export type Chain = ReturnType<typeof createChain>;

/**
 * A chain with slots, blockhashes that expire, confirmation, finality and forks. A fork removes
 * blocks that are not final. Their transactions are included again later, or never.
 */
export const createChain = (harness: Harness) => {
  const { random } = harness;
  const accounts = new Map<string, TokenAccount>();
  const blocks: Block[] = [];
  const hashes = new Map<string, number>();
  const includedBySignature = new Map<string, Included>();
  const rolledBack = new Set<string>();
  /** The slots that a lying provider has invented for successes, by signature. */
  const claimed = new Map<string, number>();
  /** The payments that vendors of others have named before they sent them, by signature. */
  const named = new Map<string, Payment>();
  /** Blockhashes that outgoing payments may have. */
  const finalHashes = new Set<string>();
  let pending: { payment: Payment; slot: number }[] = [];
  let forks = 0;
  let newestSlot = -1;
  let skipped = 0;

  const addBlock = (slot: number): Block => {
    const hash = bs58.encode(Buffer.from(`block ${slot}/${forks}`.padEnd(32, '.')));
    const block: Block = { slot, hash, included: [] };
    hashes.set(hash, blocks.length);
    blocks.push(block);
    return block;
  };

  const isAlive = ({ blockhash, outside }: Payment): boolean => {
    if (outside !== undefined) return true;
    const at = hashes.get(blockhash);
    return at !== undefined && blocks.length - 1 <= at + BLOCKHASH_BLOCKS;
  };

  const include = (payment: Payment, block: Block) => {
    if (includedBySignature.has(payment.signature) || !isAlive(payment)) return;
    const before = new Map<string, TokenAccount>();
    const copy = new Map<string, TokenAccount>();
    const at = (address: string): TokenAccount => {
      const known = copy.get(address);
      if (known !== undefined) return known;
      const present = accounts.get(address)!;
      before.set(address, { ...present });
      const working = { ...present };
      copy.set(address, working);
      return working;
    };
    let error: ChainError | null = null;
    if (payment.outside === undefined) error = execute(payment, at);
    else {
      const all = new Map([...accounts].map(([address]) => [address, at(address)]));
      payment.outside(all);
    }
    const deltas = new Map<string, bigint>();
    if (error === null) {
      for (const [address, account] of copy) {
        deltas.set(address, account.amount - before.get(address)!.amount);
        accounts.set(address, account);
      }
    }
    const included: Included = { payment, slot: block.slot, error, deltas, before };
    block.included.push(included);
    includedBySignature.set(payment.signature, included);
    harness.trace(
      'chain',
      `slot ${block.slot}: ${payment.signature} is included${error === null ? '' : ` and fails ${JSON.stringify(error)}`}`,
    );
  };

  /** Creates the blocks up to now. */
  const advance = () => {
    const slot = Math.floor(harness.now() / SLOT_MS);
    while (newestSlot < slot) {
      newestSlot += 1;
      if (skipped > 0 && newestSlot > 0 && random.chance(skipped)) continue;
      const block = addBlock(newestSlot);
      if (pending.length === 0) continue;
      const due = pending.filter((one) => one.slot <= block.slot);
      pending = pending.filter((one) => one.slot > block.slot);
      for (const { payment } of due) include(payment, block);
    }
  };

  /** Adds bytes to the pool of transactions that may be included. */
  const accept = (payment: Payment) => {
    advance();
    const { late } = harness.faults;
    const slot = blocks.at(-1)!.slot;
    const last = (hashes.get(payment.blockhash) ?? 0) + BLOCKHASH_BLOCKS;
    // Late: any slot in which the blockhash is valid, the very last ones included.
    const left = Math.max(1, last - blocks.length + 1);
    const wait = random.chance(late)
      ? random.chance(0.3)
        ? Math.max(1, left - random.int(0, 3))
        : random.int(1, left + 1)
      : random.int(1, 4);
    pending.push({ payment, slot: slot + wait });
  };

  /** Removes the blocks of the last slots. Final blocks stay. */
  const fork = (slots: number) => {
    advance();
    forks += 1;
    const gone = blocks.splice(Math.max(1, indexBehind(slots) + 1));
    const lost = gone.flatMap((block) => block.included).reverse();
    harness.trace('chain', `fork: ${gone.length} blocks are removed, with ${lost.length} transactions`);
    for (const { hash } of gone) hashes.delete(hash);
    const tip = gone.at(-1)?.slot ?? 0;
    addBlock(tip);
    for (const { payment, error, before, deltas } of lost) {
      if (error === null) for (const address of deltas.keys()) accounts.set(address, before.get(address)!);
      includedBySignature.delete(payment.signature);
      rolledBack.add(payment.signature);
      const again = payment.outside !== undefined || random.chance(0.5);
      harness.trace(
        'chain',
        `${payment.signature} is rolled back and ${again ? 'included later' : 'dropped'}`,
      );
      if (again) pending.push({ payment, slot: tip + random.int(1, 30) });
    }
  };

  /** Index of the newest block of at least this many slots ago, among the blocks so far. */
  const indexNow = (slots: number): number => {
    const limit = blocks.at(-1)!.slot - slots;
    let index = blocks.length - 1;
    while (index > 0 && blocks[index]!.slot > limit) index -= 1;
    return index;
  };
  /** The same as of now. */
  const indexBehind = (slots: number): number => {
    advance();
    return indexNow(slots);
  };

  return {
    accounts,
    advance,
    accept,
    /** From now on such a part of the slots has no block, so that blockhashes are valid longer. */
    skip: (part: number): void => {
      advance();
      skipped = part;
    },
    /** Whether no sent bytes wait to be included. */
    isIdle: () => pending.length === 0,
    fork,
    indexBehind,
    /** All signatures that a fork ever removed. */
    rolledBack,
    finalHashes,
    claimed,
    named,
    blockAt: (index: number): Block => blocks[index]!,
    lastValidOf: (index: number) => index + BLOCKHASH_BLOCKS,
    /** Whether a block may have bytes with a blockhash. */
    isValidAt: (blockhash: string, index: number): boolean => {
      const at = hashes.get(blockhash);
      return at !== undefined && at <= index && index <= at + BLOCKHASH_BLOCKS;
    },
    tipSlot: (): number => blocks.at(-1)?.slot ?? 0,
    find: (signature: string): Included | undefined => includedBySignature.get(signature),
    isFinal: (signature: string): boolean => {
      const included = includedBySignature.get(signature);
      return included !== undefined && included.slot <= (blocks.at(-1)?.slot ?? 0) - FINALIZED_SLOTS;
    },
    /** Whether its blockhash expired on every fork, and it was not included. */
    isDead: (wire: Uint8Array): boolean => {
      if (wire.length === 0) return false;
      const { signature, blockhash } = readPayment(wire);
      const at = hashes.get(blockhash);
      const past = at === undefined || indexNow(FINALIZED_SLOTS) > at + BLOCKHASH_BLOCKS;
      return past && !includedBySignature.has(signature);
    },
    all: (): Iterable<Included> => includedBySignature.values(),
    /** An account as of a block. */
    accountAt: (address: string, index: number): TokenAccount | null => {
      for (let at = index + 1; at < blocks.length; at++) {
        for (const { before, error } of blocks[at]!.included) {
          const was = before.get(address);
          if (error === null && was !== undefined) return was;
        }
      }
      return accounts.get(address) ?? null;
    },
    /** The result of executing it now. */
    simulate: (payment: Payment): ChainError | 'BlockhashNotFound' | null => {
      advance();
      if (!isAlive(payment)) return 'BlockhashNotFound';
      const copy = new Map<string, TokenAccount>();
      return execute(payment, (address) => {
        const known = copy.get(address) ?? { ...accounts.get(address)! };
        copy.set(address, known);
        return known;
      });
    },
    /** A transaction of a payer that the services did not make. */
    outside: (name: string, act: (accounts: Map<string, TokenAccount>) => void) => {
      advance();
      const none = { blockhash: '', transfers: [], reference: null, wire: Buffer.alloc(0) };
      const payment = { ...none, signature: name, outside: act };
      pending.push({ payment, slot: blocks.at(-1)!.slot + 1 });
    },
  };
};
