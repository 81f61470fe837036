import * as ed25519 from '@noble/ed25519';
import { type Keypair, VersionedTransaction } from '@solana/web3.js';
import bs58 from 'bs58';
import { type Api, must } from './api.ts';

/**
 * The consumer's side of a wallet. The key does not leave this process, as it does not leave a
 * browser wallet.
 */
export type WalletView = {
  wallet_id: string;
  address: string;
  token_account: string;
  balance: string;
  delegation: { status: string; delegate: string | null; allowance: string };
};

/**
 * The four lines of the ownership proof (docs/spec/decisions.md, Shapes of the calls), signed as
 * `signMessage` does.
 */
export const walletProof = async (wallet: Keypair, accountId: string, issuedAt = new Date()) => {
  const publicKey = wallet.publicKey.toBase58();
  const message = [
    'Quittance wallet proof',
    `account: ${accountId}`,
    `wallet: ${publicKey}`,
    `issued_at: ${issuedAt.toISOString()}`,
  ].join('\n');
  const signature = await ed25519.signAsync(new TextEncoder().encode(message), wallet.secretKey.slice(0, 32));
  return { public_key: publicKey, proof: { message, signature: bs58.encode(signature) } };
};

/** Adds the owner's signature to a prepared transaction. The fee payer's signature stays empty. */
export const signPrepared = (transaction: string, wallet: Keypair): string => {
  const parsed = VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'));
  parsed.sign([wallet]);
  return Buffer.from(parsed.serialize()).toString('base64');
};

export const linkWallet = async (
  api: Api,
  token: string,
  accountId: string,
  wallet: Keypair,
): Promise<WalletView> =>
  must(
    api<WalletView>('POST /v1/wallets', { token, body: await walletProof(wallet, accountId) }),
    'link wallet',
  );

/** Approves an allowance for the platform: prepare, sign, submit. */
export const allowSpending = async (
  api: Api,
  token: string,
  walletId: string,
  wallet: Keypair,
  allowanceMicro: bigint,
): Promise<WalletView> => {
  const prepared = await must(
    api<{ transaction: string }>(`POST /v1/wallets/${walletId}/onboarding`, {
      token,
      body: { allowance: allowanceMicro.toString() },
    }),
    'onboarding',
  );
  const transaction = signPrepared(prepared.transaction, wallet);
  return must(
    api<WalletView>(`POST /v1/wallets/${walletId}/delegate`, { token, body: { transaction } }),
    'delegate',
  );
};

/** Funds a wallet with test USDC. */
export const fund = (
  api: Api,
  token: string,
  walletId: string,
  amountMicro: bigint,
): Promise<{ balance: string }> =>
  must(
    api<{ balance: string }>('POST /v1/dev/fund', {
      token,
      body: { wallet_id: walletId, amount: amountMicro.toString() },
    }),
    'dev/fund',
  );
