import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  createAssociatedTokenAccountIdempotentInstruction,
  createTransferCheckedInstruction,
  getAssociatedTokenAddressSync,
} from '@solana/spl-token';
import { type Connection, Keypair, PublicKey, Transaction } from '@solana/web3.js';
import bs58 from 'bs58';
import { connectTo } from '../processes/chain-connection.ts';
import type { Purchase, Purchases } from './purchases.ts';

const decimals = 6;
const pollMs = 100;

export type Treasury = {
  /**
   * Sends the purchased USDC once. It repeats the transfer until the transaction is confirmed and
   * returns the signature.
   */
  send: (purchase: Purchase) => Promise<string>;
};

/** Whether a signed transfer was included; null while it still can be. */
const outcomeOf = async (connection: Connection, { transfer }: Purchase): Promise<boolean | null> => {
  const { signature, lastValidBlockHeight } = transfer!;
  const height = await connection.getBlockHeight('finalized');
  const { value } = await connection.getSignatureStatuses([signature], { searchTransactionHistory: true });
  const status = value[0];
  if (status?.err) return false;
  if (status?.confirmationStatus === 'confirmed' || status?.confirmationStatus === 'finalized') return true;
  return height > lastValidBlockHeight && !status ? false : null;
};

/** The provider's USDC on the chain of this environment. */
export const openTreasury = (
  options: { rpcUrl: string; mint: string; secretKey: string },
  purchases: Purchases,
): Treasury => {
  const connection = connectTo(options.rpcUrl);
  const owner = Keypair.fromSecretKey(bs58.decode(options.secretKey));
  const mint = new PublicKey(options.mint);
  const source = getAssociatedTokenAddressSync(mint, owner.publicKey);

  const sign = async ({ wallet, amountMicro, behaviour }: Purchase) => {
    const to = new PublicKey(wallet);
    const destination = getAssociatedTokenAddressSync(mint, to, true);
    const amount = BigInt(amountMicro) - (behaviour.transfer === 'less' ? 1n : 0n);
    const transfer = createTransferCheckedInstruction(
      source,
      mint,
      destination,
      owner.publicKey,
      amount,
      decimals,
    );
    // Without it, two equal purchases in one block would produce the same transaction.
    const unique = new PublicKey(randomBytes(32));
    transfer.keys.push({ pubkey: unique, isSigner: false, isWritable: false });
    const { blockhash, lastValidBlockHeight } = await connection.getLatestBlockhash();
    const transaction = new Transaction({ feePayer: owner.publicKey, blockhash, lastValidBlockHeight });
    transaction.add(
      createAssociatedTokenAccountIdempotentInstruction(owner.publicKey, destination, to, mint),
      transfer,
    );
    transaction.sign(owner);
    const wire = transaction.serialize();
    return {
      wire: wire.toString('base64'),
      signature: bs58.encode(transaction.signature!),
      lastValidBlockHeight,
    };
  };

  return {
    send: async (purchase) => {
      for (;;) {
        try {
          if (purchase.transfer === null) purchases.change(purchase, { transfer: await sign(purchase) });
          const wire = Buffer.from(purchase.transfer!.wire, 'base64');
          await connection.sendRawTransaction(wire, { skipPreflight: true });
          for (
            let included: boolean | null = null;
            included !== false;
            included = await outcomeOf(connection, purchase)
          ) {
            if (included) return purchase.transfer!.signature;
            await sleep(pollMs);
          }
          purchases.change(purchase, { transfer: null });
        } catch (error) {
          // The chain does not answer, for instance because it restarts. The same bytes are sent
          // again.
          console.error(`transfer of ${purchase.id}: ${(error as Error).message}`);
          await sleep(1000);
        }
      }
    },
  };
};
