import { useState } from 'react';
import { Link } from 'wouter';
import { type Paid, PaymentUndecidedError } from '../../../../sdk/src/main.ts';
import { useAction } from '../../api/data.ts';
import {
  Button,
  Copyable,
  Dialog,
  DialogActions,
  ErrorNotice,
  Money,
  Notice,
  Properties,
  Stack,
} from '../../ui/index.ts';
import { isWalletProblem, OwnWallet, WalletNotice } from '../own-wallet.tsx';
import { afterFailure, type FeePayment, newFeePayment, undecidedPayments } from './fee-payment.ts';

/** After this time the dialog reports that the outcome is open. */
const PATIENCE_MS = 60_000;

/** Pays a quote of the owed fees from the account's wallet. */
export const PayFees = ({
  first,
  accountId,
  onClose,
}: {
  first: FeePayment;
  accountId: string;
  onClose: () => void;
}) => {
  const [payment, setPayment] = useState<FeePayment | null>(first);
  const [paid, setPaid] = useState<Paid | null>(null);
  const settle = useAction(
    async (client, now: FeePayment) => {
      undecidedPayments.set(accountId, now);
      const input = { quote_token: now.quote.quote_token, payment_attempt_id: now.attemptId };
      try {
        return await client.settlement.settle(input, { patienceMs: PATIENCE_MS });
      } catch (error) {
        const next = afterFailure(now, error, Date.now());
        if (next !== now) undecidedPayments.delete(accountId);
        setPayment(next);
        throw error;
      }
    },
    {
      changes: [['fees'], ['wallets']],
      done: (answer) => {
        undecidedPayments.delete(accountId);
        setPaid(answer);
      },
    },
  );
  const getQuote = useAction((client, _: undefined) => client.settlement.createFeeQuote(), {
    done: (quote) => {
      settle.reset();
      setPayment(newFeePayment(quote));
    },
  });
  return (
    <Dialog title="Pay the fees" isOpen isFixed={settle.isBusy} onClose={onClose}>
      <Stack>
        {paid !== null && payment !== null ? (
          <Result paid={paid} amount={payment.quote.quote_amount} />
        ) : (
          <>
            {payment !== null && (
              <p>
                <Money micro={payment.quote.quote_amount} large /> from your wallet to Quittance.
              </p>
            )}
            {settle.error !== null && <Problem error={settle.error} />}
            {isWalletProblem(settle.error) ? (
              <WalletNotice>You need USDC and a spending limit.</WalletNotice>
            ) : (
              payment !== null && <OwnWallet price={BigInt(payment.quote.quote_amount)} />
            )}
            {getQuote.error !== null && <ErrorNotice error={getQuote.error} />}
          </>
        )}
        <DialogActions>
          <Button isDisabled={settle.isBusy} onPress={onClose}>
            {paid === null ? 'Cancel' : 'Close'}
          </Button>
          {paid === null && payment !== null && (
            <Button
              variant="primary"
              busy={settle.isBusy && 'Waiting for confirmation…'}
              onPress={() => void settle.run(payment)}
            >
              {settle.error === null ? 'Pay' : 'Pay again'}
            </Button>
          )}
          {paid === null && payment === null && (
            <Button
              variant="primary"
              busy={getQuote.isBusy && 'Getting the quote…'}
              onPress={() => void getQuote.run(undefined)}
            >
              Get a new quote
            </Button>
          )}
        </DialogActions>
      </Stack>
    </Dialog>
  );
};

const Result = ({ paid: { settlement_id, tx_hash }, amount }: { paid: Paid; amount: string }) => (
  <Notice tone="good" title="Fees paid">
    <Properties
      of={[
        ['Amount', <Money key="amount" micro={amount} />],
        // Fees are paid at once, so there is one.
        ['Transaction', tx_hash !== null && <Copyable key="hash" text={tx_hash} label="transaction" />],
        [
          'Receipt',
          <Link key="receipt" href={`/payments/${settlement_id}`}>
            Open
          </Link>,
        ],
      ]}
    />
  </Notice>
);

const Problem = ({ error }: { error: unknown }) =>
  error instanceof PaymentUndecidedError ? (
    <Notice tone="wait" title="Payment status unknown">
      Retry: the same attempt never pays twice.
    </Notice>
  ) : (
    <ErrorNotice error={error} />
  );
