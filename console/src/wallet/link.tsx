import type { WalletAccount } from '@wallet-standard/base';
import { useState } from 'react';
import { useAction } from '../api/data.ts';
import { useSession } from '../api/use-session.tsx';
import {
  Button,
  Dialog,
  DialogActions,
  ErrorNotice,
  Notice,
  Select,
  Stack,
  TextField,
  toast,
} from '../ui/index.ts';
import { type BrowserWallet, connect, signProof, useBrowserWallets } from './browser-wallets.ts';
import { proofMessage } from './proof.ts';

type Connected = { wallet: BrowserWallet; accounts: readonly WalletAccount[] };

/** Links a wallet of this browser by a signed message that names account, address and time. */
export const LinkDialog = ({ onClose }: { onClose: () => void }) => {
  const [connected, setConnected] = useState<Connected | null>(null);
  return (
    <Dialog title="Link a wallet" isOpen onClose={onClose}>
      {connected === null ? (
        <ChooseWallet onClose={onClose} onConnected={setConnected} />
      ) : (
        <ProveAccount connected={connected} onClose={onClose} />
      )}
    </Dialog>
  );
};

const ChooseWallet = ({
  onClose,
  onConnected,
}: {
  onClose: () => void;
  onConnected: (connected: Connected) => void;
}) => {
  const wallets = useBrowserWallets();
  const open = useAction(
    async (_client, wallet: BrowserWallet): Promise<Connected> => {
      const accounts = await connect(wallet);
      if (accounts.length === 0) throw new Error(`${wallet.name} shows no Solana account.`);
      return { wallet, accounts };
    },
    { done: onConnected },
  );
  return (
    <Stack>
      {wallets.length === 0 ? (
        <Notice tone="wait" title="No wallet found in this browser">
          Install one that supports the Wallet Standard, such as Phantom, Solflare or Backpack, and reload
          this page. Or create a wallet here.
        </Notice>
      ) : (
        <p>
          Choose a wallet. It signs a text that names your account, which moves no money and costs nothing.
        </p>
      )}
      {wallets.map((wallet) => (
        <Button
          key={wallet.name}
          variant={wallets.length === 1 ? 'primary' : 'plain'}
          busy={open.isBusy && `Waiting for ${wallet.name}…`}
          onPress={() => void open.run(wallet)}
        >
          {wallet.name}
        </Button>
      ))}
      {open.error !== null && <ErrorNotice error={open.error} />}
      <DialogActions>
        <Button onPress={onClose}>Cancel</Button>
      </DialogActions>
    </Stack>
  );
};

const ProveAccount = ({
  connected: { wallet, accounts },
  onClose,
}: {
  connected: Connected;
  onClose: () => void;
}) => {
  const { account: signedIn } = useSession();
  const [address, setAddress] = useState(accounts[0]!.address);
  const [label, setLabel] = useState(wallet.name.slice(0, 64));
  const link = useAction(
    async (client) => {
      const account = accounts.find((each) => each.address === address)!;
      const proof = await signProof(wallet, account, proofMessage(signedIn!.account_id, address));
      const named = label.trim() === '' ? {} : { label: label.trim() };
      return client.wallet.link({ public_key: address, proof, ...named });
    },
    {
      changes: [['wallets']],
      done: () => {
        toast('Wallet linked.');
        onClose();
      },
    },
  );
  return (
    <Stack>
      {accounts.length > 1 ? (
        <Select
          label="Account"
          value={address}
          onChange={setAddress}
          options={accounts.map((each) => [each.address, each.label ?? each.address] as const)}
        />
      ) : (
        <p>
          {wallet.name} shares <code>{address}</code>
        </p>
      )}
      <TextField
        label="Wallet name"
        hint="Only you see it."
        value={label}
        onChange={setLabel}
        maxLength={64}
      />
      {link.error !== null && <ErrorNotice error={link.error} />}
      <DialogActions>
        <Button onPress={onClose}>Cancel</Button>
        <Button
          variant="primary"
          busy={link.isBusy && `Waiting for ${wallet.name}…`}
          onPress={() => void link.run(undefined)}
        >
          Sign and link
        </Button>
      </DialogActions>
    </Stack>
  );
};
