import { type FormEvent, useState } from 'react';
import { displayUsdc } from '../../../../sdk/src/generated/usdc.ts';
import type { Output } from '../../../../sdk/src/main.ts';
import { useAction } from '../../api/data.ts';
import { fieldUsdc, NOT_AN_AMOUNT, typedUsdc } from '../../lib/money.ts';
import type { Settlement } from '../../payments/sales-figures.ts';
import type { Refund } from '../../payments/settlement-history.ts';
import {
  AmountField,
  Button,
  Dialog,
  DialogActions,
  ErrorNotice,
  Money,
  Notice,
  Stack,
  TextField,
} from '../../ui/index.ts';
import { SignRefund } from './refund-signing.tsx';

type Prepared = Output<'funding.createRefund'>;

/** Creates a refund, from the amount to the submission, or signs one that was prepared before. */
export const RefundDialog = ({
  settlement,
  left,
  refund,
  changes,
  onClose,
}: {
  settlement: Settlement;
  /** What is left of the net amount, in micro-units. */
  left: bigint;
  refund: Refund | null;
  changes: readonly (readonly unknown[])[];
  onClose: () => void;
}) => {
  const [prepared, setPrepared] = useState<Prepared | null>(null);
  const toSign = prepared ?? refund;
  return (
    <Dialog
      title={toSign === null ? 'Refund' : 'Sign the refund'}
      isOpen
      wide
      isFixed={prepared !== null}
      onClose={onClose}
    >
      {toSign === null ? (
        <Prepare
          settlement={settlement}
          left={left}
          changes={changes}
          onPrepared={setPrepared}
          onClose={onClose}
        />
      ) : (
        <SignRefund refund={toSign} changes={changes} onClose={onClose} />
      )}
    </Dialog>
  );
};

const Prepare = ({
  settlement: { settlement_id, status, units_remaining },
  left,
  changes,
  onPrepared,
  onClose,
}: {
  settlement: Settlement;
  left: bigint;
  changes: readonly (readonly unknown[])[];
  onPrepared: (refund: Prepared) => void;
  onClose: () => void;
}) => {
  const [amount, setAmount] = useState(fieldUsdc(left));
  const [reason, setReason] = useState('');
  const [wrong, setWrong] = useState<string | null>(null);
  const prepare = useAction(
    async (client, input: { amount: string; reason?: string }) => {
      const made = await client.funding.createRefund({ settlement_id, ...input });
      if (made.amount !== input.amount)
        throw new Error('The API returned a different refund than you requested.');
      return made;
    },
    { changes, done: onPrepared },
  );
  const micro = typedUsdc(amount);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (micro === null) return setWrong(NOT_AN_AMOUNT);
    if (micro > left) return setWrong(`At most ${displayUsdc(left)} can be refunded.`);
    const why = reason.trim();
    void prepare.run({ amount: micro.toString(), ...(why !== '' && { reason: why }) });
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <p>
          <Money micro={left} /> of the net amount can be refunded. Your payout wallet pays and signs it;
          nothing moves before.
        </p>
        <AmountField
          label="Amount"
          value={amount}
          error={wrong}
          onChange={(value) => {
            setAmount(value);
            setWrong(null);
          }}
          isRequired
          autoFocus
        />
        <TextField
          label="Reason (optional)"
          hint="The payer sees it."
          value={reason}
          onChange={setReason}
          maxLength={200}
        />
        {status === 'issued' && micro === left && (
          <Notice tone="wait">A full refund blocks delivery unless you cancel it.</Notice>
        )}
        {units_remaining !== undefined && units_remaining > 0 && (
          <Notice tone="wait">No units can be used while a refund is pending.</Notice>
        )}
        {prepare.error !== null && <ErrorNotice error={prepare.error} />}
        <DialogActions>
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" busy={prepare.isBusy && 'Preparing the refund…'}>
            Review and sign
          </Button>
        </DialogActions>
      </Stack>
    </form>
  );
};
