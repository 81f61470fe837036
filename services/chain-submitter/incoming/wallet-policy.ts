import { PROGRAMS } from '../chain/addresses.ts';
import type { Changes, TokenChange } from '../chain/simulated-outcome.ts';
import { type Network, platformAddresses } from '../ledger/model/network.ts';
import { WALLET_PROGRAMS } from '../ledger/model/programs.ts';
import { incomingFeeLamports } from '../limits/lamports.ts';
import { isGuard } from '../transactions/guards.ts';
import type { PlainInstruction, PlainMessage } from '../transactions/message.ts';
import {
  BUDGET_INSTRUCTIONS,
  checkEnvelope,
  checkMemos,
  type Decoded,
  type Envelope,
  readMemo,
} from './envelope.ts';
import { type AllowedPrograms, checkGuards, type IncomingTerms, type IncomingTransfer } from './policy.ts';
import { refuse } from './refusal.ts';

/**
 * The policy for payments of smart wallets, whose program makes the transfers. The bytes do not
 * show them, so the payment is judged in two steps:
 *
 * 1. By its bytes: what may never happen. No program gets an account of the platform, so none can
 *    use our signature or move what is ours.
 * 2. By a simulation at every provider: the balances of exactly these token accounts change by
 *    exactly these amounts. The programs that run are listed, and do what the bytes say.
 *
 * After its inclusion the same changes are required again (broadcast/agreement.ts).
 */

/** A payment of a smart wallet after step 1. */
export type WalletPayment = Envelope & {
  /** Every account of the message, in its order. */
  accounts: readonly string[];
  /** Those whose owners step 2 needs. */
  unknown: readonly string[];
  guards: readonly PlainInstruction[];
};

const SMART_WALLETS = new Set<string>([...WALLET_PROGRAMS.squads, ...WALLET_PROGRAMS.swig]);
const SYSVARS = 'Sysvar1111111111111111111111111111111111111';
/** What the program of a smart wallet may call. All other programs are refused. */
const CALLED = new Set<string>([
  PROGRAMS.system,
  PROGRAMS.token,
  PROGRAMS.tokenAccount,
  PROGRAMS.memo,
  PROGRAMS.computeBudget,
]);

/** Whether the program of a smart wallet that is allowed here makes the transfers. */
export const isOfSmartWallet = ({ instructions }: PlainMessage, programs: AllowedPrograms): boolean =>
  instructions.some(({ program }) => SMART_WALLETS.has(program) && programs.has(program));

/**
 * Whether a program gets Lighthouse, and so can call guards that are in no instruction. Nobody
 * could check of which accounts, or of what time, they assert something.
 */
const callsGuards = ({ accounts }: PlainInstruction): boolean =>
  accounts.some(({ address }) => address === PROGRAMS.lighthouse);

/**
 * Step 1: what the bytes say.
 * @throws PaymentRefusal
 */
export const checkWalletBytes = (
  decoded: Decoded,
  order: IncomingTerms,
  { network, programs }: { network: Network; programs: AllowedPrograms },
): WalletPayment => {
  const { instructions, accounts } = decoded.plain;
  const envelope = checkEnvelope(decoded, { network });
  const [memos, guards]: [string[], PlainInstruction[]] = [[], []];
  for (const instruction of instructions.slice(BUDGET_INSTRUCTIONS)) {
    const { program } = instruction;
    if (program === PROGRAMS.memo) memos.push(readMemo(instruction));
    else if (!programs.has(program))
      refuse('unknown_instruction', 'an instruction beside that of the smart wallet');
    else if (isGuard(instruction)) guards.push(instruction);
    else if (callsGuards(instruction))
      refuse('unknown_instruction', 'a guard that the program of a smart wallet calls');
  }
  checkMemos(memos, order.memos);
  const destinations = order.legs.map(({ destination }) => destination);
  const ours = platformAddresses(network).filter((key) => !destinations.includes(key));
  if (accounts.some((key) => key !== envelope.feePayer && ours.includes(key)))
    refuse('transaction_fee_payer_transferring_funds', 'the message names an account of the platform');
  const known = new Set([envelope.feePayer, envelope.signer, network.mint, ...destinations, ...CALLED]);
  const unknown = accounts.filter((key) => !known.has(key) && !programs.has(key));
  return { ...envelope, accounts, unknown, guards };
};

const sumOf = ({ legs }: IncomingTerms): bigint =>
  legs.reduce((sum, { amountMicro }) => sum + amountMicro, 0n);

/** The account that pays everything. No other balance changes but those of the payees. */
const payerOf = (
  changes: readonly (TokenChange & { address: string })[],
  order: IncomingTerms,
  mint: string,
) => {
  const expected = new Map<string, bigint>();
  for (const { destination, amountMicro } of order.legs)
    expected.set(destination, (expected.get(destination) ?? 0n) + amountMicro);
  if (changes.some((change) => change.mint !== mint || change.program !== PROGRAMS.token))
    refuse('mint_mismatch', 'the balance of another token changes');
  for (const [address, amountMicro] of expected) {
    const { deltaMicro = 0n } = changes.find((change) => change.address === address) ?? {};
    if (deltaMicro !== amountMicro) refuse('amount_mismatch', 'a payee does not get exactly its amount');
  }
  const [payer, ...others] = changes.filter(({ address }) => !expected.has(address));
  if (payer === undefined || others.length > 0 || payer.deltaMicro !== -sumOf(order))
    return refuse('amount_mismatch', 'another balance changes than those of one source and the payees');
  return payer;
};

/**
 * Step 2: what a simulation says.
 * @throws PaymentRefusal unless exactly the transfers of the order happen
 */
export const checkWalletChanges = (
  payment: WalletPayment,
  changes: Changes,
  order: IncomingTerms,
  { network, programs }: { network: Network; programs: AllowedPrograms },
): IncomingTransfer => {
  const { accounts, unknown, guards, signer, ...envelope } = payment;
  const tokens = changes.tokens.map((change) => ({ ...change, address: accounts[change.account] ?? '' }));
  const { address: source, owner } = payerOf(tokens, order, network.mint);
  const ours = platformAddresses(network);
  if (owner === null || ours.includes(source) || ours.includes(owner))
    return refuse('transaction_fee_payer_transferring_funds', 'a transfer from an account of the platform');
  if (changes.feePayerLamports > incomingFeeLamports(payment.priorityFeeLamports))
    refuse('transaction_fee_payer_transferring_funds', 'the fee payer pays more than the fee');
  for (const [index, key] of unknown.entries()) {
    if (key === source || key === owner) continue;
    const account = changes.accounts[index] ?? null;
    // An address that nobody holds may be the reference of a quote, under which a search would find
    // the transaction. No program can own it.
    if (account === null || account.executable || !(programs.has(account.owner) || account.owner === SYSVARS))
      refuse('unknown_instruction', `the message names ${key}, which no transfer and no wallet needs`);
  }
  checkGuards(guards, [signer, source, owner]);
  return { ...envelope, authority: owner, source };
};
