import {
  type Address,
  address,
  getBase64Decoder,
  getBase64Encoder,
  getCompiledTransactionMessageDecoder,
  getCompiledTransactionMessageEncoder,
  getTransactionDecoder,
  getTransactionEncoder,
  type SignatureBytes,
  type Transaction,
} from '@solana/kit';
import {
  ASSOCIATED_TOKEN_PROGRAM_ADDRESS,
  findAssociatedTokenPda,
  identifyTokenInstruction,
  parseApproveCheckedInstruction,
  parseCreateAssociatedTokenIdempotentInstruction,
  parseRevokeInstruction,
  parseTransferCheckedInstruction,
  TOKEN_PROGRAM_ADDRESS,
  TokenInstruction,
} from '@solana-program/token';

/**
 * Reads a transaction before it is signed. It contains exactly what was requested, or it is refused
 * (ADR 32).
 */

/** What a page requests. Amounts are micro-units. A destination is a wallet or a token account. */
export type Wanted =
  | { kind: 'approve'; allowance: bigint }
  | { kind: 'revoke' }
  | { kind: 'transfer'; amount: bigint; destination: string };
/**
 * The signer and the token. The mint comes from the environment's configuration. The token account
 * is derived from both and never taken from an answer.
 */
export type Owner = { address: string; mint: string };
/** An owner with the derived token account. */
type Holder = Owner & { tokenAccount: string };

/** What was read from the bytes, to be shown to the user. */
export type Deed = (
  | { kind: 'approve'; allowance: bigint; delegate: string }
  | { kind: 'revoke' }
  | { kind: 'transfer'; amount: bigint; destination: string; tokenAccount: string }
) & {
  /** True if it creates the token account first, at the platform's cost. */
  creates: boolean;
};

/** The transaction does not do what was requested. The message is for the user. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
  constructor(why: string) {
    super(`This is not the transaction you asked for: ${why}.`);
  }
}
const refuse = (why: string): never => {
  throw new RefusedError(why);
};

const USDC_DECIMALS = 6;
const same = (a: ArrayLike<number>, b: ArrayLike<number>) =>
  a.length === b.length && Array.from(a).every((byte, at) => byte === b[at]);

type Instruction = {
  programAddress: Address;
  accounts: { address: Address; role: number }[];
  data: Uint8Array;
};
type Opened = { transaction: Transaction; feePayer: Address; instructions: Instruction[] };

/** Decodes a base64 transaction that has the one form that the service prepares. */
const opened = (wire: string, owner: Owner): Opened => {
  const bytes = getBase64Encoder().encode(wire);
  const transaction = getTransactionDecoder().decode(bytes);
  if (!same(getTransactionEncoder().encode(transaction), bytes)) refuse('it has extra bytes');
  const message = getCompiledTransactionMessageDecoder().decode(transaction.messageBytes);
  if (message.version !== 'legacy') return refuse('its version is not supported');
  if (!same(getCompiledTransactionMessageEncoder().encode(message), transaction.messageBytes))
    refuse('its message has extra bytes');
  const accounts = message.staticAccounts;
  const [feePayer, signer] = accounts;
  if (message.header.numSignerAccounts !== 2 || signer !== owner.address || feePayer === undefined)
    return refuse('it needs signatures of other wallets');
  if (Object.values(transaction.signatures).some((signature) => signature !== null))
    refuse('it is already signed by somebody');
  const at = (index: number): Address => accounts[index] ?? refuse('it refers to a missing account');
  return {
    transaction,
    feePayer,
    instructions: message.instructions.map(({ programAddressIndex, accountIndices, data }) => ({
      programAddress: at(programAddressIndex),
      accounts: (accountIndices ?? []).map((index) => ({ address: at(index), role: 0 })),
      data: new Uint8Array(data ?? []),
    })),
  };
};

const tokenAccountOf = async (owner: string, mint: string): Promise<string> => {
  const seeds = { owner: address(owner), mint: address(mint), tokenProgram: TOKEN_PROGRAM_ADDRESS };
  return (await findAssociatedTokenPda(seeds))[0];
};

/** Finds the one instruction of the token program, and whose token account may be created. */
const deedOf = async (
  instruction: Instruction,
  wanted: Wanted,
  owner: Holder,
): Promise<{ deed: Deed; createFor: string; createAt: string }> => {
  const ours = (source: Address, signer: Address) => {
    if (source !== owner.tokenAccount) refuse('it uses another token account');
    if (signer !== owner.address) refuse('it acts for another wallet');
  };
  const usdc = (mint: Address, decimals: number) => {
    if (decimals !== USDC_DECIMALS || mint !== owner.mint) refuse('it uses another token');
  };
  const own = { createFor: owner.address, createAt: owner.tokenAccount };
  switch (identifyTokenInstruction(instruction)) {
    case TokenInstruction.ApproveChecked: {
      const { accounts, data } = parseApproveCheckedInstruction(instruction);
      if (wanted.kind !== 'approve') return refuse('it allows spending');
      usdc(accounts.mint.address, data.decimals);
      ours(accounts.source.address, accounts.owner.address);
      if (data.amount !== wanted.allowance) refuse('the spending limit differs');
      if (accounts.delegate.address === owner.address) refuse('it lets the wallet itself spend');
      const deed: Deed = {
        kind: 'approve',
        allowance: data.amount,
        delegate: accounts.delegate.address,
        creates: false,
      };
      return { deed, ...own };
    }
    case TokenInstruction.Revoke: {
      const { accounts } = parseRevokeInstruction(instruction);
      if (wanted.kind !== 'revoke') return refuse('it revokes the spending limit');
      ours(accounts.source.address, accounts.owner.address);
      return { deed: { kind: 'revoke', creates: false }, ...own };
    }
    case TokenInstruction.TransferChecked: {
      const { accounts, data } = parseTransferCheckedInstruction(instruction);
      if (wanted.kind !== 'transfer') return refuse('it moves money');
      usdc(accounts.mint.address, data.decimals);
      ours(accounts.source.address, accounts.authority.address);
      if (data.amount !== wanted.amount) refuse('the amount differs');
      const to = accounts.destination.address;
      if (to !== wanted.destination && to !== (await tokenAccountOf(wanted.destination, owner.mint)))
        refuse('the destination differs');
      const deed: Deed = {
        kind: 'transfer',
        amount: data.amount,
        destination: wanted.destination,
        tokenAccount: to,
        creates: false,
      };
      return { deed, createFor: wanted.destination, createAt: to };
    }
    default:
      return refuse('it does something else with your tokens');
  }
};

/** The data lengths of the accepted instructions. Longer data would stay unread. */
const DATA_BYTES = { approve: 10, revoke: 1, transfer: 10 } as const;

/**
 * Reads a prepared transaction and compares it with the request: the action once, before it at most
 * the creation of the token account that it needs, paid by the platform, and no other program,
 * signer or account of the user.
 * @throws RefusedError with the difference
 */
export const readTransaction = async (
  wire: string,
  wanted: Wanted,
  owner: Owner,
): Promise<{ deed: Deed; transaction: Transaction }> => {
  try {
    return await read(wire, wanted, owner);
  } catch (error) {
    throw error instanceof RefusedError ? error : new RefusedError('it cannot be read');
  }
};

const read = async (
  wire: string,
  wanted: Wanted,
  owner: Owner,
): Promise<{ deed: Deed; transaction: Transaction }> => {
  const holder: Holder = { ...owner, tokenAccount: await tokenAccountOf(owner.address, owner.mint) };
  const { transaction, feePayer, instructions } = opened(wire, owner);
  const last = instructions.at(-1) ?? refuse('it does nothing');
  if (instructions.length > 2) refuse('it does more than that');
  if (last.programAddress !== TOKEN_PROGRAM_ADDRESS) refuse('it calls another program');
  const { deed, createFor, createAt } = await deedOf(last, wanted, holder);
  if (last.data.length !== DATA_BYTES[deed.kind]) refuse('it has extra bytes');
  if (instructions.length === 1) return { deed, transaction };
  const [first] = instructions as [Instruction];
  if (
    first.programAddress !== ASSOCIATED_TOKEN_PROGRAM_ADDRESS ||
    first.data.length !== 1 ||
    first.data[0] !== 1
  )
    refuse('it calls another program');
  const { accounts } = parseCreateAssociatedTokenIdempotentInstruction(first);
  if (
    deed.kind === 'revoke' ||
    accounts.payer.address !== feePayer ||
    accounts.owner.address !== createFor ||
    accounts.ata.address !== createAt ||
    accounts.mint.address !== owner.mint
  )
    refuse('it creates another account');
  return { deed: { ...deed, creates: true }, transaction };
};

/** The transaction with its owner's signature, in base64. */
export const withSignature = (transaction: Transaction, owner: Owner, signature: Uint8Array): string => {
  const signatures = { ...transaction.signatures, [owner.address]: signature as SignatureBytes };
  return getBase64Decoder().decode(getTransactionEncoder().encode({ ...transaction, signatures }));
};
