import bs58 from 'bs58';
import { MAX_MEMO_BYTES } from '../../../shared/contract/primitives.ts';
import { publicKeyFromRaw, verifyBytes } from '../../../shared/lib/ed25519.ts';
import { disassemble } from '../../../shared/lib/wire-transaction.ts';
import { PROGRAMS } from '../chain/addresses.ts';
import { type Network, platformAddresses } from '../ledger/model/network.ts';
import { type KnownInstruction, readInstruction } from '../transactions/decode.ts';
import { USDC_DECIMALS } from '../transactions/instructions/shared.ts';
import { decodeAnyMessage, type PlainMessage } from '../transactions/message.ts';
import { refuse } from './refusal.ts';

/**
 * The policy for transactions that a buyer's client of x402 or MPP has built and signed
 * (docs/design/interop.md, section 3). Our fee payer co-signs only bytes on this allow-list. They
 * are decoded here by code that no builder shares.
 */

/** A transfer that the vendor's offer requires. */
type Leg = {
  /** The payee's token account. */
  destination: string;
  amountMicro: bigint;
};
/** What the transaction must do. */
export type IncomingTerms = {
  /** x402 has one transfer, MPP one to the vendor and one for each split. */
  legs: readonly Leg[];
  /** The exact memos. Null: the offer names none, and the client may add a random one. */
  memos: readonly string[] | null;
};
/** A transaction that satisfies its order. */
export type IncomingTransfer = {
  feePayer: string;
  /** The owner or delegate who signed for the source. */
  authority: string;
  source: string;
  message: Uint8Array;
  /** The authority's signature over the message. */
  signature: Uint8Array;
  /** Lamports above the signature fees. */
  priorityFeeLamports: bigint;
};

const SIGNERS = 2;
const MAX_COMPUTE_UNITS = 200_000;
const MAX_PRIORITY_FEE_LAMPORTS = 20_000n;
const MICRO_LAMPORTS_PER_LAMPORT = 1_000_000n;
const BUDGET_INSTRUCTIONS = 2;
/** The budget, two transfers, and a memo for each. More are read by no rule. */
const MAX_INSTRUCTIONS = 16;

const decode = (wire: Uint8Array) => {
  try {
    const { signatures, message } = disassemble(wire);
    return { signatures, message, plain: decodeAnyMessage(message) };
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

/** Checks the two signers, and the signature of the one that is not our fee payer. */
const checkSigners = (
  { signers }: PlainMessage,
  { signatures, message }: { signatures: readonly Uint8Array[]; message: Uint8Array },
  { network, isOutgoing }: { network: Network; isOutgoing: boolean },
): { feePayer: string; authority: string } => {
  if (signers.length !== SIGNERS)
    refuse('excessive_signers', `the transaction has ${signers.length} signers instead of ${SIGNERS}`);
  const [feePayer, authority] = signers as [string, string];
  if (!network.feePayers.includes(feePayer))
    refuse('fee_payer_not_managed_by_facilitator', 'the first signer is not a fee payer of this deployment');
  if (!mayPay(authority, network, isOutgoing))
    refuse('transaction_fee_payer_transferring_funds', 'the payment is signed by an address of the platform');
  // The first slot is ours: whatever it holds is replaced.
  if (!verifyBytes(message, signatures[1]!, publicKeyFromRaw(bs58.decode(authority))))
    refuse('signature_invalid', 'the buyer’s signature does not match the message');
  return { feePayer, authority };
};

const readKnown = (instruction: PlainMessage['instructions'][number]): KnownInstruction => {
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

type Transfer = Extract<KnownInstruction, { name: 'transferChecked' }>;
type Parts = { transfers: Transfer[]; memos: string[] };

/** A byte order mark is part of the memo. */
const MEMO_TEXT = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const readMemo = (data: Uint8Array, accounts: number): string => {
  if (accounts > 0) refuse('unknown_instruction', 'a memo names accounts');
  if (data.length > MAX_MEMO_BYTES) refuse('memo_mismatch', `a memo is longer than ${MAX_MEMO_BYTES} bytes`);
  try {
    return MEMO_TEXT.decode(data);
  } catch {
    return refuse('memo_mismatch', 'a memo is not UTF-8');
  }
};

/**
 * A fifth account makes the transaction one that a search by this account finds. Only our own
 * transactions may name a reference.
 */
const withoutReference = (transfer: Transfer): Transfer =>
  transfer.reference === null
    ? transfer
    : refuse('unknown_instruction', 'a transfer names a fifth account, as a reference');

/** Sorts the instructions after the budget. Anything but transfers and memos is refused. */
const readParts = ({ instructions }: PlainMessage): Parts => {
  const parts: Parts = { transfers: [], memos: [] };
  for (const instruction of instructions.slice(BUDGET_INSTRUCTIONS)) {
    const { program, data, accounts } = instruction;
    if (program === PROGRAMS.memo) {
      parts.memos.push(readMemo(data, accounts.length));
      continue;
    }
    if (program === PROGRAMS.token2022)
      refuse('no_transfer_instruction', 'a transfer is of Token-2022, and the mint is of the Token program');
    const known = readKnown(instruction);
    if (known.name === 'transferChecked') parts.transfers.push(withoutReference(known));
    else refuse('unknown_instruction', `the instruction ${known.name} is not allowed here`);
  }
  return parts;
};

/** Checks the transfers against the legs, in their order. Returns the source. */
const checkTransfers = (
  transfers: readonly Transfer[],
  { legs }: IncomingTerms,
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

const checkMemos = (found: readonly string[], { memos }: IncomingTerms): void => {
  if (memos === null) {
    if (found.length > 1) refuse('memo_count', 'more than one memo');
    return;
  }
  if (found.length !== memos.length) refuse('memo_count', `${found.length} memos instead of ${memos.length}`);
  if (found.some((memo, index) => memo !== memos[index])) refuse('memo_mismatch', 'another memo');
};

/** The message names the accounts that its transfers need, and no other. */
const checkAccounts = (
  { accounts, writable, instructions }: PlainMessage,
  { mint, authority, changing }: { mint: string; authority: string; changing: readonly string[] },
): void => {
  if (writable.some((key) => !changing.includes(key)))
    refuse('unknown_instruction', 'another account is writable');
  const named = new Set([mint, authority, ...changing, ...instructions.map(({ program }) => program)]);
  if (accounts.some((key) => !named.has(key)))
    refuse('unknown_instruction', 'the message names an account that no transfer needs');
};

/**
 * Checks wire bytes against an order.
 * @param wire a signed transaction whose first signature, the fee payer's, is ignored
 * @param isOutgoing whether an outgoing payment of this deployment has exactly this message
 * @throws PaymentRefusal unless the bytes are on the allow-list and do exactly what the order says
 */
export const checkIncomingPolicy = (
  wire: Uint8Array,
  order: IncomingTerms,
  network: Network,
  isOutgoing = false,
): IncomingTransfer => {
  const { signatures, message, plain } = decode(wire);
  const { feePayer, authority } = checkSigners(plain, { signatures, message }, { network, isOutgoing });
  if (plain.instructions.some(({ accounts }) => accounts.some(({ address }) => address === feePayer)))
    refuse('transaction_fee_payer_transferring_funds', 'an instruction names the fee payer');
  if (plain.instructions.length > MAX_INSTRUCTIONS)
    refuse('transaction_instructions_length', `more than ${MAX_INSTRUCTIONS} instructions`);
  const priorityFeeLamports = checkBudget(readBudget(plain));
  const { transfers, memos } = readParts(plain);
  const source = checkTransfers(transfers, order, { authority, network });
  checkMemos(memos, order);
  const changing = [feePayer, source, ...order.legs.map(({ destination }) => destination)];
  checkAccounts(plain, { mint: network.mint, authority, changing });
  return { feePayer, authority, source, message, signature: signatures[1]!, priorityFeeLamports };
};
