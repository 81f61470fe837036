import { type FormEvent, useState } from 'react';
import { useAction, useItems } from '../api/data.ts';
import { passkeySecret, registerPasskey } from '../api/passkeys.ts';
import { useSession } from '../api/use-session.tsx';
import {
  Button,
  Dialog,
  DialogActions,
  ErrorNotice,
  Loading,
  Notice,
  Stack,
  TextField,
  toast,
} from '../ui/index.ts';
import { isGroup } from './recovery-code.ts';
import { type PasskeySecret, random } from './vault.ts';
import { useWalletWorker, type WalletWorker } from './worker-client.ts';

type Made = Awaited<ReturnType<WalletWorker['make']>>;

/** The passkey has no PRF, so only the code can open the wallet. */
export class NoPrfError extends Error {
  constructor() {
    super(
      'This passkey cannot protect a wallet (it has no PRF). Use another passkey, or a recovery code only.',
    );
  }
}

/**
 * Creates a wallet in this browser: its key is wrapped by a passkey and by a printed code. The
 * wallet is created only after the user has proven to have the code.
 * @param onMade called with the id of the new wallet
 */
export const MakeDialog = ({
  onClose,
  onMade,
}: {
  onClose: () => void;
  onMade?: (walletId: string) => void;
}) => {
  const worker = useWalletWorker();
  const [label, setLabel] = useState('My wallet');
  const [made, setMade] = useState<Made | null>(null);
  const [checking, setChecking] = useState(false);
  const step = made === null ? 'begin' : checking ? 'check' : 'code';
  const titles = {
    begin: 'Create a wallet',
    code: 'Your recovery code',
    check: 'Confirm your recovery code',
  };
  return (
    <Dialog title={titles[step]} isOpen onClose={onClose} isFixed={made !== null}>
      {step === 'begin' && (
        <Begin worker={worker} label={label} onLabel={setLabel} onMade={setMade} onClose={onClose} />
      )}
      {step === 'code' && <ShowCode made={made!} onClose={onClose} onNext={() => setChecking(true)} />}
      {step === 'check' && (
        <CheckCode
          worker={worker!}
          made={made!}
          label={label.trim()}
          onBack={() => setChecking(false)}
          onDone={(walletId) => {
            onMade?.(walletId);
            onClose();
          }}
        />
      )}
    </Dialog>
  );
};

/** Makes the key, and first a passkey if the account has none. */
const useMake = ({
  worker,
  hasPasskey,
  onAdded,
  onMade,
}: {
  worker: WalletWorker | null;
  hasPasskey: boolean;
  onAdded: () => void;
  onMade: (made: Made) => void;
}) => {
  const [isAdding, setAdding] = useState(false);
  const make = useAction(
    async (_client, withPasskey: boolean) => {
      let passkey: PasskeySecret | null = null;
      if (withPasskey) {
        if (!hasPasskey) {
          setAdding(true);
          await registerPasskey('This device').finally(() => setAdding(false));
          onAdded();
        }
        const salt = random(32);
        const given = await passkeySecret({ salt });
        if (given === null) throw new NoPrfError();
        passkey = { kind: 'passkey', ...given, salt };
      }
      return worker!.make({ passkey });
    },
    { done: onMade },
  );
  return { make, isAdding };
};

const Begin = ({
  worker,
  label,
  onLabel,
  onMade,
  onClose,
}: {
  worker: WalletWorker | null;
  label: string;
  onLabel: (label: string) => void;
  onMade: (made: Made) => void;
  onClose: () => void;
}) => {
  const passkeys = useItems(['passkeys'], (client, cursor, options) =>
    client.identity.listPasskeys({ cursor }, options),
  );
  const hasPasskey = passkeys.data.length > 0;
  const { make, isAdding } = useMake({ worker, hasPasskey, onAdded: passkeys.again, onMade });
  if (worker === null || passkeys.isPending) return <Loading>Loading your passkeys…</Loading>;
  if (passkeys.error !== null) return <ErrorNotice error={passkeys.error} retry={passkeys.again} />;
  return (
    <Stack>
      <p>
        The key is created in this browser and encrypted with your passkey and a recovery code. We cannot open
        it or recover the code.
      </p>
      <TextField
        label="Wallet name"
        hint="Only you see it."
        value={label}
        onChange={onLabel}
        maxLength={64}
      />
      {!hasPasskey && (
        <Notice title="You have no passkey yet">
          We add one now. Your device will ask twice. Without a passkey, every signature needs the whole
          recovery code.
        </Notice>
      )}
      {make.error !== null && <ErrorNotice error={make.error} />}
      <DialogActions
        aside={
          (!hasPasskey || make.error instanceof NoPrfError) && (
            <Button
              variant="quiet"
              busy={make.isBusy && 'Creating the key…'}
              onPress={() => void make.run(false)}
            >
              Use a recovery code only
            </Button>
          )
        }
      >
        <Button onPress={onClose}>Cancel</Button>
        <Button
          variant="primary"
          busy={make.isBusy && (isAdding ? 'Adding a passkey…' : 'Waiting for your passkey…')}
          onPress={() => void make.run(true)}
        >
          Create with a passkey
        </Button>
      </DialogActions>
    </Stack>
  );
};

const ShowCode = ({ made, onClose, onNext }: { made: Made; onClose: () => void; onNext: () => void }) => (
  <Stack>
    <p>
      You will not see this code again. If you lose your passkey, it is the only way to open the wallet.
      Anyone who has it and can sign in to your account can spend the balance. Print it or write it down. Do
      not store it on this device.
    </p>
    <div className="sheet">
      <p className="print-only">Quittance · recovery code of wallet {made.address}</p>
      <code>{made.code}</code>
    </div>
    <DialogActions
      aside={
        <Button variant="quiet" onPress={() => print()}>
          Print
        </Button>
      }
    >
      <Button onPress={onClose}>Cancel</Button>
      <Button variant="primary" onPress={onNext}>
        I saved it
      </Button>
    </DialogActions>
  </Stack>
);

const ORDINALS = ['first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh'];

/** Two different groups of the code, chosen at random. */
const askedGroups = (): [number, number] => {
  const [a, b] = random(2) as unknown as [number, number];
  const one = a % 7;
  return [one, (one + 1 + (b % 6)) % 7].sort() as [number, number];
};

type Provision = { worker: WalletWorker; made: Made; label: string; onDone: (walletId: string) => void };

const useProvision = ({ worker, made, label, onDone }: Provision) => {
  const { account } = useSession();
  return useAction(
    async (client) => {
      // The proof is valid for five minutes, so it is made last.
      const proof = await worker.prove({ accountId: account!.account_id });
      const named = label === '' ? {} : { label };
      return client.wallet.provision({ public_key: made.address, proof, backup: made.backup, ...named });
    },
    {
      changes: [['wallets']],
      done: ({ wallet_id }) => {
        toast('Wallet created.');
        onDone(wallet_id);
      },
    },
  );
};

const CheckCode = ({ worker, made, label, onBack, onDone }: Provision & { onBack: () => void }) => {
  const { environment } = useSession();
  const [groups] = useState(askedGroups);
  const [typed, setTyped] = useState(['', '']);
  const [tried, setTried] = useState(false);
  const provision = useProvision({ worker, made, label, onDone });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (groups.every((group, at) => isGroup(made.code, group, typed[at]!))) void provision.run(undefined);
  };
  const wrong = (at: number) =>
    tried && !isGroup(made.code, groups[at]!, typed[at]!) ? 'This does not match the code.' : null;
  return (
    <form onSubmit={submit}>
      <Stack>
        <p>Enter these two of its seven groups.</p>
        {groups.map((group, at) => (
          <TextField
            key={group}
            label={`The ${ORDINALS[group]} group`}
            value={typed[at]!}
            onChange={(text) => setTyped(typed.map((each, index) => (index === at ? text : each)))}
            error={wrong(at)}
            maxLength={8}
            autoComplete="off"
            autoFocus={at === 0}
          />
        ))}
        {provision.error !== null && <ErrorNotice error={provision.error} />}
        <DialogActions
          aside={
            environment === 'test' && (
              <Button
                variant="quiet"
                isDisabled={provision.isBusy}
                onPress={() => void provision.run(undefined)}
              >
                Skip in test mode
              </Button>
            )
          }
        >
          <Button onPress={onBack}>Show the code again</Button>
          <Button type="submit" variant="primary" busy={provision.isBusy && 'Creating the wallet…'}>
            Create wallet
          </Button>
        </DialogActions>
      </Stack>
    </form>
  );
};
