import {
  type AddressLookupTableAccount,
  ComputeBudgetProgram,
  Keypair,
  PublicKey,
  TransactionInstruction,
  TransactionMessage,
  type VersionedMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import { PROGRAMS, tokenAccountOf } from '../../services/chain-submitter/chain/addresses.ts';
import type { Network } from '../../services/chain-submitter/ledger/model/network.ts';
import { transferChecked } from '../../services/chain-submitter/transactions/instructions/transfer-checked.ts';

/** Messages as the clients of x402 and MPP build them, with invented addresses. */

export const [feePayerKey, buyer, stranger, oldFeePayerKey, delegateAuthority] = Array.from(
  { length: 5 },
  () => Keypair.generate(),
) as [Keypair, Keypair, Keypair, Keypair, Keypair];
const feeWallet = Keypair.generate();
export const address = (key: Keypair) => key.publicKey.toBase58();
const mint = address(Keypair.generate());
export const payTo = tokenAccountOf(address(Keypair.generate()), mint);
export const source = tokenAccountOf(address(buyer), mint);
export const other = address(stranger);
export const feeAccount = tokenAccountOf(address(feeWallet), mint);
const blockhash = address(Keypair.generate());
export const network: Network = {
  mint,
  feePayer: address(feePayerKey),
  payingFeePayers: [address(feePayerKey)],
  feePayers: [address(feePayerKey), address(oldFeePayerKey)],
  delegateAuthorities: [address(delegateAuthority)],
  fundingAuthority: null,
  feeWallet: address(feeWallet),
  feeAccount,
  computeBudget: null,
};
export const limit = (units = 20_000) => ComputeBudgetProgram.setComputeUnitLimit({ units });
export const price = (microLamports: number | bigint = 1) =>
  ComputeBudgetProgram.setComputeUnitPrice({ microLamports });
export const memo = (text: string | Buffer) =>
  new TransactionInstruction({ programId: new PublicKey(PROGRAMS.memo), keys: [], data: Buffer.from(text) });
type Transfer = Partial<Parameters<typeof transferChecked>[0]>;
export const pay = (change: Transfer = {}) =>
  transferChecked({
    source,
    mint,
    destination: payTo,
    authority: address(buyer),
    amountMicro: 50_000n,
    ...change,
  });
export const withData = (instruction: TransactionInstruction, change: (data: Buffer) => void) => {
  const data = Buffer.from(instruction.data);
  change(data);
  return new TransactionInstruction({ ...instruction, data });
};
export const withAccount = (
  instruction: TransactionInstruction,
  account: string,
  rights: { isSigner: boolean; isWritable: boolean } = { isSigner: false, isWritable: false },
) =>
  new TransactionInstruction({
    ...instruction,
    keys: [...instruction.keys, { pubkey: new PublicKey(account), ...rights }],
  });

/** A transfer by a multisig account, which the token program checks by its last accounts. */
export const multisig = () => {
  const { keys: accounts, ...rest } = pay({ authority: other });
  const unsigned = accounts.map((account) => ({ ...account, isSigner: false }));
  const owner = { pubkey: buyer.publicKey, isSigner: true, isWritable: false };
  return new TransactionInstruction({ ...rest, keys: [...unsigned, owner] });
};

type Build = {
  payer?: Keypair;
  signers?: Keypair[];
  version?: 0 | 'legacy';
  tables?: AddressLookupTableAccount[];
  /** An account of the message that no instruction names. It is only read. */
  unused?: string;
};
/** The accounts that are only read are the last ones of a message. */
export const addUnused = (
  { staticAccountKeys, header }: Pick<VersionedMessage, 'staticAccountKeys' | 'header'>,
  account: string,
): void => {
  staticAccountKeys.push(new PublicKey(account));
  header.numReadonlyUnsignedAccounts += 1;
};

/** Wire bytes that the buyer has signed. The fee payer's slot is empty. */
export const wire = (
  instructions: TransactionInstruction[],
  { payer = feePayerKey, signers = [buyer], version = 0, tables = [], unused }: Build = {},
): Uint8Array => {
  const message = new TransactionMessage({
    payerKey: payer.publicKey,
    recentBlockhash: blockhash,
    instructions,
  });
  const compiled = version === 0 ? message.compileToV0Message(tables) : message.compileToLegacyMessage();
  if (unused !== undefined) addUnused(compiled, unused);
  const transaction = new VersionedTransaction(compiled);
  transaction.sign(signers);
  return transaction.serialize();
};
