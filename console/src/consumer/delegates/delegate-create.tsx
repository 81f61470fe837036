import { type FormEvent, useState } from 'react';
import { COUNTED_NAMES } from '../../../../sdk/src/generated/limits.ts';
import { displayUsdc } from '../../../../sdk/src/generated/usdc.ts';
import type { Output } from '../../../../sdk/src/main.ts';
import { useAction } from '../../api/data.ts';
import { Button, Dialog, DialogActions, ErrorNotice, Notice, Select, Stack } from '../../ui/index.ts';
import { nameOf } from '../../wallet/select-wallet.tsx';
import { DelegateFields, useTyped } from './delegate-fields.tsx';
import { newBody, typedOf } from './delegate-form.ts';
import { KeyShown } from './delegate-key.tsx';

type Wallet = Output<'wallet.list'>['data'][number];
type Created = Output<'identity.createDelegate'>;

/** Safe for a first try. The user changes or empties them. In USDC, as typed. */
const FIRST_LIMITS = { per_payment: '1.00', daily: '5.00' };

/** Creates a delegate and shows its key once. */
export const CreateDelegate = ({ wallets, onClose }: { wallets: readonly Wallet[]; onClose: () => void }) => {
  const form = useTyped({ ...typedOf(null), ...FIRST_LIMITS });
  const [walletId, setWalletId] = useState(wallets[0]?.wallet_id ?? '');
  const [created, setCreated] = useState<Created | null>(null);
  const create = useAction(
    (client, body: ReturnType<typeof newBody>) =>
      client.identity.createDelegate({ ...body, wallet_id: walletId }),
    { changes: [['delegates']], done: setCreated },
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (form.check()) void create.run(newBody(form.typed));
  };
  if (created !== null) {
    return (
      <Dialog title={`Key of “${created.name}”`} isOpen isFixed wide onClose={onClose}>
        <KeyShown
          apiKey={'api_key' in created ? created.api_key : null}
          perPayment={created.limits.per_payment}
          onClose={onClose}
        />
      </Dialog>
    );
  }
  return (
    <Dialog title="New agent" isOpen isFixed={create.isBusy} onClose={onClose}>
      <form onSubmit={submit}>
        <Stack>
          <DelegateFields {...form} />
          {wallets.length > 1 && (
            <Select
              label="Pays from"
              value={walletId}
              onChange={setWalletId}
              options={wallets.map(({ wallet_id, label, address, balance }) => [
                wallet_id,
                `${nameOf({ label, address })} (${displayUsdc(balance)})`,
              ])}
            />
          )}
          {COUNTED_NAMES.every((name) => form.typed[name].trim() === '') && (
            <Notice tone="wait">
              Set a daily, monthly or total limit. Otherwise this key can spend the whole spending limit.
            </Notice>
          )}
          {create.error !== null && <ErrorNotice error={create.error} />}
          <DialogActions>
            <Button onPress={onClose} isDisabled={create.isBusy}>
              Cancel
            </Button>
            <Button type="submit" variant="primary" busy={create.isBusy && 'Creating the agent…'}>
              Create and show the key
            </Button>
          </DialogActions>
        </Stack>
      </form>
    </Dialog>
  );
};
