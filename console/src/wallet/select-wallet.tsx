import type { ReactNode } from 'react';
import { useSearchParams } from 'wouter';
import { displayUsdc } from '../../../sdk/src/generated/usdc.ts';
import { useItems } from '../api/data.ts';
import { shortId } from '../lib/short-id.ts';
import { Empty, ErrorNotice, LinkButton, Loading, Select } from '../ui/index.ts';
import type { Wallet } from './signing.tsx';

/**
 * The wallet of a page: the one in the URL (`?wallet=`), or the first, until the user selects
 * another. `choice` is null while the wallets load and if there is none.
 */
export const useWalletChoice = () => {
  const wallets = useItems(['wallets', 'all'], (client, cursor, options) =>
    client.wallet.list({ cursor, limit: '100' }, options),
  );
  const [params, setParams] = useSearchParams();
  const wanted = params.get('wallet');
  const choice = wallets.data.find((each) => each.wallet_id === wanted) ?? wallets.data[0] ?? null;
  return {
    wallets,
    choice,
    choose: (walletId: string) => setParams({ wallet: walletId }, { replace: true }),
  };
};

/**
 * Renders a page's content for its wallet. Until there is one, it shows a loading state, an error,
 * or how to get a wallet.
 * @param none the title if the account has no wallet
 */
export const ForWallet = ({
  of: { wallets, choice },
  none,
  children,
}: {
  of: Pick<ReturnType<typeof useWalletChoice>, 'wallets' | 'choice'>;
  none: string;
  children: (wallet: Wallet) => ReactNode;
}) => {
  if (wallets.isPending) return <Loading>Loading your wallets…</Loading>;
  if (wallets.error !== null) return <ErrorNotice error={wallets.error} retry={wallets.again} />;
  if (choice !== null) return children(choice);
  return (
    <Empty title={none}>
      <LinkButton to="/wallet" variant="primary">
        Add a wallet
      </LinkButton>
    </Empty>
  );
};

/** The display name of a wallet: its label, or the ends of its address. */
export const nameOf = ({ label, address }: Pick<Wallet, 'label' | 'address'>): string =>
  label ?? `Wallet ${shortId(address)}`;

/** Selects one of the account's wallets, and shows their balances. */
export const WalletSelect = ({
  label,
  wallets,
  value,
  onChange,
}: {
  label: string;
  wallets: readonly Wallet[];
  value: Wallet;
  onChange: (walletId: string) => void;
}) => (
  <Select
    label={label}
    value={value.wallet_id}
    onChange={onChange}
    options={wallets.map(
      (each) => [each.wallet_id, `${nameOf(each)} · ${displayUsdc(each.balance)}`] as const,
    )}
  />
);
