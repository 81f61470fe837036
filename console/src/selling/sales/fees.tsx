import { useState } from 'react';
import { useAction, useRead } from '../../api/data.ts';
import { useSession } from '../../api/use-session.tsx';
import { Button, ErrorNotice, Money, Notice, Section, Stack } from '../../ui/index.ts';
import { type FeePayment, isCreditLow, newFeePayment, undecidedPayments } from './fee-payment.ts';
import { Ledger } from './ledger.tsx';
import { PayFees } from './pay-fees.tsx';

const EVERY_MS = 15_000;

/** The fees of x402 payments, and the button that pays them. Empty without such payments. */
export const FeesSection = () => {
  const fees = useRead(['fees'], (client, options) => client.settlement.getFees({}, options), {
    every: EVERY_MS,
  });
  const accountId = useSession().account?.account_id ?? '';
  const [payment, setPayment] = useState<FeePayment | null>(null);
  const getQuote = useAction((client, _: undefined) => client.settlement.createFeeQuote(), {
    changes: [['fees']],
    done: (quote) => setPayment(newFeePayment(quote)),
  });
  if (fees.data === undefined)
    return fees.error === null ? null : <ErrorNotice error={fees.error} retry={fees.again} />;
  const { accrued, paid, owed, credit } = fees.data;
  if (accrued === '0') return null;
  const begin = () => {
    const undecided = undecidedPayments.get(accountId);
    if (undecided === undefined) void getQuote.run(undefined);
    else setPayment(undecided);
  };
  const advance = BigInt(paid) - BigInt(accrued);
  return (
    <Section
      title="Fees of x402 payments"
      about="x402 payments carry no fee, so fees add up here."
      actions={
        owed !== '0' && (
          <Button variant="primary" busy={getQuote.isBusy && 'Getting the quote…'} onPress={begin}>
            Pay fees
          </Button>
        )
      }
    >
      <Stack>
        {isCreditLow(fees.data) && (
          <Notice tone="wait" title="More than 80 % of the credit is used">
            Once it is used up, x402 payments are refused. Pay the fees before that.
          </Notice>
        )}
        {getQuote.error !== null && <ErrorNotice error={getQuote.error} />}
        <Ledger
          of={[
            ['Fees so far', <Money key="accrued" micro={accrued} />],
            ['Paid', <Money key="paid" micro={paid} />],
            ['Owed', <Money key="owed" micro={owed} />],
            ['Paid in advance', advance > 0n && <Money key="advance" micro={advance} />],
            ['Credit limit', <Money key="credit" micro={credit} />],
          ]}
        />
      </Stack>
      {payment !== null && <PayFees first={payment} accountId={accountId} onClose={() => setPayment(null)} />}
    </Section>
  );
};
