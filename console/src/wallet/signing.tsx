import { type FormEvent, type ReactNode, useState } from 'react';
import type { Client, Output } from '../../../sdk/src/main.ts';
import { useAction } from '../api/data.ts';
import { passkeySecret } from '../api/passkeys.ts';
import {
  Button,
  Copyable,
  Dialog,
  DialogActions,
  ErrorNotice,
  Loading,
  Money,
  Notice,
  Properties,
  Stack,
  TextField,
} from '../ui/index.ts';
import { type BrowserWallet, holderOf, signByWallet, useBrowserWallets } from './browser-wallets.ts';
import { type Prepared, usePrepared } from './prepared.ts';
import type { Deed, Wanted } from './read-transaction.ts';
import { passkeysOf, readBackup, type Secret } from './vault.ts';
import { WalletError } from './worker-client.ts';

export type Wallet = Output<'wallet.list'>['data'][number];
/** What opens the key of a wallet that was created here. */
export type KeySecret = { by: 'passkey' } | { by: 'code'; code: string };
/** How the user signs: with a secret that opens the key, or with a wallet of the browser. */
type How = KeySecret | { by: 'wallet'; wallet: BrowserWallet };

/**
 * Opens the key of a wallet that was created here, and signs a prepared transaction with it.
 * @param ready the transaction with the terms that it was read with; the worker reads it again
 * @param onDoing called with what happens now
 * @returns the signed transaction, base64
 * @throws WalletError when the secret does not open the key, or the transaction is another
 */
export const signByKey = async (
  client: Client,
  { wallet_id, address }: Pick<Wallet, 'wallet_id' | 'address'>,
  how: KeySecret,
  ready: ReturnType<typeof usePrepared>['ready'],
  onDoing: (text: string) => void,
): Promise<string> => {
  onDoing('Loading the key…');
  const { backup } = await client.wallet.backup({ wallet_id });
  onDoing(how.by === 'code' ? 'Opening the key…' : 'Waiting for your passkey…');
  const secret: Secret =
    how.by === 'code' ? { kind: 'code', code: how.code } : await byPasskey(backup, address);
  onDoing('Signing…');
  const { worker, terms, transaction } = await ready();
  return worker.sign({ transaction, ...terms, backup, secret });
};

/**
 * Shows what a prepared transaction does, as read from its bytes, and lets the wallet's owner sign.
 * @param prepare requests the transaction, again after about a minute when it has expired
 * @param submit sends it back signed
 */
export const SignDialog = ({
  title,
  wallet,
  wanted,
  prepare,
  submit,
  onClose,
  children,
}: {
  title: string;
  wallet: Wallet;
  wanted: Wanted;
  prepare: () => Promise<Prepared>;
  submit: (transaction: string) => Promise<unknown>;
  onClose: () => void;
  children?: ReactNode;
}) => {
  const { read, error, afresh, ready, discard } = usePrepared(wallet.address, wanted, prepare);
  const [doing, setDoing] = useState('');
  const send = (signed: string) => {
    discard();
    return submit(signed);
  };
  const sign = useAction(
    async (client, how: How) => {
      if (how.by === 'wallet') {
        setDoing(`Waiting for ${how.wallet.name}…`);
        const { transaction } = await ready();
        return send(await signByWallet(how.wallet, wallet.address, transaction));
      }
      const signed = await signByKey(client, wallet, how, ready, setDoing);
      setDoing('Waiting for the chain…');
      return send(signed);
    },
    { done: onClose },
  );
  const doingNow = sign.isBusy && doing;
  return (
    <Dialog title={title} isOpen onClose={onClose} isFixed={sign.isBusy}>
      <Stack>
        {children}
        {error !== null && (
          <>
            <Problem error={error} retry={afresh} />
            <DialogActions>
              <Button onPress={onClose}>Close</Button>
            </DialogActions>
          </>
        )}
        {read === null ? (
          error === null && <Loading>Preparing the transaction…</Loading>
        ) : (
          <>
            <DeedProperties deed={read.deed} wallet={wallet} />
            {sign.error !== null && <Problem error={sign.error} />}
            {wallet.kind === 'provisioned' ? (
              <SignByKey busy={doingNow} onClose={onClose} onSign={sign.run} />
            ) : (
              <SignByWallet wallet={wallet} busy={doingNow} onClose={onClose} onSign={sign.run} />
            )}
          </>
        )}
      </Stack>
    </Dialog>
  );
};

/** A refusal of the worker is meant for the user, not for support. */
export const Problem = ({ error, retry }: { error: unknown; retry?: () => void }) =>
  error instanceof WalletError ? (
    <Notice
      tone="bad"
      title={error.name === 'LockedError' ? 'The wallet was not opened' : 'Nothing was signed'}
    >
      {error.message}
    </Notice>
  ) : (
    <ErrorNotice error={error} retry={retry} />
  );

const byPasskey = async (backup: string, address: string): Promise<Secret> => {
  const among = passkeysOf(readBackup(backup, address));
  if (among.length === 0)
    throw new Error('This wallet was created without a passkey. Use the recovery code.');
  const given = await passkeySecret({ among });
  if (given === null)
    throw new Error('The passkey of this device cannot open wallets. Use the recovery code.');
  return { kind: 'passkey', ...given };
};

/** What the transaction does. All values were read from the bytes to be signed. */
const DeedProperties = ({ deed, wallet }: { deed: Deed; wallet: Wallet }) => {
  const { delegate } = wallet.delegation;
  return (
    <div className="deed">
      {deed.kind === 'approve' && (
        <>
          <p>
            Quittance may spend up to <Money micro={deed.allowance} /> from this wallet, for payments that you
            or your agents make. No money moves now. You can revoke this at any time.
          </p>
          <Properties
            of={[
              ['Replaces', delegate !== null && <Money micro={wallet.delegation.allowance} />],
              // Whole, because an address is forged by its beginning and its end.
              ['Spender', <Copyable key="to" text={deed.delegate} label="spender’s address" block />],
            ]}
          />
          {delegate !== null && delegate !== deed.delegate && (
            <Notice tone="wait">Another address may spend now. This replaces it.</Notice>
          )}
        </>
      )}
      {deed.kind === 'revoke' && (
        <p>
          Quittance can no longer spend from this wallet. Your payments and those of your agents are refused
          until you allow spending again.
        </p>
      )}
      {deed.kind === 'transfer' && (
        <>
          <p>
            Send <Money micro={deed.amount} large />
          </p>
          <Properties
            of={[
              ['To', <code key="to">{deed.destination}</code>],
              ['Token account', <Copyable key="at" text={deed.tokenAccount} label="token account" block />],
            ]}
          />
        </>
      )}
      <ReadFromIt deed={deed} />
    </div>
  );
};

/** Where the shown values come from, and who pays the fee. */
export const ReadFromIt = ({ deed }: { deed: Deed }) => (
  <p className="quiet">
    Decoded from the transaction you are signing. Quittance pays the network fee
    {deed.creates && ' and creates the token account'}.
  </p>
);

type SignProps<How> = {
  busy: string | false;
  onClose: () => void;
  onSign: (how: How) => unknown;
  /** The label of the button that closes. */
  close?: string;
};

/** The field for the recovery code. */
export const CodeField = ({ value, onChange }: { value: string; onChange: (typed: string) => void }) => (
  <TextField
    label="Recovery code"
    hint="Seven groups of four characters. Used for this signature only and not stored."
    value={value}
    onChange={onChange}
    autoComplete="off"
    spellCheck="false"
    isRequired
    autoFocus
  />
);

/** Signs with the passkey of a wallet that was created here, or with its recovery code. */
export const SignByKey = ({ busy, onClose, onSign, close = 'Cancel' }: SignProps<KeySecret>) => {
  const [withCode, setWithCode] = useState(false);
  const [code, setCode] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void onSign({ by: 'code', code });
  };
  if (!withCode) {
    return (
      <DialogActions
        aside={
          <Button variant="quiet" onPress={() => setWithCode(true)} isDisabled={busy !== false}>
            Use the recovery code
          </Button>
        }
      >
        <Button onPress={onClose} isDisabled={busy !== false}>
          {close}
        </Button>
        <Button variant="primary" busy={busy} onPress={() => onSign({ by: 'passkey' })}>
          Sign with your passkey
        </Button>
      </DialogActions>
    );
  }
  return (
    <form onSubmit={submit}>
      <Stack>
        <CodeField value={code} onChange={setCode} />
        <DialogActions>
          <Button onPress={() => setWithCode(false)} isDisabled={busy !== false}>
            Back
          </Button>
          <Button type="submit" variant="primary" busy={busy}>
            Sign with the code
          </Button>
        </DialogActions>
      </Stack>
    </form>
  );
};

const SignByWallet = ({ wallet, busy, onClose, onSign }: SignProps<How> & { wallet: Wallet }) => {
  const wallets = useBrowserWallets();
  const known = holderOf(wallets, wallet);
  return (
    <>
      {wallets.length === 0 && (
        <Notice tone="wait" title="No wallet in this browser">
          Open this page in the browser that has the wallet, or turn its extension on.
        </Notice>
      )}
      {wallets
        .filter((each) => each !== known)
        .map((each) => (
          <Button key={each.name} busy={busy} onPress={() => onSign({ by: 'wallet', wallet: each })}>
            {`Sign with ${each.name}`}
          </Button>
        ))}
      <DialogActions>
        <Button onPress={onClose} isDisabled={busy !== false}>
          Cancel
        </Button>
        {known !== null && (
          <Button variant="primary" busy={busy} onPress={() => onSign({ by: 'wallet', wallet: known })}>
            {`Sign with ${known.name}`}
          </Button>
        )}
      </DialogActions>
    </>
  );
};
