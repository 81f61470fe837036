import { createHash } from 'node:crypto';
import { ComputeBudgetProgram, Keypair, PublicKey, SystemProgram, Transaction } from '@solana/web3.js';
import { type Key, keyOf } from './keys.ts';

const SUPPLY_LAMPORTS = 10n ** 18n;
const COMPUTE_UNITS = 1_000;

/**
 * The account that airdrops come from. Airdrops are ordinary signed transfers, so history, forks,
 * restarts and getTransaction need no exception for them.
 */
export const createFaucet = (seed: string) => {
  const keypair = Keypair.fromSeed(createHash('sha256').update(`${seed}|faucet`).digest());
  let count = 0;
  return {
    key: keyOf(keypair.publicKey.toBytes()),
    lamports: SUPPLY_LAMPORTS,

    /**
     * A signed transfer. Two transfers of the same amount to the same key in one block differ in
     * their compute limit.
     */
    transfer: (to: Key, lamports: bigint, blockhash: string): Uint8Array => {
      count = (count + 1) % 1_000_000;
      const transaction = new Transaction({
        feePayer: keypair.publicKey,
        recentBlockhash: blockhash,
      }).add(
        ComputeBudgetProgram.setComputeUnitLimit({ units: COMPUTE_UNITS + count }),
        SystemProgram.transfer({
          fromPubkey: keypair.publicKey,
          toPubkey: new PublicKey(to.bytes),
          lamports,
        }),
      );
      transaction.sign(keypair);
      return transaction.serialize();
    },
  };
};
