import { createTransferCheckedInstruction } from '@solana/spl-token';
import {
  ComputeBudgetProgram,
  type Keypair,
  PublicKey,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import type { PaymentRequirements } from '@x402/core/types';
import { PROGRAMS } from '../../../services/chain-submitter/chain/addresses.ts';
import { challengeOf, fromBase64, paymentOn } from '../../support/foreign-buyers.ts';
import { createX402Buyer } from '../../support/x402.ts';
import type { Harness } from '../harness.ts';

/** What a client has signed for the offer of a 402, and the headers that present it. */
type Signed = { transaction: string; amount: bigint; headers: Record<string, string> };
export type Sign = (offer: Headers) => Promise<Signed>;

/** The unmodified scheme of @x402/svm. */
export const createX402Signer = async (wallet: Keypair, rpcUrl: string): Promise<Sign> => {
  const buyer = await createX402Buyer(wallet, rpcUrl);
  return async (offer) => {
    const requirements = fromBase64(offer.get('payment-required')).accepts[0] as PaymentRequirements;
    const { payload } = await buyer(requirements);
    const transaction = String(payload.transaction);
    return {
      transaction,
      amount: BigInt(requirements.amount),
      headers: paymentOn.x402(offer, transaction),
    };
  };
};

type Charge = {
  amount: string;
  recipient: string;
  externalId: string;
  methodDetails: { feePayerKey: string; splits?: { recipient: string; amount: string }[] };
};

/** The transaction of @solana/mpp: transfers to the recipient and for each split, and the memo. */
export const createMppSigner =
  (wallet: Keypair, { chain, rpc }: Pick<Harness, 'chain' | 'rpc'>): Sign =>
  async (offer) => {
    const { request } = challengeOf(offer);
    const { amount, recipient, externalId, methodDetails } = JSON.parse(
      Buffer.from(request!, 'base64url').toString(),
    ) as Charge;
    const { feePayerKey, splits = [] } = methodDetails;
    const rest = splits.reduce((left, split) => left - BigInt(split.amount), BigInt(amount));
    const legs = [{ recipient, amount: `${rest}` }, ...splits];
    const latest = await rpc<{ value: { blockhash: string } }>('getLatestBlockhash', {
      commitment: 'confirmed',
    });
    const source = chain.tokenAccount(wallet.publicKey);
    const transaction = new VersionedTransaction(
      new TransactionMessage({
        payerKey: new PublicKey(feePayerKey),
        recentBlockhash: latest.value.blockhash,
        instructions: [
          ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1 }),
          ComputeBudgetProgram.setComputeUnitLimit({ units: 50_000 }),
          ...legs.map((leg) =>
            createTransferCheckedInstruction(
              source,
              chain.mint,
              chain.tokenAccount(leg.recipient),
              wallet.publicKey,
              BigInt(leg.amount),
              6,
            ),
          ),
          new TransactionInstruction({
            programId: new PublicKey(PROGRAMS.memo),
            keys: [],
            data: Buffer.from(externalId),
          }),
        ],
      }).compileToV0Message(),
    );
    transaction.sign([wallet]);
    const wire = Buffer.from(transaction.serialize()).toString('base64');
    return { transaction: wire, amount: BigInt(amount), headers: paymentOn.mpp(offer, wire) };
  };
