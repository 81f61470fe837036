import { useState } from 'react';
import type { Output } from '../../../sdk/src/main.ts';
import { useAction } from '../lib/data.ts';
import {
  Button,
  Copyable,
  DialogActions,
  ErrorNotice,
  Facts,
  Money,
  Notice,
  Stack,
  TextField,
  toast,
} from '../ui/index.ts';
import { type BrowserWallet, signByWallet, useBrowserWallets } from '../wallet/browser-wallets.ts';
import { Countdown } from './countdown.tsx';
import type { Refund } from './settlement-story.ts';
import './vendor.css';

type Prepared = Output<'funding.createRefund'>;
type Submitted = Output<'funding.submitRefund'>;
const isPrepared = (refund: Refund | Prepared | Submitted): refund is Prepared => 'transaction' in refund;

/** What a person has to look at in their wallet before its transaction runs out. */
const LEAST_MS = 20_000;

/**
 * The signature of the payout address under a refund: by a wallet of this browser, or brought from elsewhere. A transaction
 * that would run out while it is looked at is prepared afresh first; at most one of a refund is ever carried out.
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
  const [prepared, setPrepared] = useState<Prepared | null>(isPrepared(refund) ? refund : null);
  const [signing, setSigning] = useState<string | null>(null);
  const wallets = useBrowserWallets();

  const afresh = useAction((client) => client.funding.submitRefund({ refund_id }), {
    changes,
    done: (answer) => isPrepared(answer) && setPrepared(answer),
  });
  const submit = useAction(
    (client, transaction: string) => client.funding.submitRefund({ refund_id, transaction }),
    {
      changes,
      done: ({ status }) => {
        toast(status === 'submitted' ? 'The refund is on its way.' : 'The refund is paid.');
        onClose();
      },
    },
  );
  const sign = useAction(async (client, wallet: BrowserWallet) => {
    let now: Refund | Prepared | Submitted | null = prepared;
    if (now === null || !isPrepared(now) || Date.parse(now.expires_at) - Date.now() < LEAST_MS)
      now = await client.funding.submitRefund({ refund_id });
    if (!isPrepared(now)) return null;
    setPrepared(now);
    return signByWallet(wallet, payout_address, now.transaction);
  });
  const signBy = async (wallet: BrowserWallet) => {
    submit.reset();
    setSigning(wallet.name);
    const transaction = await sign.run(wallet);
    setSigning(null);
    if (typeof transaction === 'string') await submit.run(transaction);
    else if (transaction === null) onClose();
  };
  const error = sign.error ?? submit.error ?? afresh.error;
  return (
    <Stack>
      <Facts
        of={[
          ['Gives back', <Money key="amount" micro={amount} />],
          ['To', <Copyable key="to" text={destination_address} label="address of the payer" />],
          ['Signed by', <Copyable key="by" text={payout_address} label="payout address" />],
        ]}
      />
      {wallets.length === 0 ? (
        <Notice title="No wallet was found in this browser">
          Open this page where the payout wallet is, or sign it elsewhere, below. The refund waits for 24
          hours.
        </Notice>
      ) : (
        <div className="wallet-list">
          {wallets.map((wallet) => (
            <Button
              key={wallet.name}
              variant="primary"
              busy={
                (signing === wallet.name && `Waiting for ${wallet.name}…`) ||
                (submit.isBusy && 'Paying the refund…')
              }
              isDisabled={signing !== null && signing !== wallet.name}
              onPress={() => void signBy(wallet)}
            >
              <img className="wallet-icon" src={wallet.icon} alt="" /> Sign with {wallet.name}
            </Button>
          ))}
        </div>
      )}
      {error !== null && <ErrorNotice error={error} />}
      <SignElsewhere
        prepared={prepared}
        busy={afresh.isBusy}
        submitting={submit.isBusy}
        onPrepare={() => void afresh.run(undefined)}
        onSubmit={(transaction) => void submit.run(transaction)}
      />
      <DialogActions>
        <Button onPress={onClose}>Later</Button>
      </DialogActions>
    </Stack>
  );
};

/** For a wallet that is no browser's: a multisig, a hardware signer, a program. */
const SignElsewhere = ({
  prepared,
  busy,
  submitting,
  onPrepare,
  onSubmit,
}: {
  prepared: Prepared | null;
  busy: boolean;
  submitting: boolean;
  onPrepare: () => void;
  onSubmit: (transaction: string) => void;
}) => {
  const [signed, setSigned] = useState('');
  return (
    <details>
      <summary>Sign it elsewhere</summary>
      <Stack>
        <p className="quiet">
          The transaction in base64, good for about a minute: sign it with the payout address’s key and bring
          it back.
        </p>
        {prepared !== null && (
          <>
            <Copyable block text={prepared.transaction} label="transaction to sign" />
            <p className="quiet">
              It runs out in <Countdown until={prepared.expires_at} over="this moment: prepare it afresh" />.
            </p>
          </>
        )}
        <div>
          <Button size="small" busy={busy && 'Preparing…'} onPress={onPrepare}>
            {prepared === null ? 'Prepare it' : 'Prepare it afresh'}
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
            busy={submitting && 'Paying the refund…'}
            onPress={() => onSubmit(signed.trim())}
          >
            Submit it
          </Button>
        </div>
      </Stack>
    </details>
  );
};
