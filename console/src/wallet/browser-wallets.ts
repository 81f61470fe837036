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
import { session } from '../session/store.ts';

/** Wallets that the person has in this browser: extensions and apps that speak the Wallet Standard. */

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
  // One that came before anybody listened; React looks once more after this.
  usable = registry.get().filter(isUsable);
  return () => {
    for (const end of ends) end();
  };
};

/** Those that can be used here, also those that come later. */
export const useBrowserWallets = (): readonly BrowserWallet[] =>
  useSyncExternalStore(subscribe, () => usable);

/** The wallet's accounts that can sign for Solana, after the person has let this page see them. */
export const connect = async (wallet: BrowserWallet): Promise<readonly WalletAccount[]> => {
  const { accounts } = await wallet.features[StandardConnect].connect();
  return accounts.filter(({ features }) => features.includes(SolanaSignTransaction));
};

/** Has the wallet sign the lines of a proof. */
export const signProof = async (
  wallet: BrowserWallet,
  account: WalletAccount,
  message: string,
): Promise<{ message: string; signature: string }> => {
  const bytes = new TextEncoder().encode(message);
  const [signed] = await wallet.features[SolanaSignMessage].signMessage({ account, message: bytes });
  return { message, signature: getBase58Decoder().decode(signed!.signature) };
};

/**
 * Has the wallet sign a transaction in base64. It may add guards of its own; the API looks at what comes back.
 * @param address which of its accounts signs
 * @throws Error when the wallet does not hold that account
 */
export const signByWallet = async (
  wallet: BrowserWallet,
  address: string,
  transaction: string,
): Promise<string> => {
  const account = (await connect(wallet)).find((each) => each.address === address);
  if (account === undefined)
    throw new Error(`${wallet.name} does not show this address. Choose it there, then try again.`);
  const [signed] = await wallet.features[SolanaSignTransaction].signTransaction({
    account,
    transaction: new Uint8Array(getBase64Encoder().encode(transaction)),
    chain: session.get().environment === 'live' ? 'solana:mainnet' : 'solana:devnet',
  });
  return getBase64Decoder().decode(signed!.signedTransaction);
};
