import { getWallets } from '@wallet-standard/app';
import { useSyncExternalStore } from 'react';
import { session } from '../session/store.ts';

/**
 * Wallets of this browser (extensions, mobile wallets) by the Wallet Standard: which there are, and a signature by one. The
 * key stays in the wallet, which shows its owner what is signed.
 */

type Wallet = ReturnType<ReturnType<typeof getWallets>['get']>[number];
type Account = Wallet['accounts'][number];
type Connect = { connect: () => Promise<{ accounts: readonly Account[] }> };
type SignTransaction = {
  signTransaction: (input: {
    account: Account;
    transaction: Uint8Array;
    chain: `solana:${string}`;
  }) => Promise<readonly { signedTransaction: Uint8Array }[]>;
};

export type BrowserWallet = Wallet;

const registry = getWallets();
const usable = () =>
  registry
    .get()
    .filter(({ features }) => 'standard:connect' in features && 'solana:signTransaction' in features);
let shown = usable();

const subscribe = (listener: () => void) => {
  const changed = () => {
    shown = usable();
    listener();
  };
  const ends = [registry.on('register', changed), registry.on('unregister', changed)];
  // One that came before anybody listened; React looks once more after this.
  shown = usable();
  return () => {
    for (const end of ends) end();
  };
};

/** Those that can sign a Solana transaction, also those that come later. */
export const useBrowserWallets = (): readonly BrowserWallet[] => useSyncExternalStore(subscribe, () => shown);

/**
 * Has a wallet sign a prepared transaction, which the wallet may have asked its owner about.
 * @param address whose signature it needs
 * @param transaction base64 of the wire transaction
 * @returns the same with the signature, base64
 * @throws Error when the wallet does not show that account; what the wallet throws, for instance that its owner refused
 */
export const signByWallet = async (
  wallet: BrowserWallet,
  address: string,
  transaction: string,
): Promise<string> => {
  // Called as methods: a wallet may be a class.
  const features = wallet.features as unknown as {
    'standard:connect': Connect;
    'solana:signTransaction': SignTransaction;
  };
  const { accounts } = await features['standard:connect'].connect();
  const account = accounts.find((each) => each.address === address);
  if (account === undefined)
    throw new Error(`${wallet.name} does not show this address. Choose it there, then try again.`);
  const [signed] = await features['solana:signTransaction'].signTransaction({
    account,
    transaction: Uint8Array.from(atob(transaction), (byte) => byte.charCodeAt(0)),
    chain: session.get().environment === 'live' ? 'solana:mainnet' : 'solana:devnet',
  });
  if (signed === undefined) throw new Error(`${wallet.name} gave no signature.`);
  return btoa(String.fromCharCode(...signed.signedTransaction));
};
