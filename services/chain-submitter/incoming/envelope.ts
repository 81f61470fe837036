import bs58 from 'bs58';
import { MAX_MEMO_BYTES } from '../../../shared/contract/primitives.ts';
import { publicKeyFromRaw, verifyBytes } from '../../../shared/lib/chain/ed25519.ts';
import { disassemble, isEmptySignature } from '../../../shared/lib/chain/wire-transaction.ts';
import { PROGRAMS } from '../chain/addresses.ts';
import { type Network, platformAddresses } from '../ledger/model/network.ts';
import { type KnownInstruction, readInstruction } from '../transactions/decode.ts';
import {
  decodeAnyMessage,
  type LookupTables,
  NO_TABLES,
  type PlainInstruction,
  type PlainMessage,
} from '../transactions/message.ts';
import { refuse } from './refusal.ts';

/**
 * What every payment of another client has, in every shape: two signers, of which the first is our
 * fee payer, which no instruction names; a bounded budget; the memos of the offer.
 */

const SIGNERS = 2;
const MAX_COMPUTE_UNITS = 200_000;
const MAX_PRIORITY_FEE_LAMPORTS = 20_000n;
const MICRO_LAMPORTS_PER_LAMPORT = 1_000_000n;
export const BUDGET_INSTRUCTIONS = 2;
/** The budget, two transfers, and a memo for each. More are read by no rule. */
const MAX_INSTRUCTIONS = 16;

/** A transaction whose accounts are all known, those of lookup tables included. */
export type Decoded = { signatures: readonly Uint8Array[]; message: Uint8Array; plain: PlainMessage };

/** @throws PaymentRefusal for bytes that do not decode, and for a table that is not in `tables` */
export const decodeIncoming = (wire: Uint8Array, tables: LookupTables = NO_TABLES): Decoded => {
  try {
    const { signatures, message } = disassemble(wire);
    return { signatures, message, plain: decodeAnyMessage(message, tables) };
  } catch (error) {
    return refuse('transaction_could_not_be_decoded', (error as Error).message);
  }
};

/**
 * Whether an authority may pay. An address of the platform may not, except for the delegate
 * authority in an outgoing payment of this deployment, whose payer pays a vendor here.
 */
const mayPay = (authority: string, network: Network, isOutgoing: boolean): boolean =>
  !platformAddresses(network).includes(authority) ||
  (isOutgoing && network.delegateAuthorities.includes(authority));

type Signing = { network: Network; isOutgoing?: boolean; signsLast?: boolean };

/**
 * Checks the signature of the signer that is not our fee payer.
 * @returns null: it signs last, and its slot is empty
 */
const checkSignature = (
  { signatures, message }: Decoded,
  authority: string,
  { signsLast = false }: Signing,
): Uint8Array | null => {
  const signature = signatures[1]!;
  if (signsLast)
    return isEmptySignature(signature)
      ? null
      : refuse('signature_invalid', 'the buyer signs last, and has signed already');
  if (!verifyBytes(message, signature, publicKeyFromRaw(bs58.decode(authority))))
    refuse('signature_invalid', 'the buyer’s signature does not match the message');
  return signature;
};

/** Checks the two signers, and the signature of the one that is not our fee payer. */
const checkSigners = (
  decoded: Decoded,
  signing: Signing,
): { feePayer: string; authority: string; signature: Uint8Array | null } => {
  const { signers } = decoded.plain;
  const { network, isOutgoing = false } = signing;
  if (signers.length !== SIGNERS)
    refuse('excessive_signers', `the transaction has ${signers.length} signers instead of ${SIGNERS}`);
  const [feePayer, authority] = signers as [string, string];
  if (!network.feePayers.includes(feePayer))
    refuse('fee_payer_not_managed_by_facilitator', 'the first signer is not a fee payer of this deployment');
  if (!mayPay(authority, network, isOutgoing))
    refuse('transaction_fee_payer_transferring_funds', 'the payment is signed by an address of the platform');
  // The first slot is ours: whatever it holds is replaced.
  return { feePayer, authority, signature: checkSignature(decoded, authority, signing) };
};

export const readKnown = (instruction: PlainInstruction): KnownInstruction => {
  try {
    return readInstruction(instruction);
  } catch (error) {
    return refuse('unknown_instruction', (error as Error).message);
  }
};

type Budget = { units: number; microLamports: bigint };

const NO_BUDGET = 'the first two instructions must set the compute unit limit and price';
/** Reads the budget of the first two instructions: one limit and one price, in either order. */
const readBudget = ({ instructions }: PlainMessage): Budget => {
  const found = instructions
    .slice(0, BUDGET_INSTRUCTIONS)
    .filter(({ program }) => program === PROGRAMS.computeBudget)
    .map(readKnown);
  const limit = found.find(({ name }) => name === 'computeUnitLimit');
  const price = found.find(({ name }) => name === 'computeUnitPrice');
  // A nonce account would make the bytes valid for ever. Its instruction must be the first one.
  if (limit?.name !== 'computeUnitLimit' || instructions[0]!.program !== PROGRAMS.computeBudget)
    return refuse('transaction_instructions_compute_limit_instruction', NO_BUDGET);
  if (price?.name !== 'computeUnitPrice')
    return refuse('transaction_instructions_compute_price_instruction', NO_BUDGET);
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

/** A byte order mark is part of the memo. */
const MEMO_TEXT = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
/** The text of a memo instruction. */
export const readMemo = ({ data, accounts }: PlainInstruction): string => {
  if (accounts.length > 0) refuse('unknown_instruction', 'a memo names accounts');
  if (data.length > MAX_MEMO_BYTES) refuse('memo_mismatch', `a memo is longer than ${MAX_MEMO_BYTES} bytes`);
  try {
    return MEMO_TEXT.decode(data);
  } catch {
    return refuse('memo_mismatch', 'a memo is not UTF-8');
  }
};

/** @param memos of the offer. Null: any one, or none */
export const checkMemos = (found: readonly string[], memos: readonly string[] | null): void => {
  if (memos === null) {
    if (found.length > 1) refuse('memo_count', 'more than one memo');
    return;
  }
  if (found.length !== memos.length) refuse('memo_count', `${found.length} memos instead of ${memos.length}`);
  if (found.some((memo, index) => memo !== memos[index])) refuse('memo_mismatch', 'another memo');
};

/** What the parts of a transaction that all shapes share say. */
export type Envelope = {
  feePayer: string;
  /** The signer that is not our fee payer. */
  signer: string;
  message: Uint8Array;
  /** The signer's signature over the message. Null: it signs last. */
  signature: Uint8Array | null;
  /** Lamports above the signature fees. */
  priorityFeeLamports: bigint;
};

/**
 * Checks the signers, the fee payer and the budget.
 * @throws PaymentRefusal
 */
export const checkEnvelope = (decoded: Decoded, signing: Signing): Envelope => {
  const { message, plain } = decoded;
  const { feePayer, authority, signature } = checkSigners(decoded, signing);
  // A program has the rights of the accounts that its instruction names, and passes on no others.
  if (plain.instructions.some(({ accounts }) => accounts.some(({ address }) => address === feePayer)))
    refuse('transaction_fee_payer_transferring_funds', 'an instruction names the fee payer');
  if (plain.instructions.length > MAX_INSTRUCTIONS)
    refuse('transaction_instructions_length', `more than ${MAX_INSTRUCTIONS} instructions`);
  const priorityFeeLamports = checkBudget(readBudget(plain));
  return { feePayer, signer: authority, message, signature, priorityFeeLamports };
};
