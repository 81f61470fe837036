import bs58 from 'bs58';
import { publicKeyFromRaw, verifyBytes } from '../../../shared/lib/ed25519.ts';
import { PROGRAMS } from '../chain/addresses.ts';
import { type Network, platformAddresses } from '../chain/model/network.ts';
import { type KnownInstruction, readInstruction } from '../transactions/decode.ts';
import { USDC_DECIMALS } from '../transactions/instructions/shared.ts';
import { decodeForeignMessage, disassemble, type PlainMessage } from '../transactions/message.ts';

/**
 * The policy for transactions that a buyer's client of x402 or MPP has built and signed
 * (docs/design/interop.md, section 3). Our fee payer co-signs only bytes on this allow-list. They
 * are decoded here by code that no builder shares.
 */

/** Why a transaction is refused. The names are those of x402, without its prefixes. */
export type ForeignReason =
  | 'transaction_could_not_be_decoded'
  | 'excessive_signers'
  | 'fee_payer_not_managed_by_facilitator'
  | 'signature_invalid'
  | 'transaction_fee_payer_transferring_funds'
  | 'transaction_instructions_length'
  | 'transaction_instructions_compute_limit_instruction'
  | 'transaction_instructions_compute_limit_instruction_too_high'
  | 'transaction_instructions_compute_price_instruction'
  | 'transaction_instructions_compute_price_instruction_too_high'
  | 'no_transfer_instruction'
  | 'mint_mismatch'
  | 'recipient_mismatch'
  | 'amount_mismatch'
  | 'memo_count'
  | 'memo_mismatch'
  | 'unknown_instruction';

/** A transaction that our fee payer must not sign. */
export class ForeignRefusal extends Error {
  override name = 'ForeignRefusal';
  readonly reason: ForeignReason;
  constructor(reason: ForeignReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** A transfer that the vendor's offer requires. */
type Leg = {
  /** The payee's token account. */
  destination: string;
  amountMicro: bigint;
};
/** What the transaction must do. */
export type ForeignOrder = {
  /** x402 has one transfer, MPP one to the vendor and one for each split. */
  legs: readonly Leg[];
  /** The exact memos. Null: the offer names none, and the client may add a random one. */
  memos: readonly string[] | null;
};
/** A transaction that satisfies its order. */
export type ForeignTransfer = {
  feePayer: string;
  /** The owner or delegate who signed for the source. */
  authority: string;
  source: string;
  message: Uint8Array;
  /** Lamports above the signature fees. */
  priorityFeeLamports: bigint;
};

const SIGNERS = 2;
const MAX_COMPUTE_UNITS = 200_000;
const MAX_PRIORITY_FEE_LAMPORTS = 20_000n;
const MICRO_LAMPORTS_PER_LAMPORT = 1_000_000n;
/** Two for the compute budget, and a memo for each transfer. */
const MAX_INSTRUCTIONS = 16;
const MAX_MEMO_BYTES = 256;

const refuse = (reason: ForeignReason, message: string): never => {
  throw new ForeignRefusal(reason, message);
};

const decode = (wire: Uint8Array) => {
  try {
    const { signatures, message } = disassemble(wire);
    return { signatures, message, plain: decodeForeignMessage(message) };
  } catch (error) {
    return refuse('transaction_could_not_be_decoded', (error as Error).message);
  }
};

/** Checks the two signers, and the signature of the one that is not ours. */
const checkSigners = (
  { signers }: PlainMessage,
  signatures: readonly Uint8Array[],
  message: Uint8Array,
  network: Network,
): { feePayer: string; authority: string } => {
  if (signers.length !== SIGNERS)
    refuse('excessive_signers', `the transaction has ${signers.length} signers instead of ${SIGNERS}`);
  const [feePayer, authority] = signers as [string, string];
  if (!network.feePayers.includes(feePayer))
    refuse('fee_payer_not_managed_by_facilitator', 'the first signer is not a fee payer of this deployment');
  if (platformAddresses(network).includes(authority))
    refuse('transaction_fee_payer_transferring_funds', 'the payment is signed by an address of the platform');
  // The first slot is ours: whatever it holds is replaced.
  if (!verifyBytes(message, signatures[1]!, publicKeyFromRaw(bs58.decode(authority))))
    refuse('signature_invalid', 'the buyer’s signature does not match the message');
  return { feePayer, authority };
};

type Budget = { units: number; microLamports: bigint };

/** Reads the compute budget: one limit and one price, in either order. */
const readBudget = (instructions: readonly KnownInstruction[]): Budget => {
  const limit = instructions.find(({ name }) => name === 'computeUnitLimit');
  const price = instructions.find(({ name }) => name === 'computeUnitPrice');
  if (limit?.name !== 'computeUnitLimit')
    return refuse(
      'transaction_instructions_compute_limit_instruction',
      'the first two instructions must set the compute unit limit and price',
    );
  if (price?.name !== 'computeUnitPrice')
    return refuse(
      'transaction_instructions_compute_price_instruction',
      'the first two instructions must set the compute unit limit and price',
    );
  return { units: limit.units, microLamports: price.microLamports };
};

/** Returns the priority fee in lamports, rounded up as the network does. */
const checkBudget = ({ units, microLamports }: Budget): bigint => {
  if (units > MAX_COMPUTE_UNITS)
    refuse(
      'transaction_instructions_compute_limit_instruction_too_high',
      `the compute unit limit is above ${MAX_COMPUTE_UNITS}`,
    );
  const microFee = BigInt(units) * microLamports;
  const lamports = (microFee + MICRO_LAMPORTS_PER_LAMPORT - 1n) / MICRO_LAMPORTS_PER_LAMPORT;
  if (lamports > MAX_PRIORITY_FEE_LAMPORTS)
    refuse(
      'transaction_instructions_compute_price_instruction_too_high',
      `the priority fee is above ${MAX_PRIORITY_FEE_LAMPORTS} lamports`,
    );
  return lamports;
};

type Parts = { budget: KnownInstruction[]; transfers: KnownInstruction[]; memos: string[] };

const MEMO_TEXT = new TextDecoder('utf-8', { fatal: true });
const readMemo = (data: Uint8Array, accounts: number): string => {
  if (accounts > 0) refuse('unknown_instruction', 'a memo names accounts');
  if (data.length > MAX_MEMO_BYTES) refuse('memo_mismatch', `a memo is longer than ${MAX_MEMO_BYTES} bytes`);
  try {
    return MEMO_TEXT.decode(data);
  } catch {
    return refuse('memo_mismatch', 'a memo is not UTF-8');
  }
};

/** Sorts the instructions. Anything but a budget at the start, transfers and memos is refused. */
const readParts = ({ instructions }: PlainMessage): Parts => {
  if (instructions.length > MAX_INSTRUCTIONS)
    refuse('transaction_instructions_length', `more than ${MAX_INSTRUCTIONS} instructions`);
  const parts: Parts = { budget: [], transfers: [], memos: [] };
  for (const [index, instruction] of instructions.entries()) {
    if (instruction.program === PROGRAMS.memo) {
      parts.memos.push(readMemo(instruction.data, instruction.accounts.length));
      continue;
    }
    const known = readKnown(instruction);
    if (known.name === 'transferChecked') parts.transfers.push(known);
    else if (index < 2 && (known.name === 'computeUnitLimit' || known.name === 'computeUnitPrice'))
      parts.budget.push(known);
    else refuse('unknown_instruction', `the instruction ${known.name} is not allowed here`);
  }
  return parts;
};
const readKnown = (instruction: PlainMessage['instructions'][number]): KnownInstruction => {
  try {
    return readInstruction(instruction);
  } catch (error) {
    return refuse('unknown_instruction', (error as Error).message);
  }
};

/** Checks the transfers against the legs, in their order. Returns the source. */
const checkTransfers = (
  transfers: readonly KnownInstruction[],
  { legs }: ForeignOrder,
  { authority, network }: { authority: string; network: Network },
): string => {
  if (transfers.length !== legs.length)
    refuse(
      'no_transfer_instruction',
      `the transaction has ${transfers.length} transfers instead of ${legs.length}`,
    );
  const sources = new Set<string>();
  for (const [index, { destination, amountMicro }] of legs.entries()) {
    const transfer = transfers[index]!;
    if (transfer.name !== 'transferChecked') return refuse('no_transfer_instruction', 'not a transfer');
    if (transfer.mint !== network.mint || transfer.decimals !== USDC_DECIMALS)
      refuse('mint_mismatch', 'a transfer has another mint or other decimals');
    if (transfer.destination !== destination)
      refuse('recipient_mismatch', 'a transfer goes to another token account');
    if (transfer.amountMicro !== amountMicro) refuse('amount_mismatch', 'a transfer has another amount');
    if (transfer.authority !== authority)
      refuse('signature_invalid', 'a transfer needs the signature of somebody else');
    if (transfer.source === destination) refuse('recipient_mismatch', 'a transfer to its own source');
    if (platformAddresses(network).includes(transfer.source))
      refuse('transaction_fee_payer_transferring_funds', 'a transfer from an account of the platform');
    sources.add(transfer.source);
  }
  if (sources.size !== 1) refuse('unknown_instruction', 'the transfers have several sources');
  return [...sources][0]!;
};

const checkMemos = (found: readonly string[], { memos }: ForeignOrder): void => {
  if (memos === null) {
    if (found.length > 1) refuse('memo_count', 'more than one memo');
    return;
  }
  if (found.length !== memos.length) refuse('memo_count', `${found.length} memos instead of ${memos.length}`);
  if (found.some((memo, index) => memo !== memos[index])) refuse('memo_mismatch', 'another memo');
};

/**
 * Checks wire bytes against an order.
 * @param wire a signed transaction whose first signature, the fee payer's, is ignored
 * @throws ForeignRefusal unless the bytes are on the allow-list and do exactly what the order says
 */
export const checkForeign = (wire: Uint8Array, order: ForeignOrder, network: Network): ForeignTransfer => {
  const { signatures, message, plain } = decode(wire);
  const { feePayer, authority } = checkSigners(plain, signatures, message, network);
  if (plain.instructions.some(({ accounts }) => accounts.some(({ address }) => address === feePayer)))
    refuse('transaction_fee_payer_transferring_funds', 'an instruction names the fee payer');
  const { budget, transfers, memos } = readParts(plain);
  const priorityFeeLamports = checkBudget(readBudget(budget));
  const source = checkTransfers(transfers, order, { authority, network });
  checkMemos(memos, order);
  const writable = new Set([feePayer, source, ...order.legs.map(({ destination }) => destination)]);
  if (plain.writable.some((key) => !writable.has(key)))
    refuse('unknown_instruction', 'another account is writable');
  return { feePayer, authority, source, message, priorityFeeLamports };
};
