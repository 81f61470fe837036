import type { ReactNode } from 'react';
import { useSearchParams } from 'wouter';
import { useItems } from '../lib/data.ts';
import { formatUsdc } from '../lib/money.ts';
import { Empty, ErrorNotice, LinkButton, Loading, Select } from '../ui/index.ts';
import type { Wallet } from './signing.tsx';

/**
 * Which wallet a page is about: the one that its address names (`?wallet=`), else the first, until another is chosen.
 * `choice` is null while they are awaited and when there is none.
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
 * What a page does with the wallet it is about; until there is one, what it waits for, what went wrong, or the way to one.
 * @param none the title where the account has no wallet
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
  if (wallets.isPending) return <Loading>Asking for your wallets…</Loading>;
  if (wallets.error !== null) return <ErrorNotice error={wallets.error} retry={wallets.again} />;
  if (choice !== null) return children(choice);
  return (
    <Empty title={none}>
      <LinkButton to="/wallet" variant="primary">
        Link or make one
      </LinkButton>
    </Empty>
  );
};

/** How a wallet is called where there are many: by its name, else by its address. */
export const nameOf = ({ label, address }: Pick<Wallet, 'label' | 'address'>): string =>
  label ?? `${address.slice(0, 4)}…${address.slice(-4)}`;

/** Chooses among the account's wallets, with what is in them. */
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
      (each) => [each.wallet_id, `${nameOf(each)} · ${formatUsdc(BigInt(each.balance))} USDC`] as const,
    )}
  />
);
