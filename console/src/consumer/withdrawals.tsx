import { type FormEvent, useState } from 'react';
import type { Output } from '../../../sdk/src/main.ts';
import { type Items, useAction, useItems } from '../api/data.ts';
import { fieldUsdc, NOT_AN_AMOUNT, typedUsdc } from '../lib/money.ts';
import {
  Ago,
  AmountField,
  Badge,
  Button,
  ConfirmDialog,
  Copyable,
  Empty,
  ErrorNotice,
  Money,
  Page,
  Row,
  Section,
  Stack,
  Table,
  TextField,
  Time,
  toast,
} from '../ui/index.ts';
import type { Prepared } from '../wallet/prepared.ts';
import { ForWallet, nameOf, useWalletChoice, WalletSelect } from '../wallet/select-wallet.tsx';
import { SignDialog, type Wallet } from '../wallet/signing.tsx';

type Withdrawal = Output<'funding.listWithdrawals'>['data'][number];
const CHANGES = [['withdrawals'], ['wallets']];
/** The pause between two reads of the list while the page is visible. */
const EVERY_MS = 3000;

/**
 * The withdrawal to be signed. `prepared` comes from its creation and is valid for about a minute.
 */
type Approving = { withdrawal: Withdrawal; prepared: Prepared | null };

/**
 * Sends money from a wallet to an external address: created, signed by the wallet's owner, and
 * shown until it is finalized.
 */
const WithdrawalsPage = () => {
  const chosen = useWalletChoice();
  const { wallets, choose } = chosen;
  const withdrawals = useItems(
    ['withdrawals'],
    (client, cursor, options) => client.funding.listWithdrawals({ cursor }, options),
    { every: EVERY_MS },
  );
  const [approving, setApproving] = useState<Approving | null>(null);
  const [cancelled, setCancelled] = useState<Withdrawal | null>(null);
  const cancel = useAction(
    (client, withdrawal_id: string) => client.funding.cancelWithdrawal({ withdrawal_id }),
    { changes: CHANGES, done: () => toast('The withdrawal is cancelled.') },
  );
  const signer = wallets.data.find(({ wallet_id }) => wallet_id === approving?.withdrawal.wallet_id);
  return (
    <Page title="Withdrawals" about="Send USDC to an external address. No money moves until you sign.">
      <Section title="New withdrawal">
        <ForWallet of={chosen} none="No wallet to withdraw from">
          {(wallet) => (
            <NewWithdrawal
              wallets={wallets.data}
              wallet={wallet}
              onWallet={choose}
              onMade={({ transaction, expires_at, ...withdrawal }) =>
                setApproving({ withdrawal, prepared: { transaction, expires_at } })
              }
            />
          )}
        </ForWallet>
      </Section>
      <Section title="All withdrawals">
        <WithdrawalTable
          withdrawals={withdrawals}
          wallets={wallets.data}
          onApprove={(withdrawal) => setApproving({ withdrawal, prepared: null })}
          onCancel={setCancelled}
        />
      </Section>
      {approving !== null && signer !== undefined && (
        <Approve approving={approving} wallet={signer} onClose={() => setApproving(null)} />
      )}
      <ConfirmDialog
        title="Cancel this withdrawal?"
        confirm="Cancel the withdrawal"
        doing="Cancelling…"
        isOpen={cancelled !== null}
        onClose={() => setCancelled(null)}
        onConfirm={() => cancel.runOrThrow(cancelled!.withdrawal_id)}
      >
        No money has moved, and none will. A transaction that you signed for it can no longer be used.
      </ConfirmDialog>
    </Page>
  );
};
export default WithdrawalsPage;

const isAddress = (text: string) => /^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(text);

const NewWithdrawal = ({
  wallets,
  wallet,
  onWallet,
  onMade,
}: {
  wallets: readonly Wallet[];
  wallet: Wallet;
  onWallet: (walletId: string) => void;
  onMade: (made: Output<'funding.createWithdrawal'>) => void;
}) => {
  const [typed, setTyped] = useState('');
  const [to, setTo] = useState('');
  const [tried, setTried] = useState(false);
  const amount = typedUsdc(typed);
  const destination = to.trim();
  const create = useAction(
    async (client, micro: bigint) => {
      const amount = micro.toString();
      const made = await client.funding.createWithdrawal({
        wallet_id: wallet.wallet_id,
        amount,
        destination_address: destination,
      });
      if (made.amount !== amount || made.destination_address !== destination)
        throw new Error('The API returned a different withdrawal than you requested.');
      return made;
    },
    {
      changes: CHANGES,
      done: (made) => {
        setTyped('');
        setTo('');
        setTried(false);
        onMade(made);
      },
    },
  );
  const problem = (): string | null => {
    if (amount === null) return NOT_AN_AMOUNT;
    return amount > BigInt(wallet.balance) ? 'The wallet holds less than that.' : null;
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (amount !== null && problem() === null && isAddress(destination)) void create.run(amount);
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <WalletSelect label="From" wallets={wallets} value={wallet} onChange={onWallet} />
        <AmountField
          label="Amount"
          hint={
            BigInt(wallet.balance) > 0n && (
              <>
                The wallet holds <Money micro={wallet.balance} />{' '}
                <Button size="small" variant="quiet" onPress={() => setTyped(fieldUsdc(wallet.balance))}>
                  Max
                </Button>
              </>
            )
          }
          value={typed}
          onChange={setTyped}
          error={tried ? problem() : null}
        />
        <TextField
          label="To"
          hint="A Solana address or a USDC token account. Transfers cannot be reversed."
          value={to}
          onChange={setTo}
          error={
            tried && !isAddress(destination) ? 'Enter a Solana address of 32 to 44 letters and digits.' : null
          }
          autoComplete="off"
          spellCheck="false"
        />
        {create.error !== null && <ErrorNotice error={create.error} />}
        <div>
          <Button type="submit" variant="primary" busy={create.isBusy && 'Preparing…'}>
            Review and sign
          </Button>
        </div>
      </Stack>
    </form>
  );
};

/** Gets the owner's signature. The user sees amount and destination as the transaction has them. */
const Approve = ({
  approving: { withdrawal, prepared },
  wallet,
  onClose,
}: {
  approving: Approving;
  wallet: Wallet;
  onClose: () => void;
}) => {
  const { withdrawal_id, amount, destination_address } = withdrawal;
  const [first, setFirst] = useState(prepared);
  const prepareAfresh = useAction(async (client) => {
    const answer = await client.funding.approveWithdrawal({ withdrawal_id });
    if (!('transaction' in answer)) throw new Error('This withdrawal has already been submitted.');
    return answer as Prepared;
  });
  const submitted = useAction(
    (client, transaction: string) => client.funding.approveWithdrawal({ withdrawal_id, transaction }),
    { changes: CHANGES, done: () => toast('Signed and sent. See the list for its progress.') },
  );
  return (
    <SignDialog
      title="Sign the withdrawal"
      wallet={wallet}
      wanted={{ kind: 'transfer', amount: BigInt(amount), destination: destination_address }}
      prepare={() => {
        if (first === null) return prepareAfresh.runOrThrow(undefined);
        setFirst(null);
        return Promise.resolve(first);
      }}
      submit={submitted.runOrThrow}
      onClose={onClose}
    />
  );
};

const WithdrawalTable = ({
  withdrawals,
  wallets,
  onApprove,
  onCancel,
}: {
  withdrawals: Items<Withdrawal>;
  wallets: readonly Wallet[];
  onApprove: (withdrawal: Withdrawal) => void;
  onCancel: (withdrawal: Withdrawal) => void;
}) => {
  const walletOf = (id: string) => wallets.find(({ wallet_id }) => wallet_id === id);
  return (
    <Table
      label="All withdrawals"
      items={withdrawals}
      waiting="Loading your withdrawals…"
      keyOf={({ withdrawal_id }) => withdrawal_id}
      empty={<Empty title="No withdrawals yet">Withdrawals appear here with their progress.</Empty>}
      columns={[
        { heading: 'Started', show: ({ created_at }) => <Ago at={created_at} /> },
        {
          heading: 'From',
          show: ({ wallet_id }) => {
            const wallet = walletOf(wallet_id);
            return wallet === undefined ? null : nameOf(wallet);
          },
        },
        { heading: 'Amount', align: 'end', show: ({ amount }) => <Money micro={amount} /> },
        {
          heading: 'To',
          show: ({ destination_address }) => (
            <Copyable text={destination_address} label="destination" short />
          ),
        },
        {
          heading: 'Status',
          show: ({ status, failure, pending_until }) => (
            <>
              <Badge state={status} />
              {failure !== null && <div className="quiet">{failure.message}</div>}
              {status === 'pending_approval' && (
                <div className="quiet">
                  Sign before <Time at={pending_until} />
                </div>
              )}
            </>
          ),
        },
        {
          heading: 'Transaction',
          show: ({ tx_hash }) =>
            tx_hash === null ? null : <Copyable text={tx_hash} label="transaction" short />,
        },
        {
          heading: '',
          align: 'end',
          show: (withdrawal) =>
            withdrawal.status === 'pending_approval' ? (
              <Row>
                <Button size="small" onPress={() => onApprove(withdrawal)}>
                  Sign
                </Button>
                <Button size="small" variant="quiet-danger" onPress={() => onCancel(withdrawal)}>
                  Cancel
                </Button>
              </Row>
            ) : null,
        },
      ]}
    />
  );
};
