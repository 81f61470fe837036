import { type FormEvent, useState } from 'react';
import type { Output } from '../../../sdk/src/main.ts';
import { type Items, useAction, useItems } from '../api/data.ts';
import { useSession } from '../api/use-session.tsx';
import { meaningsOfAmount } from '../lib/money.ts';
import {
  Ago,
  AmountField,
  Badge,
  Button,
  Columns,
  Copyable,
  Empty,
  ErrorNotice,
  Money,
  Notice,
  Page,
  Section,
  Select,
  Stack,
  Table,
  Time,
} from '../ui/index.ts';
import { ForWallet, nameOf, useWalletChoice, WalletSelect } from '../wallet/select-wallet.tsx';
import type { Wallet } from '../wallet/signing.tsx';
import { DepositAddress } from './deposit-address.tsx';
import { WaitingPayment } from './waiting-payment.tsx';
import './deposits.css';

type Deposit = Output<'funding.listDeposits'>['data'][number];
type Provider = Deposit['provider'];

const PROVIDERS = [
  ['moonpay', 'MoonPay'],
  ['coinbase', 'Coinbase Onramp'],
] as const satisfies readonly (readonly [Provider, string])[];
const PROVIDER = Object.fromEntries(PROVIDERS) as Record<Provider, string>;
const CURRENCIES = ['USD', 'EUR', 'GBP', 'CHF', 'CAD', 'AUD'].map((code) => [code, code] as const);

/** The pause between two reads of the list while the page is visible. */
const EVERY_MS = 3000;

const OPEN: Partial<Record<Deposit['status'], (deposit: Deposit) => string>> = {
  created: ({ provider }) => `Not paid yet. Continue at ${PROVIDER[provider]}.`,
  awaiting_payment: ({ provider }) => `${PROVIDER[provider]} is waiting for the payment.`,
  processing: ({ provider }) => `${PROVIDER[provider]} is processing the payment.`,
  settling: ({ provider }) =>
    `${PROVIDER[provider]} has sent the USDC. The deposit completes when the transfer is final on chain.`,
};

const wholes = new Intl.NumberFormat('en');
/** "50" or "1234.5" as the API stores it: "50.00", "1,234.50". */
const formatFiat = (amount: string): string => {
  const [whole = '0', cents = ''] = amount.split('.');
  return `${wholes.format(BigInt(whole))}.${cents.padEnd(2, '0')}`;
};

/**
 * The provider's page, if it may be opened. A URL of an answer must never become a script or an
 * unsafe page.
 */
const payPage = ({ redirect_url, status }: Deposit): string | null => {
  if (redirect_url === null || (status !== 'created' && status !== 'awaiting_payment')) return null;
  const url = URL.parse(redirect_url);
  const local = url?.hostname === 'localhost' || url?.hostname === '127.0.0.1';
  return url !== null && (url.protocol === 'https:' || (url.protocol === 'http:' && local)) ? url.href : null;
};

/**
 * The wallet's own address first. Then buys USDC by bank or card at one of two providers, and shows
 * the progress until it is on chain.
 */
const DepositsPage = () => {
  const chosen = useWalletChoice();
  const { wallets, choose } = chosen;
  const deposits = useItems(
    ['deposits'],
    (client, cursor, options) => client.funding.listDeposits({ cursor }, options),
    { every: EVERY_MS },
  );
  const underWay = deposits.data.filter(({ status }) => status in OPEN);
  return (
    <Page title="Deposits" about="Send USDC to your wallet, or buy it by card or bank transfer.">
      <WaitingPayment />
      {underWay.length > 0 && <UnderWay deposits={underWay} />}
      <Columns>
        <DepositAddress of={chosen} />
        <Section title="Buy USDC by card or bank">
          <ForWallet of={chosen} none="You need a wallet: MoonPay and Coinbase send the USDC there">
            {(wallet) => <NewDeposit wallets={wallets.data} wallet={wallet} onWallet={choose} />}
          </ForWallet>
        </Section>
      </Columns>
      <Section title="Card and bank deposits">
        <DepositTable deposits={deposits} wallets={wallets.data} />
      </Section>
    </Page>
  );
};
export default DepositsPage;

const FIAT = /^(?!0+(\.0*)?$)(0|[1-9]\d{0,6})(\.\d{1,2})?$/;
/** The typed amount as the API takes it, or null. */
const fiatOf = (typed: string): string | null => {
  const [meaning, another] = meaningsOfAmount(typed, { places: 2 });
  return meaning !== undefined && another === undefined && FIAT.test(meaning) ? meaning : null;
};

const Sandbox = () =>
  useSession().environment === 'test' ? (
    <p className="quiet">Test mode: the provider’s page is a sandbox without real money.</p>
  ) : null;

const NewDeposit = ({
  wallets,
  wallet,
  onWallet,
}: {
  wallets: readonly Wallet[];
  wallet: Wallet;
  onWallet: (walletId: string) => void;
}) => {
  const [provider, setProvider] = useState<Provider>('moonpay');
  const [currency, setCurrency] = useState('USD');
  const [typed, setTyped] = useState('');
  const [tried, setTried] = useState(false);
  const [leaving, setLeaving] = useState(false);
  const amount = fiatOf(typed);
  const create = useAction(
    (client, fiat_amount: string) =>
      client.funding.createDeposit({
        wallet_id: wallet.wallet_id,
        provider,
        fiat_currency: currency,
        fiat_amount,
        redirect_url: `${location.origin}/console/deposits`,
      }),
    {
      changes: [['deposits']],
      done: (deposit) => {
        const page = payPage(deposit);
        if (page === null) return;
        setLeaving(true);
        location.assign(page);
      },
    },
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (amount !== null) void create.run(amount);
  };
  const busy = leaving
    ? `Opening ${PROVIDER[provider]}…`
    : create.isBusy && `Connecting to ${PROVIDER[provider]}…`;
  return (
    <form onSubmit={submit}>
      <Stack>
        {wallets.length > 1 && (
          <WalletSelect label="To" wallets={wallets} value={wallet} onChange={onWallet} />
        )}
        <Select label="Provider" options={PROVIDERS} value={provider} onChange={setProvider} />
        <Select label="Currency" options={CURRENCIES} value={currency} onChange={setCurrency} />
        <AmountField
          label="Amount"
          hint="Including the provider’s fees. You see what you receive on the next page."
          value={typed}
          onChange={setTyped}
          error={tried && amount === null ? 'Enter an amount like 50 or 49.90.' : null}
          currency={currency}
        />
        <Sandbox />
        {create.error !== null && <ErrorNotice error={create.error} />}
        <div>
          <Button type="submit" variant="primary" busy={busy}>
            {`Continue to ${PROVIDER[provider]}`}
          </Button>
        </div>
      </Stack>
    </form>
  );
};

/** How many pending deposits are described above the list, which has all of them. */
const SHOWN = 3;

/** The pending deposits, with a text that updates by itself. */
const UnderWay = ({ deposits }: { deposits: readonly Deposit[] }) => (
  <Section title="In progress">
    <div role="status">
      <Stack>
        {deposits.slice(0, SHOWN).map((deposit) => (
          <Notice key={deposit.deposit_id} tone="wait">
            <strong>
              {formatFiat(deposit.fiat_amount)} {deposit.fiat_currency}
            </strong>{' '}
            {OPEN[deposit.status]!(deposit)}
            {deposit.problem !== null && <div>{deposit.problem.message}</div>}
            <PayLink deposit={deposit} />
          </Notice>
        ))}
        {deposits.length > SHOWN && <p className="quiet">and {deposits.length - SHOWN} more in the list</p>}
      </Stack>
    </div>
  </Section>
);

const PayLink = ({ deposit }: { deposit: Deposit }) => {
  const page = payPage(deposit);
  return page === null ? null : (
    <div>
      <a href={page} rel="noreferrer">{`Pay at ${PROVIDER[deposit.provider]}`}</a>, until{' '}
      <Time at={deposit.expires_at} />
    </div>
  );
};

const DepositTable = ({ deposits, wallets }: { deposits: Items<Deposit>; wallets: readonly Wallet[] }) => {
  const walletOf = (id: string) => wallets.find(({ wallet_id }) => wallet_id === id);
  return (
    <Table
      label="Card and bank deposits"
      items={deposits}
      waiting="Loading your deposits…"
      keyOf={({ deposit_id }) => deposit_id}
      empty={<Empty title="No deposits yet">Deposits by card or bank appear here with their progress.</Empty>}
      columns={[
        { heading: 'Started', show: ({ created_at }) => <Ago at={created_at} /> },
        { heading: 'Provider', show: ({ provider }) => PROVIDER[provider] },
        {
          heading: 'To',
          show: ({ wallet_id }) => {
            const wallet = walletOf(wallet_id);
            return wallet === undefined ? null : nameOf(wallet);
          },
        },
        {
          heading: 'Amount',
          align: 'end',
          show: ({ fiat_amount, fiat_currency }) => (
            <span className="money">
              {formatFiat(fiat_amount)} <span className="money-unit">{fiat_currency}</span>
            </span>
          ),
        },
        {
          heading: 'Received',
          align: 'end',
          show: ({ amount }) => (amount === null ? null : <Money micro={amount} />),
        },
        {
          heading: 'Status',
          show: (deposit) => (
            <>
              <Badge state={deposit.status} />
              {deposit.problem !== null && <div className="quiet">{deposit.problem.message}</div>}
              <PayLink deposit={deposit} />
            </>
          ),
        },
        {
          heading: 'Transaction',
          show: ({ tx_hash }) =>
            tx_hash === null ? null : <Copyable text={tx_hash} label="transaction" short />,
        },
      ]}
    />
  );
};
