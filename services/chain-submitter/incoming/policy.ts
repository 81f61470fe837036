import { PROGRAMS } from '../chain/addresses.ts';
import { type Network, platformAddresses } from '../ledger/model/network.ts';
import type { KnownInstruction } from '../transactions/decode.ts';
import { isGuard, wrongWithGuards } from '../transactions/guards.ts';
import { USDC_DECIMALS } from '../transactions/instructions/shared.ts';
import type { PlainInstruction, PlainMessage } from '../transactions/message.ts';
import {
  BUDGET_INSTRUCTIONS,
  checkEnvelope,
  checkMemos,
  type Decoded,
  readKnown,
  readMemo,
} from './envelope.ts';
import { refuse } from './refusal.ts';

/**
 * The policy for transactions that a buyer's client of x402 or MPP has built and signed
 * (docs/design/interop.md, section 3). Our fee payer co-signs only bytes on this allow-list, or
 * what passes incoming/wallet-policy.ts. They are decoded by code that no builder shares.
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
/** Ids of the wallet programs of this deployment (INCOMING_PROGRAMS). */
export type AllowedPrograms = ReadonlySet<string>;
const NO_PROGRAMS: AllowedPrograms = new Set();
/** A transaction that satisfies its order. */
export type IncomingTransfer = {
  feePayer: string;
  /** The owner or delegate who signed for the source. */
  authority: string;
  source: string;
  message: Uint8Array;
  /** The authority's signature over the message. Null: it signs last. */
  signature: Uint8Array | null;
  /** Lamports above the signature fees. */
  priorityFeeLamports: bigint;
};

type Transfer = Extract<KnownInstruction, { name: 'transferChecked' }>;
type Parts = { transfers: Transfer[]; memos: string[]; guards: PlainInstruction[] };

/**
 * A fifth account makes the transaction one that a search by this account finds. Only our own
 * transactions may name a reference.
 */
const withoutReference = (transfer: Transfer): Transfer =>
  transfer.reference === null
    ? transfer
    : refuse('unknown_instruction', 'a transfer names a fifth account, as a reference');

/** Sorts the instructions after the budget. Anything but transfers, memos and guards is refused. */
const readParts = ({ instructions }: PlainMessage, programs: AllowedPrograms): Parts => {
  const parts: Parts = { transfers: [], memos: [], guards: [] };
  for (const instruction of instructions.slice(BUDGET_INSTRUCTIONS)) {
    const { program } = instruction;
    if (program === PROGRAMS.memo) {
      parts.memos.push(readMemo(instruction));
      continue;
    }
    if (isGuard(instruction) && programs.has(program)) {
      parts.guards.push(instruction);
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

/** @throws PaymentRefusal unless guards only assert something of the buyer's accounts */
export const checkGuards = (guards: readonly PlainInstruction[], own: readonly string[]): void => {
  const wrong = wrongWithGuards(guards, own);
  if (wrong !== null) refuse('unknown_instruction', wrong);
};

/**
 * Checks a transaction against an order. Its first signature, the fee payer's, is ignored.
 * @param isOutgoing whether an outgoing payment of this deployment has exactly this message
 * @param programs of wallets that it may use
 * @param signsLast whether the buyer signs after our fee payer
 * @throws PaymentRefusal unless the bytes are on the allow-list and do exactly what the order says
 */
export const checkIncomingPolicy = (
  decoded: Decoded,
  order: IncomingTerms,
  {
    network,
    isOutgoing = false,
    programs = NO_PROGRAMS,
    signsLast = false,
  }: { network: Network; isOutgoing?: boolean; programs?: AllowedPrograms; signsLast?: boolean },
): IncomingTransfer => {
  const { plain } = decoded;
  const { signer: authority, ...envelope } = checkEnvelope(decoded, { network, isOutgoing, signsLast });
  const { transfers, memos, guards } = readParts(plain, programs);
  const source = checkTransfers(transfers, order, { authority, network });
  checkMemos(memos, order.memos);
  checkGuards(guards, [authority, source]);
  const changing = [envelope.feePayer, source, ...order.legs.map(({ destination }) => destination)];
  checkAccounts(plain, { mint: network.mint, authority, changing });
  return { ...envelope, authority, source };
};
