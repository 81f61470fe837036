import { session } from '../../api/store.ts';
import { useSession } from '../../api/use-session.tsx';
import { SignInToPay } from '../../session/sign-in.tsx';
import { Button } from '../../ui/button.tsx';
import { Loading, Section } from '../../ui/layout.tsx';
import { Notice } from '../../ui/notice.tsx';
import { useAskedAgain } from '../asked-again.ts';
import type { ByAccount } from '../link-payment.ts';
import { TEXTS } from '../texts.ts';
import { OfAccount } from './of-account.tsx';

type Props = { payment: ByAccount; settle: () => Promise<(() => void) | null> };

const Follow = ({ payment: { attempt, accountId, email }, settle }: Props) => {
  const { status, account } = useSession();
  const isSignedIn = status === 'signed-in';
  // Another account would pay the quote itself.
  const isOwn = isSignedIn && account?.account_id === accountId;
  useAskedAgain(isOwn ? attempt : null, settle);
  if (isOwn) return <Loading>{TEXTS.confirming}</Loading>;
  return (
    <>
      <Notice tone="wait">{TEXTS.signInToFollow(email)}</Notice>
      {isSignedIn ? (
        <Button onPress={() => void session.signOut()}>{TEXTS.signOut}</Button>
      ) : (
        <Section title={TEXTS.signInAgain}>
          <SignInToPay />
        </Section>
      )}
    </>
  );
};

/** Follows the payment of an account until its outcome is known, also after a reload. */
const FollowAccount = ({ environment, ...props }: Props & { environment: 'test' | 'live' }) => (
  <OfAccount environment={environment}>
    <Follow {...props} />
  </OfAccount>
);
export default FollowAccount;
