import { useRef, useState } from 'react';
import type { Output } from '../../../../sdk/src/main.ts';
import { useAction, useItems } from '../../api/data.ts';
import { session } from '../../api/store.ts';
import { Countdown } from '../../lib/countdown.tsx';
import type { Refund } from '../../payments/settlement-history.ts';
import {
  Button,
  Copyable,
  DialogActions,
  Loading,
  Money,
  Notice,
  Properties,
  Stack,
  TextField,
  toast,
} from '../../ui/index.ts';
import {
  type BrowserWallet,
  holderOf,
  signByWallet,
  useBrowserWallets,
} from '../../wallet/browser-wallets.ts';
import { type Read, usePrepared } from '../../wallet/prepared.ts';
import {
  type KeySecret,
  Problem,
  ReadFromIt,
  SignByKey,
  signByKey,
  type Wallet,
} from '../../wallet/signing.tsx';
import '../../payments/payments.css';

type Prepared = Output<'funding.createRefund'>;
type Submitted = Output<'funding.submitRefund'>;
const isPrepared = (refund: Refund | Prepared | Submitted): refund is Prepared => 'transaction' in refund;

/**
 * The signature of the payout address under a refund: by a wallet of this console, by a wallet of
 * this browser, or pasted from elsewhere. Each gets the transaction only after it was read, and the
 * user sees its content. A transaction that expires meanwhile is prepared again first. At most one
 * transaction of a refund is ever executed.
 */
export const SignRefund = ({
  refund,
  changes,
  onClose,
}: {
  refund: Refund | Prepared;
  changes: readonly (readonly unknown[])[];
  onClose: () => void;
}) => {
  const { refund_id, amount, payout_address, destination_address } = refund;
  const first = useRef<Prepared | null>(isPrepared(refund) ? refund : null);
  const [signing, setSigning] = useState<string | null>(null);
  const prepare = async () => {
    const now = first.current ?? (await session.get().client.funding.submitRefund({ refund_id }));
    first.current = null;
    if (!isPrepared(now)) throw new Error('This refund has already been submitted.');
    return now;
  };
  const wanted = { kind: 'transfer', amount: BigInt(amount), destination: destination_address } as const;
  const prepared = usePrepared(payout_address, wanted, prepare);
  const submit = useAction(
    (client, transaction: string) => client.funding.submitRefund({ refund_id, transaction }),
    {
      changes,
      done: ({ status }) => {
        toast(status === 'submitted' ? 'Refund sent.' : 'Refund paid.');
        onClose();
      },
    },
  );
  const sign = useAction(async (_client, wallet: BrowserWallet) =>
    signByWallet(wallet, payout_address, (await prepared.ready()).transaction),
  );
  const signBy = async (wallet: BrowserWallet) => {
    submit.reset();
    setSigning(wallet.name);
    const transaction = await sign.run(wallet);
    setSigning(null);
    if (transaction !== undefined) await submit.run(transaction);
  };
  const own = useOwnWallet(payout_address);
  const [doing, setDoing] = useState('');
  const signOwn = useAction(async (client, { wallet, how }: { wallet: Wallet; how: KeySecret }) => {
    const transaction = await signByKey(client, wallet, how, prepared.ready, setDoing);
    setDoing('Sending the refund…');
    prepared.discard();
    return submit.runOrThrow(transaction);
  });
  if (prepared.error !== null)
    return (
      <Stack>
        <Problem error={prepared.error} retry={prepared.afresh} />
        <DialogActions>
          <Button onPress={onClose}>Later</Button>
        </DialogActions>
      </Stack>
    );
  const { read } = prepared;
  const deed = read?.deed;
  if (deed?.kind !== 'transfer' || read === null) return <Loading>Preparing the transaction…</Loading>;
  const error = sign.error ?? signOwn.error ?? submit.error;
  return (
    <Stack>
      <WhatIsSigned deed={deed} payoutAddress={payout_address} />
      {own === null && (
        <BrowserWallets
          payout={payout_address}
          signing={signing}
          isSubmitting={submit.isBusy}
          onSign={(wallet) => void signBy(wallet)}
        />
      )}
      {error !== null && <Problem error={error} />}
      <SignElsewhere
        prepared={read}
        busy={prepared.isBusy}
        onPrepare={prepared.afresh}
        submitting={submit.isBusy}
        onSubmit={(transaction) => void submit.run(transaction)}
      />
      {own !== null ? (
        <SignByKey
          busy={signOwn.isBusy && doing}
          close="Later"
          onClose={onClose}
          onSign={(how) => void signOwn.run({ wallet: own, how })}
        />
      ) : (
        <DialogActions>
          <Button onPress={onClose}>Later</Button>
        </DialogActions>
      )}
    </Stack>
  );
};

type TransferDeed = Extract<Read['deed'], { kind: 'transfer' }>;

/** The content of the transaction, as this page has read it. */
const WhatIsSigned = ({ deed, payoutAddress }: { deed: TransferDeed; payoutAddress: string }) => {
  const toOwner = deed.destination !== deed.tokenAccount;
  return (
    <>
      <p>
        Refund <Money micro={deed.amount} large /> from your payout address to the payer.
      </p>
      <Properties
        of={[
          [
            'To',
            // The refund of another protocol goes to the token account that paid.
            toOwner && <Copyable key="to" block text={deed.destination} label="address of the payer" />,
          ],
          ['Token account', <Copyable key="at" block text={deed.tokenAccount} label="token account" />],
          ['Signed by', <Copyable key="by" block text={payoutAddress} label="payout address" />],
        ]}
      />
      <ReadFromIt deed={deed} />
    </>
  );
};

/** The wallet of this account that has the payout address, if its key was created here. */
const useOwnWallet = (payoutAddress: string): Wallet | null => {
  const wallets = useItems(['wallets', 'all'], (client, cursor, options) =>
    client.wallet.list({ cursor, limit: '100' }, options),
  );
  return (
    wallets.data.find(({ address, kind }) => address === payoutAddress && kind === 'provisioned') ?? null
  );
};

const BrowserWallets = ({
  payout,
  signing,
  isSubmitting,
  onSign,
}: {
  payout: string;
  signing: string | null;
  isSubmitting: boolean;
  onSign: (wallet: BrowserWallet) => void;
}) => {
  const wallets = useBrowserWallets();
  return wallets.length === 0 ? (
    <Notice title="No wallet in this browser">
      Open this page in the browser that has the payout wallet, or sign elsewhere below. You have 24 hours.
    </Notice>
  ) : (
    <div className="wallet-list">
      {wallets.map((wallet) => (
        <Button
          key={wallet.name}
          variant={wallet === holderOf(wallets, { address: payout, label: null }) ? 'primary' : 'plain'}
          busy={
            (signing === wallet.name && `Waiting for ${wallet.name}…`) ||
            (isSubmitting && 'Sending the refund…')
          }
          isDisabled={signing !== null && signing !== wallet.name}
          onPress={() => onSign(wallet)}
        >
          <img className="wallet-icon" src={wallet.icon} alt="" /> Sign with {wallet.name}
        </Button>
      ))}
    </div>
  );
};

/** For a wallet outside of the browser: a multisig, a hardware signer, a program. */
const SignElsewhere = ({
  prepared,
  busy,
  submitting,
  onPrepare,
  onSubmit,
}: {
  prepared: Read;
  busy: boolean;
  submitting: boolean;
  onPrepare: () => void;
  onSubmit: (transaction: string) => void;
}) => {
  const [signed, setSigned] = useState('');
  return (
    <details>
      <summary>Sign elsewhere</summary>
      <Stack>
        <p className="quiet">
          The transaction in base64, valid for about a minute. Sign it with the key of the payout address,
          then paste it below.
        </p>
        <Copyable block text={prepared.transaction} label="transaction to sign" />
        <p className="quiet">
          Expires in <Countdown until={prepared.expires_at} over="0 s: prepare again" />
        </p>
        <div>
          <Button size="small" busy={busy && 'Preparing…'} onPress={onPrepare}>
            Prepare again
          </Button>
        </div>
        <TextField
          label="Signed transaction"
          lines={4}
          value={signed}
          onChange={setSigned}
          spellCheck="false"
        />
        <div>
          <Button
            isDisabled={signed.trim() === ''}
            busy={submitting && 'Sending the refund…'}
            onPress={() => onSubmit(signed.trim())}
          >
            Submit
          </Button>
        </div>
      </Stack>
    </details>
  );
};
