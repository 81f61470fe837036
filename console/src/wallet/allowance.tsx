import { type FormEvent, useState } from 'react';
import { useAction } from '../api/data.ts';
import { session } from '../api/store.ts';
import { fieldUsdc, NOT_AN_AMOUNT, typedUsdc } from '../lib/money.ts';
import { AmountField, Button, Dialog, DialogActions, ErrorNotice, Stack, toast } from '../ui/index.ts';
import type { Prepared } from './prepared.ts';
import { SignDialog, type Wallet } from './signing.tsx';

const CHANGES = [['wallets'], ['wallet']];

/**
 * Approves an allowance for the platform: entered, shown as it will be signed, signed, submitted.
 * @param given the allowance in micro-units if it is known already; nothing is entered then
 * @param onAllowed called when the chain has confirmed it
 */
export const AllowanceDialog = ({
  wallet,
  allowance: given = null,
  onClose,
  onAllowed,
}: {
  wallet: Wallet;
  allowance?: bigint | null;
  onClose: () => void;
  onAllowed?: () => void;
}) => {
  const { allowance: now } = wallet.delegation;
  const [typed, setTyped] = useState(now === '0' ? '' : fieldUsdc(now));
  const [tried, setTried] = useState(false);
  const [allowance, setAllowance] = useState<bigint | null>(given);
  const submitted = useSubmit('delegate', 'Spending is allowed.', onAllowed);
  const { wallet_id } = wallet;
  if (allowance !== null) {
    return (
      <SignDialog
        title="Allow spending"
        wallet={wallet}
        wanted={{ kind: 'approve', allowance }}
        prepare={() => session.get().client.wallet.onboarding({ wallet_id, allowance: allowance.toString() })}
        submit={(transaction) => submitted.runOrThrow({ wallet_id, transaction })}
        onClose={onClose}
      />
    );
  }
  const choose = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    setAllowance(typedUsdc(typed));
  };
  return (
    <Dialog title={now === '0' ? 'Allow spending' : 'Change the spending limit'} isOpen onClose={onClose}>
      <form onSubmit={choose}>
        <Stack>
          <AmountField
            label="Spending limit"
            hint="For all payments until you change it. It replaces the current limit and may exceed the balance."
            value={typed}
            onChange={setTyped}
            error={tried && typedUsdc(typed) === null ? NOT_AN_AMOUNT : null}
            autoFocus
          />
          <DialogActions>
            <Button onPress={onClose}>Cancel</Button>
            <Button type="submit" variant="primary">
              Continue
            </Button>
          </DialogActions>
        </Stack>
      </form>
    </Dialog>
  );
};

/** Revokes the allowance of the platform. */
export const RevokeDialog = ({ wallet, onClose }: { wallet: Wallet; onClose: () => void }) => {
  const submitted = useSubmit('revoke', 'Quittance can no longer spend from this wallet.');
  const { wallet_id } = wallet;
  return (
    <SignDialog
      title="Revoke the spending limit"
      wallet={wallet}
      wanted={{ kind: 'revoke' }}
      prepare={async () => (await session.get().client.wallet.revoke({ wallet_id })) as Prepared}
      submit={(transaction) => submitted.runOrThrow({ wallet_id, transaction })}
      onClose={onClose}
    />
  );
};

/** Submits a signed delegation. If the chain takes longer, the answer is `pending`. */
const useSubmit = (name: 'delegate' | 'revoke', text: string, onConfirmed?: () => void) =>
  useAction((client, signed: { wallet_id: string; transaction: string }) => client.wallet[name](signed), {
    changes: CHANGES,
    done: (answer) => {
      const isPending = 'delegation' in answer && answer.delegation.status === 'pending';
      toast(isPending ? 'Sent. The chain has not confirmed it yet.' : text);
      if (!isPending) onConfirmed?.();
    },
  });

/** Test funds, in the test environment. */
export const TestMoneyDialog = ({ wallet, onClose }: { wallet: Wallet; onClose: () => void }) => {
  const [typed, setTyped] = useState('100');
  const amount = typedUsdc(typed);
  const fund = useAction(
    (client, micro: bigint) =>
      client.funding.devFund({ wallet_id: wallet.wallet_id, amount: micro.toString() }),
    {
      changes: CHANGES,
      done: () => {
        toast('Test money received.');
        onClose();
      },
    },
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (amount !== null) void fund.run(amount);
  };
  return (
    <Dialog title="Get test money" isOpen onClose={onClose}>
      <form onSubmit={submit}>
        <Stack>
          <AmountField
            label="Amount"
            hint="Test money has no value. At most 10,000 at a time."
            value={typed}
            onChange={setTyped}
            error={amount === null ? NOT_AN_AMOUNT : null}
            autoFocus
          />
          {fund.error !== null && <ErrorNotice error={fund.error} />}
          <DialogActions>
            <Button onPress={onClose}>Cancel</Button>
            <Button type="submit" variant="primary" busy={fund.isBusy && 'Waiting for the chain…'}>
              Get test money
            </Button>
          </DialogActions>
        </Stack>
      </form>
    </Dialog>
  );
};
