import { getBase58Decoder, getBase64Decoder, getBase64Encoder } from '@solana/kit';
import {
  SolanaSignMessage,
  type SolanaSignMessageFeature,
  SolanaSignTransaction,
  type SolanaSignTransactionFeature,
} from '@solana/wallet-standard-features';
import { getWallets } from '@wallet-standard/app';
import type { Wallet, WalletAccount } from '@wallet-standard/base';
import { StandardConnect, type StandardConnectFeature } from '@wallet-standard/features';
import { useSyncExternalStore } from 'react';
import { session } from '../api/store.ts';

/** Wallets in this browser: extensions and apps that implement the Wallet Standard. */

type Features = StandardConnectFeature & SolanaSignMessageFeature & SolanaSignTransactionFeature;
export type BrowserWallet = Wallet & { features: Features };

const NEEDED = [StandardConnect, SolanaSignMessage, SolanaSignTransaction] as const;
const isUsable = (wallet: Wallet): wallet is BrowserWallet =>
  NEEDED.every((feature) => feature in wallet.features);

const registry = getWallets();
let usable: readonly BrowserWallet[] = registry.get().filter(isUsable);

const subscribe = (listener: () => void) => {
  const changed = () => {
    usable = registry.get().filter(isUsable);
    listener();
  };
  const ends = [registry.on('register', changed), registry.on('unregister', changed)];
  // A wallet that registered before this subscription. React reads the snapshot again afterwards.
  usable = registry.get().filter(isUsable);
  return () => {
    for (const end of ends) end();
  };
};

/** The usable wallets, including those that register later. */
export const useBrowserWallets = (): readonly BrowserWallet[] =>
  useSyncExternalStore(subscribe, () => usable);

/**
 * The wallet of this browser that holds an account: the one that shows its address, the one that it
 * was named after when it was linked, or the only one. Null: nobody knows.
 */
export const holderOf = (
  wallets: readonly BrowserWallet[],
  { address, label }: { address: string; label: string | null },
): BrowserWallet | null =>
  wallets.find(({ accounts }) => accounts.some((each) => each.address === address)) ??
  wallets.find(({ name }) => name === label) ??
  (wallets.length === 1 ? wallets[0]! : null);

/** The wallet's Solana accounts, after the user has connected it to this page. */
export const connect = async (wallet: BrowserWallet): Promise<readonly WalletAccount[]> => {
  const { accounts } = await wallet.features[StandardConnect].connect();
  return accounts.filter(({ features }) => features.includes(SolanaSignTransaction));
};

/** Lets the wallet sign the lines of a proof. */
export const signProof = async (
  wallet: BrowserWallet,
  account: WalletAccount,
  message: string,
): Promise<{ message: string; signature: string }> => {
  const bytes = new TextEncoder().encode(message);
  const [signed] = await wallet.features[SolanaSignMessage].signMessage({ account, message: bytes });
  return { message, signature: getBase58Decoder().decode(signed!.signature) };
};

type Chain = 'solana:mainnet' | 'solana:devnet';
const chainOfSession = (): Chain =>
  session.get().environment === 'live' ? 'solana:mainnet' : 'solana:devnet';

/**
 * Lets the wallet sign a base64 transaction. It may add guard instructions; the API checks the
 * result.
 * @param address which of its accounts signs
 * @param chain default: that of the session's environment
 * @throws Error if the wallet does not have that account
 */
export const signByWallet = async (
  wallet: BrowserWallet,
  address: string,
  transaction: string,
  chain = chainOfSession(),
): Promise<string> => {
  const account = (await connect(wallet)).find((each) => each.address === address);
  if (account === undefined)
    throw new Error(`${wallet.name} does not show this address. Choose it there, then try again.`);
  const [signed] = await wallet.features[SolanaSignTransaction].signTransaction({
    account,
    transaction: new Uint8Array(getBase64Encoder().encode(transaction)),
    chain,
  });
  return getBase64Decoder().decode(signed!.signedTransaction);
};
