/** Wallets of Solana that people can install, in no order of merit. Their browsers open a page. */
type WalletApp = {
  name: string;
  /** Where its makers offer it for browsers and phones. */
  install: string;
  /** The address that opens a page in the browser of the app. */
  browse: (address: string) => string;
};

const asked = (address: string): string =>
  `${encodeURIComponent(address)}?ref=${encodeURIComponent(location.origin)}`;

export const WALLET_APPS: readonly WalletApp[] = [
  {
    name: 'Phantom',
    install: 'https://phantom.com/download',
    browse: (address) => `https://phantom.app/ul/browse/${asked(address)}`,
  },
  {
    name: 'Solflare',
    install: 'https://solflare.com/download',
    browse: (address) => `https://solflare.com/ul/v1/browse/${asked(address)}`,
  },
  {
    name: 'Backpack',
    install: 'https://backpack.app/download',
    browse: (address) => `https://backpack.app/ul/v1/browse/${asked(address)}`,
  },
];
