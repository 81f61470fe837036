import { getWallets } from '@wallet-standard/app';

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

/** The wallet is there and the address is not in it. */
export class OtherWalletError extends Error {
  override readonly name = 'OtherWalletError';
}

let signing: readonly Wallet[] = [];
let registered: readonly Wallet[] | undefined;
/** Those that can sign a Solana transaction; the same list until another one comes or goes. */
export const browserWallets = (): readonly BrowserWallet[] => {
  const all = getWallets().get();
  if (all !== registered) {
    registered = all;
    signing = all.filter(
      ({ features }) => 'standard:connect' in features && 'solana:signTransaction' in features,
    );
  }
  return signing;
};

/** Calls the listener when a wallet comes or goes; for useSyncExternalStore. @returns what ends that */
export const onBrowserWallets = (listener: () => void): (() => void) => {
  const ends = [getWallets().on('register', listener), getWallets().on('unregister', listener)];
  return () => {
    for (const end of ends) end();
  };
};

/**
 * Has a wallet sign a prepared transaction, which the wallet may have asked its owner about.
 * @param address whose signature it needs
 * @param transaction base64 of the wire transaction
 * @returns the same with the signature, base64
 * @throws OtherWalletError; what the wallet throws, for instance that its owner refused
 */
export const signWithWallet = async (
  wallet: BrowserWallet,
  address: string,
  transaction: string,
  environment: 'test' | 'live',
): Promise<string> => {
  const { connect } = wallet.features['standard:connect' as keyof Wallet['features']] as Connect;
  const { accounts } = await connect();
  const account = accounts.find((each) => each.address === address);
  if (account === undefined)
    throw new OtherWalletError(
      `${wallet.name} has not opened ${address} to this page. Choose that account in the wallet, then try again.`,
    );
  const { signTransaction } = wallet.features[
    'solana:signTransaction' as keyof Wallet['features']
  ] as SignTransaction;
  const [signed] = await signTransaction({
    account,
    transaction: Uint8Array.from(atob(transaction), (byte) => byte.charCodeAt(0)),
    chain: environment === 'live' ? 'solana:mainnet' : 'solana:devnet',
  });
  if (signed === undefined) throw new Error(`${wallet.name} gave no signature.`);
  return btoa(String.fromCharCode(...signed.signedTransaction));
};
