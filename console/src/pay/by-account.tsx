import { displayUsdc } from '../../../sdk/src/generated/usdc.ts';
import { ApiError } from '../../../sdk/src/main.ts';
import { useAction } from '../lib/data.ts';
import { SignInPage } from '../session/sign-in.tsx';
import { useSession } from '../session/use-session.tsx';
import { Button } from '../ui/button.tsx';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { Stack } from '../ui/layout.tsx';
import { OfAccount } from './of-account.tsx';
import type { Payable } from './payable.ts';
import { TEXTS } from './texts.ts';

type Props = { payable: Payable };

/** One attempt for each quote, so that a second click or a reload pays nothing twice. */
const attemptOf = ({ claims }: Payable): string => `page-${claims.quote_id}`;

/** Pays the quote from the wallet of the account, as a program does. */
const Pay = ({ payable }: Props) => {
  const { account } = useSession();
  const { claims, token, byAccount } = payable;
  const attempt = attemptOf(payable);
  const pay = useAction(
    (client) => client.settlement.settle({ quote_token: token, payment_attempt_id: attempt }),
    { done: (settlement) => 'onPaid' in byAccount && byAccount.onPaid(settlement) },
  );
  const isElsewhere = pay.error instanceof ApiError && pay.error.safeAction === 'new_quote';
  const begin = () => ('begin' in byAccount ? byAccount.begin(attempt, account!) : void pay.run(undefined));
  return (
    <Stack>
      {pay.error !== null && <ErrorNotice error={pay.error} />}
      {isElsewhere ? (
        payable.elsewhere
      ) : (
        <Button variant="primary" busy={pay.isBusy && TEXTS.paying} onPress={begin}>
          {`Pay ${displayUsdc(claims.quote_amount)} as ${account?.email ?? ''}`}
        </Button>
      )}
    </Stack>
  );
};

const SignedIn = ({ payable }: Props) =>
  useSession().status === 'signed-in' ? <Pay payable={payable} /> : <SignInPage />;

/** Pays with an account, after a sign-in by passkey or mailed link. */
const ByAccount = ({ payable }: Props) => (
  <OfAccount environment={payable.claims.env}>
    <SignedIn payable={payable} />
  </OfAccount>
);
export default ByAccount;
