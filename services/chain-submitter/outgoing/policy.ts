import { isReserved, ownerKind, PROGRAMS } from '../chain/addresses.ts';
import { type Network, platformAddresses } from '../ledger/model/network.ts';
import { type KnownInstruction, readInstruction } from '../transactions/decode.ts';
import { USDC_DECIMALS } from '../transactions/instructions/shared.ts';
import { decodeAnyMessage, type PlainInstruction } from '../transactions/message.ts';
import { PolicyError } from '../transactions/policy.ts';
import { refuse } from './refusal.ts';
import type { OutgoingLeg, OutgoingTerms } from './terms.ts';

/**
 * The policy for payments to vendors that do not use Quittance (docs/design/interop.md, section 6).
 * The vendor names the payee and the fee payer, so both are checked before anything is built. The
 * built bytes are checked by code that no builder shares.
 */

const checkPayee = (payTo: string, owner: string, platform: readonly string[]): void => {
  if (payTo === owner) refuse('payee_not_allowed', 'the payee is the wallet that pays');
  if (platform.includes(payTo)) refuse('payee_not_allowed', 'the payee is an address of the platform');
  if (isReserved(payTo) || ownerKind(payTo) === 'nobody')
    refuse('payee_not_allowed', 'the payee is an address without a key holder');
};

/**
 * Checks the addresses of a payment.
 * @throws PaymentRefusal
 */
export const checkParties = (
  { owner, authority, feePayer, source, legs }: OutgoingTerms,
  network: Network,
): void => {
  const platform = platformAddresses(network);
  if (!network.delegateAuthorities.includes(authority))
    refuse('delegation_inactive', 'the delegate authority was retired; approve again');
  if (platform.includes(owner))
    refuse('delegation_inactive', 'the wallet that pays is an address of the platform');
  for (const { payTo } of legs) checkPayee(payTo, owner, platform);
  if ([owner, source, authority, ...legs.map(({ destination }) => destination)].includes(feePayer))
    refuse('fee_payer_not_allowed', 'the fee payer takes part in the transfer');
  // The fee payers of this deployment co-sign payments of other clients, and so of its own buyers.
  if (platform.includes(feePayer) && !network.feePayers.includes(feePayer))
    refuse('fee_payer_not_allowed', 'the fee payer is an address of the platform');
  // Anybody could sign for a key of small order, and nobody for an address without a key.
  if (isReserved(feePayer) || ownerKind(feePayer) !== 'key')
    refuse('fee_payer_not_allowed', 'the fee payer is an address without a key holder');
};

/** The most that vendors of MPP accept, for nine transfers with memos. x402 has one transfer. */
const MAX_COMPUTE_UNITS = 200_000;
const MICRO_LAMPORTS = 1n;
const VERSION_0 = 0x80;

const require = (met: boolean, what: string): void => {
  if (!met) throw new PolicyError(what);
};

const read = <N extends KnownInstruction['name']>(instruction: PlainInstruction | undefined, name: N) => {
  const known = instruction === undefined ? null : readInstruction(instruction);
  if (known?.name !== name) throw new PolicyError(`expected ${name}`);
  return known as Extract<KnownInstruction, { name: N }>;
};

const checkTransfer = (
  instruction: PlainInstruction | undefined,
  { terms, leg, mint }: { terms: OutgoingTerms; leg: OutgoingLeg; mint: string },
): void => {
  const transfer = read(instruction, 'transferChecked');
  require(transfer.mint === mint && transfer.decimals === USDC_DECIMALS, 'another mint');
  require(transfer.source === terms.source, 'another source');
  require(transfer.destination === leg.destination, 'another destination');
  require(transfer.authority === terms.authority, 'another authority');
  require(transfer.amountMicro === leg.amountMicro, 'another amount');
  require(transfer.reference === null, 'the transfer has a reference');
};

const checkMemo = (instruction: PlainInstruction | undefined, memo: string): void => {
  require(instruction?.program === PROGRAMS.memo, 'expected a memo');
  require(instruction?.accounts.length === 0, 'the memo names accounts');
  require(Buffer.from(instruction?.data ?? []).equals(Buffer.from(memo, 'utf8')), 'another memo');
};

const check = (bytes: Uint8Array, terms: OutgoingTerms, mint: string): void => {
  const { feePayer, authority, source, legs, units } = terms;
  require(bytes[0] === VERSION_0, 'not a message of version 0');
  const { signers, writable, instructions } = decodeAnyMessage(bytes);
  require(signers.join() === [feePayer, authority].join(), 'other signers');
  const [limit, price, ...parts] = instructions;
  const found = read(limit, 'computeUnitLimit').units;
  require(found === units && found <= MAX_COMPUTE_UNITS, 'another compute unit limit');
  const { microLamports } = read(price, 'computeUnitPrice');
  require(microLamports === MICRO_LAMPORTS, 'another compute unit price');
  for (const leg of legs) {
    checkTransfer(parts.shift(), { terms, leg, mint });
    if (leg.memo !== null) checkMemo(parts.shift(), leg.memo);
  }
  require(parts.length === 0, 'another number of instructions');
  const named = instructions.flatMap(({ accounts }) => accounts.map(({ address }) => address));
  require(!named.includes(feePayer), 'an instruction names the fee payer');
  const changing = [feePayer, source, ...legs.map(({ destination }) => destination)];
  require(writable.every((key) => changing.includes(key)), 'another account is writable');
};

/**
 * Checks message bytes against the terms of a payment.
 * @throws PolicyError unless they have exactly the terms' signers, instructions, accounts and
 *   amount
 */
export const checkOutgoingPolicy = (bytes: Uint8Array, terms: OutgoingTerms, mint: string): void => {
  try {
    check(bytes, terms, mint);
  } catch (error) {
    throw error instanceof PolicyError ? error : new PolicyError((error as Error).message);
  }
};
