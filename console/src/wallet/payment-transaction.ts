import {
  type AccountRole,
  address,
  appendTransactionMessageInstructions,
  type Blockhash,
  compileTransaction,
  createNoopSigner,
  createTransactionMessage,
  getBase64EncodedWireTransaction,
  type Instruction,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit';
import {
  findAssociatedTokenPda,
  getTransferCheckedInstruction,
  TOKEN_PROGRAM_ADDRESS,
} from '@solana-program/token';

/** The transaction of a payment that a wallet of this browser signs. This page builds it. */
export type Payment = {
  payer: string;
  payee: string;
  mint: string;
  amountMicro: bigint;
  memo: string;
  feePayer: string;
  blockhash: string;
};

const COMPUTE_BUDGET = address('ComputeBudget111111111111111111111111111111');
const MEMO = address('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');
/** A transfer takes up to 6,200 units, the longest memo 27,000, and a wallet's guards some more. */
const COMPUTE_UNITS = 60_000;

const budgetOf = (kind: number, value: bigint, bytes: number): Instruction => {
  const data = new Uint8Array(1 + bytes);
  data[0] = kind;
  for (let at = 0; at < bytes; at += 1) data[1 + at] = Number((value >> BigInt(8 * at)) & 0xffn);
  return { programAddress: COMPUTE_BUDGET, data };
};

const tokenAccountOf = async (owner: string, mint: string) =>
  (
    await findAssociatedTokenPda({
      owner: address(owner),
      mint: address(mint),
      tokenProgram: TOKEN_PROGRAM_ADDRESS,
    })
  )[0];

/** The unsigned transaction, base64: exactly one transfer, for which the platform pays the fee. */
export const buildPayment = async ({ payer, payee, mint, amountMicro, ...of }: Payment): Promise<string> => {
  const [source, destination] = await Promise.all([tokenAccountOf(payer, mint), tokenAccountOf(payee, mint)]);
  const transfer = getTransferCheckedInstruction({
    source,
    mint: address(mint),
    destination,
    authority: createNoopSigner(address(payer)),
    amount: amountMicro,
    decimals: 6,
  });
  const accounts = transfer.accounts.map(({ address: at, role }) => ({
    address: at,
    role: role as AccountRole,
  }));
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (empty) => setTransactionMessageFeePayer(address(of.feePayer), empty),
    (paid) =>
      setTransactionMessageLifetimeUsingBlockhash(
        { blockhash: of.blockhash as Blockhash, lastValidBlockHeight: 0n },
        paid,
      ),
    (dated) =>
      appendTransactionMessageInstructions(
        [
          budgetOf(2, BigInt(COMPUTE_UNITS), 4),
          budgetOf(3, 1n, 8),
          { programAddress: transfer.programAddress, accounts, data: transfer.data },
          { programAddress: MEMO, data: new TextEncoder().encode(of.memo) },
        ],
        dated,
      ),
  );
  return getBase64EncodedWireTransaction(compileTransaction(message));
};
