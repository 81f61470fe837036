import { useState } from 'react';
import { displayUsdc } from '../../../sdk/src/generated/usdc.ts';
import { ApiError } from '../../../sdk/src/main.ts';
import { useAction } from '../api/data.ts';
import { useSession } from '../api/use-session.tsx';
import { endWaiting } from '../session/waiting-order.ts';
import { Button } from '../ui/button.tsx';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { Stack } from '../ui/layout.tsx';
import { Notice } from '../ui/notice.tsx';
import { AllowanceDialog } from '../wallet/allowance.tsx';
import type { Wallet } from '../wallet/signing.tsx';
import { allowanceFor } from './account/account-step.ts';
import type { Payable } from './payable.ts';
import { Refused } from './refusal.tsx';
import { ofAccount } from './refusals.ts';
import { useRenewal } from './renewal.ts';
import { ACCOUNT, TEXTS } from './texts.ts';

/** One attempt for each quote, so that a second click or a reload pays nothing twice. */
const attemptOf = ({ claims }: Payable): string => `page-${claims.quote_id}`;

/** A refusal after which only another quote can be paid. */
const isOver = (error: unknown): boolean => error instanceof ApiError && error.safeAction === 'new_quote';

/**
 * Pays the quote from the wallet of the account, as a program does. If the wallet does not allow
 * the price, its owner signs that first.
 */
export const PayNow = ({ wallet, payable }: { wallet: Wallet; payable: Payable }) => {
  const { account } = useSession();
  const { claims, token, byAccount } = payable;
  const attempt = attemptOf(payable);
  const [isAllowing, setAllowing] = useState(false);
  const settle = useAction(
    (client) => client.settlement.settle({ quote_token: token, payment_attempt_id: attempt }),
    { done: (settlement) => 'onPaid' in byAccount && byAccount.onPaid(settlement) },
  );
  const { error } = settle;
  const isShort = payable.isShort || (error instanceof ApiError && error.code === 'delegation_inactive');
  const allowance = allowanceFor(wallet, BigInt(claims.quote_amount), isShort);
  const pay = () => {
    endWaiting(claims.env);
    if ('begin' in byAccount) byAccount.begin(attempt, account!);
    else void settle.run(undefined);
  };
  const isStale = payable.isExpired && !isAllowing;
  const price = { of: payable.of, amount: claims.quote_amount, quoteId: claims.quote_id };
  useRenewal(price, isStale && payable.renew !== null, async () => payable.renew?.());
  if (isStale || isOver(error))
    return (
      <Notice tone="wait" title={TEXTS.expired}>
        {payable.newPrice}
      </Notice>
    );
  return (
    <Stack>
      {error instanceof ApiError ? (
        <Refused refusal={ofAccount(error)} payable={payable} />
      ) : (
        error !== null && <ErrorNotice error={error} />
      )}
      <Button
        variant="primary"
        busy={settle.isBusy && TEXTS.paying}
        onPress={() => (allowance === null ? pay() : setAllowing(true))}
      >
        {ACCOUNT.pay(displayUsdc(claims.quote_amount), account?.email ?? '')}
      </Button>
      {isAllowing && (
        <AllowanceDialog
          wallet={wallet}
          allowance={allowance}
          onClose={() => setAllowing(false)}
          onAllowed={pay}
        />
      )}
    </Stack>
  );
};
