import { type FormEvent, useState } from 'react';
import { useAction } from '../api/data.ts';
import { passkeySecret } from '../api/passkeys.ts';
import { useSession } from '../api/use-session.tsx';
import { Button, Dialog, DialogActions, Stack, toast } from '../ui/index.ts';
import { NoPrfError } from './create-wallet.tsx';
import { CodeField, Problem, type Wallet } from './signing.tsx';
import { random } from './vault.ts';
import { useWalletWorker } from './worker-client.ts';

/**
 * Adds a passkey to a wallet that was created here: for another device, or after a loss. It needs
 * the code.
 */
export const AddPasskeyDialog = ({ wallet, onClose }: { wallet: Wallet; onClose: () => void }) => {
  const worker = useWalletWorker();
  const { account } = useSession();
  const [code, setCode] = useState('');
  const { wallet_id, address } = wallet;
  const add = useAction(
    async (client, typed: string) => {
      const { backup: replaces } = await client.wallet.backup({ wallet_id });
      const salt = random(32);
      const given = await passkeySecret({ salt });
      if (given === null) throw new NoPrfError();
      const { backup, proof } = await worker!.addPasskey({
        accountId: account!.account_id,
        address,
        backup: replaces,
        secret: { kind: 'code', code: typed },
        passkey: { kind: 'passkey', ...given, salt },
      });
      return client.wallet.replaceBackup({ wallet_id, proof, replaces, backup });
    },
    {
      done: () => {
        toast('This passkey can now open the wallet.');
        onClose();
      },
    },
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (worker !== null) void add.run(code);
  };
  return (
    <Dialog title="Add a passkey to this wallet" isOpen onClose={onClose} isFixed={add.isBusy}>
      <form onSubmit={submit}>
        <Stack>
          <p>
            For a new device, or if you lost a passkey. If this device has no passkey yet, add one under
            Account first. Your other passkeys and the recovery code keep working.
          </p>
          <CodeField value={code} onChange={setCode} />
          {add.error !== null && <Problem error={add.error} />}
          <DialogActions>
            <Button onPress={onClose} isDisabled={add.isBusy}>
              Cancel
            </Button>
            <Button type="submit" variant="primary" busy={add.isBusy && 'Waiting for your passkey…'}>
              Choose a passkey
            </Button>
          </DialogActions>
        </Stack>
      </form>
    </Dialog>
  );
};
