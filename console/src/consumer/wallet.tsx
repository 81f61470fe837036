import { useState } from 'react';
import { useLocation } from 'wouter';
import { useItems } from '../api/data.ts';
import { useSession } from '../api/use-session.tsx';
import {
  Badge,
  Button,
  Columns,
  Copyable,
  Empty,
  ErrorNotice,
  LinkButton,
  Loading,
  Menu,
  Money,
  Notice,
  Page,
  Properties,
  Row,
  Section,
  Stack,
} from '../ui/index.ts';
import { AddPasskeyDialog } from '../wallet/add-passkey.tsx';
import { AllowanceDialog, RevokeDialog, TestMoneyDialog } from '../wallet/allowance.tsx';
import { MakeDialog } from '../wallet/create-wallet.tsx';
import { LinkDialog } from '../wallet/link.tsx';
import { nameOf } from '../wallet/select-wallet.tsx';
import type { Wallet } from '../wallet/signing.tsx';

type Deed = 'allow' | 'revoke' | 'fund' | 'passkey';
/** How often the chain is read while the page is visible. */
const EVERY_MS = 15_000;

const MEANING: Record<Wallet['delegation']['status'], string> = {
  none: 'Payments are refused until you allow spending.',
  pending: 'The chain has not confirmed the last change yet.',
  active: 'Payments use up this spending limit.',
  exhausted: 'The spending limit is used up. Payments are refused until you raise it.',
  overwritten: 'Another app has replaced the spending limit. Allow spending again to restore it.',
  revoked: 'You revoked the spending limit. Payments are refused until you allow spending again.',
};

/** The wallets of the account: balance, spending limit, and how to add one. */
const WalletPage = () => {
  const wallets = useItems(
    ['wallets'],
    (client, cursor, options) => client.wallet.list({ cursor }, options),
    { every: EVERY_MS },
  );
  const [adding, setAdding] = useState<'link' | 'make' | null>(null);
  const [doing, setDoing] = useState<{ deed: Deed; wallet: Wallet } | null>(null);
  const { data, error, isPending, again, hasMore, more, isLoadingMore } = wallets;
  const ways = (
    <>
      <Button onPress={() => setAdding('link')}>Link a wallet</Button>
      <Button variant={data.length === 0 ? 'primary' : 'plain'} onPress={() => setAdding('make')}>
        Create a wallet
      </Button>
    </>
  );
  const close = () => setDoing(null);
  return (
    <Page
      title="Wallet"
      about="Your money and how much of it payments may use. You keep the key."
      actions={data.length > 0 && ways}
    >
      {isPending && <Loading>Loading your wallets…</Loading>}
      {error !== null && <ErrorNotice error={error} retry={again} />}
      {!isPending && error === null && data.length === 0 && (
        <Section title="Get started">
          <Empty title="No wallet yet">
            <p>
              Create a wallet here, or link one from this browser. The key of a new wallet is encrypted with
              your passkey and a recovery code.
            </p>
            <Row>{ways}</Row>
          </Empty>
        </Section>
      )}
      <Columns>
        {data.map((wallet, at) => (
          <WalletCard
            key={wallet.wallet_id}
            wallet={wallet}
            isFirst={at === 0}
            onDeed={(deed) => setDoing({ deed, wallet })}
          />
        ))}
      </Columns>
      {hasMore && (
        <Row>
          <Button busy={isLoadingMore && 'Loading more…'} onPress={more}>
            Show more
          </Button>
        </Row>
      )}
      {adding === 'link' && <LinkDialog onClose={() => setAdding(null)} />}
      {adding === 'make' && <MakeDialog onClose={() => setAdding(null)} />}
      {doing?.deed === 'allow' && <AllowanceDialog wallet={doing.wallet} onClose={close} />}
      {doing?.deed === 'revoke' && <RevokeDialog wallet={doing.wallet} onClose={close} />}
      {doing?.deed === 'passkey' && <AddPasskeyDialog wallet={doing.wallet} onClose={close} />}
      {doing?.deed === 'fund' && <TestMoneyDialog wallet={doing.wallet} onClose={close} />}
    </Page>
  );
};
export default WalletPage;

/** What a wallet needs next: money, then a spending limit. */
const nextOf = (balance: bigint, isAllowed: boolean): 'money' | 'allow' | null => {
  if (balance === 0n) return 'money';
  return isAllowed ? null : 'allow';
};

type CardProps = {
  wallet: Wallet;
  /** The page has one main action: what its first wallet needs. */
  isFirst: boolean;
  onDeed: (deed: Deed) => void;
};

const WalletCard = ({ wallet, isFirst, onDeed }: CardProps) => {
  const { status, allowance } = wallet.delegation;
  const name = nameOf(wallet);
  const [balance, allowed] = [BigInt(wallet.balance), BigInt(allowance)];
  const isAllowed = allowed > 0n && status === 'active';
  return (
    <Section
      title={name}
      actions={<Badge state={wallet.kind === 'provisioned' ? 'created here' : 'linked'} tone="none" />}
    >
      <Stack>
        <Money micro={balance} large />
        {wallet.token_account_closed && (
          <Notice tone="bad">
            The USDC account of this wallet was closed on chain. Allow spending to create it again.
          </Notice>
        )}
        <Properties
          of={[
            [
              'Spending limit left',
              <span key="left">
                <Money micro={allowed} /> <Badge state={status} />
              </span>,
            ],
            ['Payable now', isAllowed && allowed > balance && <Money micro={balance} />],
            ['Address', <Copyable key="address" text={wallet.address} label={`address of ${name}`} block />],
          ]}
        />
        <p className="quiet">{MEANING[status]}</p>
        <CardActions wallet={wallet} next={isFirst ? nextOf(balance, isAllowed) : null} onDeed={onDeed} />
      </Stack>
    </Section>
  );
};

/** Add money, allow, withdraw; the rest is in a menu. */
const CardActions = ({
  wallet,
  next,
  onDeed,
}: Omit<CardProps, 'isFirst'> & { next: ReturnType<typeof nextOf> }) => {
  const { environment } = useSession();
  const [, navigate] = useLocation();
  const { status, allowance } = wallet.delegation;
  const name = nameOf(wallet);
  const isAllowed = allowance !== '0' && status === 'active';
  const isTest = environment === 'test';
  const deposits = `/deposits?wallet=${wallet.wallet_id}`;
  const allow = isAllowed ? 'Change the spending limit' : 'Allow spending';
  return (
    <Row>
      {isTest ? (
        <Button
          size="small"
          variant={next === 'money' ? 'primary' : 'plain'}
          aria-label={`Get test money: ${name}`}
          onPress={() => onDeed('fund')}
        >
          Get test money
        </Button>
      ) : (
        <LinkButton
          to={deposits}
          size="small"
          variant={next === 'money' ? 'primary' : 'plain'}
          aria-label={`Add money: ${name}`}
        >
          Add money
        </LinkButton>
      )}
      <Button
        size="small"
        variant={next === 'allow' ? 'primary' : 'plain'}
        aria-label={`${allow}: ${name}`}
        onPress={() => onDeed('allow')}
      >
        {allow}
      </Button>
      {wallet.balance !== '0' && (
        <LinkButton
          to={`/withdrawals?wallet=${wallet.wallet_id}`}
          size="small"
          aria-label={`Withdraw: ${name}`}
        >
          Withdraw
        </LinkButton>
      )}
      <Menu
        aria-label={`More actions: ${name}`}
        items={[
          isTest && { text: 'Deposit', onAction: () => navigate(deposits) },
          wallet.kind === 'provisioned' && { text: 'Add a passkey', onAction: () => onDeed('passkey') },
          (allowance !== '0' || status === 'overwritten') && {
            text: 'Revoke the spending limit',
            danger: true,
            onAction: () => onDeed('revoke'),
          },
        ]}
      />
    </Row>
  );
};
