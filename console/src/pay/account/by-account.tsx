import { useSession } from '../../api/use-session.tsx';
import { SignInToPay } from '../../session/sign-in.tsx';
import { Toasts } from '../../ui/toast.tsx';
import type { Payable } from '../payable.ts';
import { AccountSteps } from './account-steps.tsx';
import { OfAccount } from './of-account.tsx';

type Props = { payable: Payable };

const SignedIn = ({ payable }: Props) =>
  useSession().status === 'signed-in' ? <AccountSteps payable={payable} /> : <SignInToPay />;

/** Pays with an account, after a sign-in by passkey or mailed link. */
const ByAccount = ({ payable }: Props) => (
  <OfAccount environment={payable.claims.env}>
    <SignedIn payable={payable} />
    <Toasts />
  </OfAccount>
);
export default ByAccount;
