import {
  createAssociatedTokenAccountIdempotentInstruction,
  createMintToInstruction,
} from '@solana/spl-token';
import { Keypair, LAMPORTS_PER_SOL, Transaction } from '@solana/web3.js';
import { connectTo } from '../../../deploy/local/processes/chain-connection.ts';
import { waitFor } from '../base/wait.ts';
import { chainOf } from '../servers/chain.ts';

/** A local chain as third-party software uses it: wallets with USDC, and accounts to pay to. */
export type InteropChain = {
  rpcUrl: string;
  mint: string;
  /** A wallet without SOL, as buyers have it. Its key as Solana's 64 bytes in base64. */
  wallet: (balanceMicro: bigint) => Promise<{ address: string; secretKey: string; keypair: Keypair }>;
  /** The owner of an empty token account: `owner`, or a new one. */
  payee: (owner?: Keypair) => Promise<string>;
  /** A key with SOL, in base64. */
  feePayer: () => Promise<string>;
  /** Confirmed micro-units. */
  balance: (owner: string) => Promise<bigint>;
  /** The failed transactions of an owner's token account. */
  failedTransactions: (owner: string) => Promise<string[]>;
  /** Adds faults of the chain (deploy/local/chain/README.md); without any, clears them. */
  fault: (...faults: object[]) => Promise<void>;
};

/**
 * @param mintAuthority issues USDC and pays for it, so it needs SOL
 */
export const interopChain = ({
  rpcUrl,
  mint,
  mintAuthority,
}: {
  rpcUrl: string;
  mint: string;
  mintAuthority: Keypair;
}): InteropChain => {
  const outside = chainOf({ rpc_url: rpcUrl, usdc_mint: mint } as never);
  const connection = connectTo(rpcUrl);

  const confirmed = async (signature: string): Promise<void> => {
    await waitFor(
      async () => (await connection.getSignatureStatuses([signature])).value[0] ?? null,
      (status) => ['confirmed', 'finalized'].includes(status?.confirmationStatus ?? ''),
    );
  };
  const airdrop = async ({ publicKey }: Keypair): Promise<void> =>
    confirmed(await connection.requestAirdrop(publicKey, 100 * LAMPORTS_PER_SOL));

  const open = async (owner: Keypair, balanceMicro: bigint): Promise<void> => {
    if ((await connection.getBalance(mintAuthority.publicKey)) === 0) await airdrop(mintAuthority);
    const account = outside.tokenAccount(owner.publicKey);
    const payer = mintAuthority.publicKey;
    const { blockhash, lastValidBlockHeight } = await connection.getLatestBlockhash();
    const transaction = new Transaction({ feePayer: payer, blockhash, lastValidBlockHeight });
    transaction.add(
      createAssociatedTokenAccountIdempotentInstruction(payer, account, owner.publicKey, outside.mint),
      ...(balanceMicro > 0n ? [createMintToInstruction(outside.mint, account, payer, balanceMicro)] : []),
    );
    transaction.sign(mintAuthority);
    await confirmed(await connection.sendRawTransaction(transaction.serialize()));
  };
  const base64 = ({ secretKey }: Keypair) => Buffer.from(secretKey).toString('base64');

  return {
    rpcUrl,
    mint,
    wallet: async (balanceMicro) => {
      const keypair = Keypair.generate();
      await open(keypair, balanceMicro);
      return { address: keypair.publicKey.toBase58(), secretKey: base64(keypair), keypair };
    },
    payee: async (owner = Keypair.generate()) => {
      await open(owner, 0n);
      return owner.publicKey.toBase58();
    },
    feePayer: async () => {
      const keypair = Keypair.generate();
      await airdrop(keypair);
      return base64(keypair);
    },
    balance: outside.balance,
    failedTransactions: async (owner) =>
      (await outside.history(owner)).filter(({ err }) => err !== null).map(({ signature }) => signature),
    fault: async (...faults) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'chain_fault', params: faults });
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(rpcUrl, { method: 'POST', headers, body });
      const { error } = (await answer.json()) as { error?: { message: string } };
      if (error) throw new Error(`chain_fault: ${error.message}`);
    },
  };
};
