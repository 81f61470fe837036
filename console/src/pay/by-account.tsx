import { useEffect } from 'react';
import { displayUsdc } from '../../../sdk/src/generated/usdc.ts';
import { ApiError } from '../../../sdk/src/main.ts';
import { useAction } from '../lib/data.ts';
import { SignInPage } from '../session/sign-in.tsx';
import { StepUpDialog } from '../session/step-up.tsx';
import { session } from '../session/store.ts';
import { DataOfAccount, useSession } from '../session/use-session.tsx';
import { Button } from '../ui/button.tsx';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { Loading, Stack } from '../ui/layout.tsx';
import type { Payable } from './payable.ts';
import { TEXTS } from './texts.ts';

type Props = { payable: Payable };

/** One attempt for each quote, so that a second click or a reload pays nothing twice. */
const attemptOf = ({ claims }: Payable): string => `page-${claims.quote_id}`;

/** Pays the quote from the wallet of the account, as a program does. */
const Pay = ({ payable }: Props) => {
  const { account } = useSession();
  const { claims, token } = payable;
  const pay = useAction(
    (client) => client.settlement.settle({ quote_token: token, payment_attempt_id: attemptOf(payable) }),
    { done: payable.onPaid },
  );
  const isElsewhere = pay.error instanceof ApiError && pay.error.safeAction === 'new_quote';
  return (
    <Stack>
      {pay.error !== null && <ErrorNotice error={pay.error} />}
      {isElsewhere ? (
        payable.elsewhere
      ) : (
        <Button variant="primary" busy={pay.isBusy && TEXTS.paying} onPress={() => void pay.run(undefined)}>
          {`Pay ${displayUsdc(claims.quote_amount)} as ${account?.email ?? ''}`}
        </Button>
      )}
    </Stack>
  );
};

const SignedIn = ({ payable }: Props) => {
  const { status, environment } = useSession();
  const { env } = payable.claims;
  // biome-ignore lint/correctness/useExhaustiveDependencies: it runs once, for the quote
  useEffect(() => {
    void (environment === env ? session.resume() : session.switchTo(env));
  }, [env]);
  if (environment !== env || status === 'resuming') return <Loading>{TEXTS.reading}</Loading>;
  return status === 'signed-in' ? <Pay payable={payable} /> : <SignInPage />;
};

/** Pays with an account, after a sign-in by passkey or mailed link. */
const ByAccount = ({ payable }: Props) => (
  <DataOfAccount>
    <SignedIn payable={payable} />
    <StepUpDialog />
  </DataOfAccount>
);
export default ByAccount;
