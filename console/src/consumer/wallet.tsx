import { useState } from 'react';
import { useItems } from '../lib/data.ts';
import { useSession } from '../session/use-session.tsx';
import {
  Badge,
  Button,
  Columns,
  Copyable,
  Empty,
  ErrorNotice,
  LinkButton,
  Loading,
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
  none: 'No spending is allowed yet: payments are refused until you allow it.',
  pending: 'The chain has not confirmed the last change yet.',
  active: 'Payments are taken from this allowance.',
  exhausted: 'The allowance is used up: payments are refused until you allow more.',
  overwritten: 'Another app has replaced the allowance. Allow spending again to restore it.',
  revoked: 'The allowance is revoked: payments are refused until you allow spending.',
};

/** The wallets of the account: balance, allowance, and how to add one. */
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
      <Button variant="primary" onPress={() => setAdding('make')}>
        Create a wallet
      </Button>
    </>
  );
  const close = () => setDoing(null);
  return (
    <Page
      title="Wallet"
      about="Your money, and what the platform may spend of it. The key stays with you."
      actions={data.length > 0 && ways}
    >
      {isPending && <Loading>Loading your wallets…</Loading>}
      {error !== null && <ErrorNotice error={error} retry={again} />}
      {!isPending && error === null && data.length === 0 && (
        <Section title="Begin here">
          <Empty title="No wallet yet">
            <p>
              Link a wallet of this browser, or create one here. Its key is encrypted with your passkey and
              with a recovery code that you print.
            </p>
            <Row>{ways}</Row>
          </Empty>
        </Section>
      )}
      <Columns>
        {data.map((wallet) => (
          <WalletCard key={wallet.wallet_id} wallet={wallet} onDeed={(deed) => setDoing({ deed, wallet })} />
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

const WalletCard = ({ wallet, onDeed }: { wallet: Wallet; onDeed: (deed: Deed) => void }) => {
  const { environment } = useSession();
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
            Its USDC account was closed on chain. Allowing spending creates it again.
          </Notice>
        )}
        <Properties
          of={[
            [
              'Allowance left',
              <span key="left">
                <Money micro={allowed} /> <Badge state={status} />
              </span>,
            ],
            ['Can be paid now', isAllowed && allowed > balance && <Money micro={balance} />],
            [
              'Address',
              <Copyable key="address" text={wallet.address} label={`address of ${name}`} shown={12} />,
            ],
          ]}
        />
        <p className="quiet">{MEANING[status]}</p>
        <Row>
          <Button
            variant={isAllowed ? 'plain' : 'primary'}
            size="small"
            aria-label={`${isAllowed ? 'Change the allowance' : 'Allow spending'}: ${name}`}
            onPress={() => onDeed('allow')}
          >
            {isAllowed ? 'Change the allowance' : 'Allow spending'}
          </Button>
          {(allowed > 0n || status === 'overwritten') && (
            <Button
              size="small"
              aria-label={`Revoke the allowance: ${name}`}
              onPress={() => onDeed('revoke')}
            >
              Revoke the allowance
            </Button>
          )}
          {wallet.kind === 'provisioned' && (
            <Button size="small" aria-label={`Add a passkey: ${name}`} onPress={() => onDeed('passkey')}>
              Add a passkey
            </Button>
          )}
          {environment === 'test' && (
            <Button size="small" aria-label={`Get test money: ${name}`} onPress={() => onDeed('fund')}>
              Get test money
            </Button>
          )}
          <LinkButton
            to={`/deposits?wallet=${wallet.wallet_id}`}
            size="small"
            aria-label={`Deposit: ${name}`}
          >
            Deposit
          </LinkButton>
          {balance > 0n && (
            <LinkButton
              to={`/withdrawals?wallet=${wallet.wallet_id}`}
              size="small"
              aria-label={`Withdraw: ${name}`}
            >
              Withdraw
            </LinkButton>
          )}
        </Row>
      </Stack>
    </Section>
  );
};
