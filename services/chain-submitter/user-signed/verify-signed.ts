import bs58 from 'bs58';
import { invalid, ServiceError } from '../../../shared/contract/errors.ts';
import { publicKeyFromRaw, verifyBytes } from '../../../shared/lib/chain/ed25519.ts';
import { disassemble } from '../../../shared/lib/chain/wire-transaction.ts';
import { PROGRAMS } from '../chain/addresses.ts';
import { isGuard, MAX_GUARDS } from '../transactions/guards.ts';
import { decodeMessage, type PlainInstruction } from '../transactions/message.ts';

const refuse = (message: string): never => {
  throw invalid('transaction', message, { money_moved: 'no' });
};

const same = (a: PlainInstruction, b: PlainInstruction): boolean =>
  a.program === b.program &&
  Buffer.from(a.data).equals(b.data) &&
  a.accounts.length === b.accounts.length &&
  a.accounts.every((account, index) => {
    const other = b.accounts[index]!;
    return (
      account.address === other.address &&
      account.signer === other.signer &&
      account.writable === other.writable
    );
  });

/**
 * Checks that a message is the prepared one plus guard instructions: no new signer, no new account
 * but the guard program, no newly writable account, the prepared instructions identical and in
 * order (docs/spec/decisions.md, Prepare and submit).
 */
const checkGuarded = (prepared: Uint8Array, signed: Uint8Array) => {
  const [ours, theirs] = [decodeMessage(prepared), decodeMessage(signed)];
  if (ours.signers.join() !== theirs.signers.join()) refuse('the signers were changed');
  if (ours.blockhash !== theirs.blockhash)
    refuse('the blockhash is not that of the newest prepared transaction');
  if (!theirs.writable.every((key) => ours.writable.includes(key))) refuse('a writable account was added');
  const guards = theirs.instructions.filter(isGuard);
  if (guards.length > MAX_GUARDS) refuse(`more than ${MAX_GUARDS} guard instructions`);
  // A search by an account finds all transactions that name it, and the owner could name the
  // reference of a quote.
  const known = new Set([...ours.accounts, PROGRAMS.lighthouse]);
  if (theirs.accounts.some((key) => !known.has(key))) refuse('an account was added');
  // The fee payer signs the message, so its signature would authorise any instruction that names
  // it.
  const feePayer = ours.signers[0];
  if (guards.some(({ accounts }) => accounts.some(({ address }) => address === feePayer)))
    refuse('a guard instruction names the fee payer');
  const rest = theirs.instructions.filter((instruction) => !isGuard(instruction));
  const identical =
    rest.length === ours.instructions.length &&
    rest.every((instruction, index) => same(instruction, ours.instructions[index]!));
  if (!identical) refuse('the instructions were changed');
};

/**
 * Checks the bytes that a wallet returned against the prepared message. Nothing is signed here.
 * @param owner whose signature must be present and valid. The fee payer's slot must be empty
 * @returns the message to co-sign and the owner's signature over it
 * @throws ServiceError validation_error
 */
export const verifySigned = (
  prepared: Uint8Array,
  wire: Uint8Array,
  owner: string,
): { message: Uint8Array; signature: Uint8Array } => {
  try {
    const { signatures, message } = disassemble(wire);
    if (!Buffer.from(message).equals(prepared)) checkGuarded(prepared, message);
    const { signers } = decodeMessage(message);
    const signature = signatures[signers.indexOf(owner)] ?? refuse('the owner is no signer');
    const key = publicKeyFromRaw(bs58.decode(owner));
    if (!verifyBytes(message, signature, key)) refuse('the owner’s signature is missing or invalid');
    const others = signatures.filter((_, index) => signers[index] !== owner);
    if (others.some((bytes) => bytes.some((byte) => byte !== 0)))
      refuse('a signature that was not requested');
    return { message, signature };
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    return refuse('not a wire transaction that was prepared here');
  }
};
