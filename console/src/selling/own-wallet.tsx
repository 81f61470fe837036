import { ApiError } from '../../../sdk/src/main.ts';
import { useItems } from '../api/data.ts';
import { LinkButton, Money, Notice, Row } from '../ui/index.ts';
import { ForWallet } from '../wallet/select-wallet.tsx';

const WalletLinks = () => (
  <Row>
    <LinkButton to="/wallet">Wallet</LinkButton>
    <LinkButton to="/deposits">Deposits</LinkButton>
  </Row>
);

const WALLET_CODES: readonly string[] = ['not_found', 'insufficient_funds', 'delegation_inactive'];
/** Whether a settle was refused because the payer’s wallet is not ready. */
export const isWalletProblem = (error: unknown): boolean =>
  error instanceof ApiError && WALLET_CODES.includes(error.code);

/** What to do then. */
export const WalletNotice = ({ children }: { children: string }) => (
  <Notice title="Get the buyer’s wallet ready">
    {children}
    <WalletLinks />
  </Notice>
);

/**
 * Shows whether the account's wallet can pay, and what is missing.
 * @param payTo the address that is paid, if it may be a wallet of the account
 */
export const OwnWallet = ({ price, payTo }: { price: bigint; payTo?: string }) => {
  const wallets = useItems(
    ['wallets', 'to-try'],
    (client, cursor, options) => client.wallet.list({ cursor }, options),
    { every: 10_000 },
  );
  // A wallet does not pay itself.
  if (wallets.data.some(({ address }) => address === payTo))
    return (
      <Notice tone="wait" title="This service is paid to your own wallet">
        Choose an agent of another account, or give the service a test address for its payouts.
      </Notice>
    );
  const ready = wallets.data.find(
    ({ balance, delegation }) => BigInt(balance) >= price && BigInt(delegation.allowance) >= price,
  );
  const holdsEnough = wallets.data.some(({ balance }) => BigInt(balance) >= price);
  return (
    <ForWallet of={{ wallets, choice: ready ?? wallets.data[0] ?? null }} none="You have no wallet yet">
      {({ balance, delegation }) =>
        ready !== undefined ? (
          <p className="quiet">
            Ready: <Money micro={balance} /> in the wallet, spending limit{' '}
            <Money micro={delegation.allowance} />.
          </p>
        ) : (
          <Notice tone="wait" title="Your wallet cannot pay yet">
            {holdsEnough
              ? 'The spending limit of your wallet is below this price. Raise it.'
              : 'Not enough USDC. Test USDC is free.'}
            <WalletLinks />
          </Notice>
        )
      }
    </ForWallet>
  );
};
