import { lazy, type RefObject, Suspense, useEffect, useRef, useState } from 'react';
import { displayUsdc } from '../../../sdk/src/generated/usdc.ts';
import { wasSignedIn } from '../api/store.ts';
import { whenContinued } from '../session/waiting-order.ts';
import { Button } from '../ui/button.tsx';
import { Loading, Section, Stack } from '../ui/layout.tsx';
import { Notice } from '../ui/notice.tsx';
import { type BrowserWallet, useBrowserWallets } from '../wallet/browser-wallets.ts';
import type { Payable } from './payable.ts';
import { Refused } from './refusal.tsx';
import type { Refusal } from './refusals.ts';
import { TEXTS } from './texts.ts';
import { ByApp, ByPhone } from './wallets/by-phone.tsx';
import { signPayment } from './wallets/by-wallet.ts';
import { isPhone } from './wallets/device.ts';
import { Install } from './wallets/install.tsx';

const ByAccount = lazy(() => import('./account/by-account.tsx'));

type Props = { payable: Payable };

const ByWallet = ({ payable }: Props) => {
  const wallets = useBrowserWallets();
  const [doing, setDoing] = useState<{ name: string; text: string } | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const { terms, claims } = payable;
  if (terms === null) return null;
  const pay = async (wallet: BrowserWallet) => {
    const { name } = wallet;
    setProblem(null);
    try {
      payable.onSigned(await signPayment(claims, terms, wallet, (text) => setDoing({ name, text })));
    } catch (error) {
      setProblem((error as Error).message);
      setDoing(null);
    }
  };
  return (
    <Section title={TEXTS.wallets} about={TEXTS.walletsAbout}>
      <Stack>
        {problem !== null && <Notice tone="bad">{problem}</Notice>}
        {wallets.length === 0 && <Install about={TEXTS.noWallet} />}
        {wallets.map((wallet) => (
          <Button
            key={wallet.name}
            variant="primary"
            busy={doing?.name === wallet.name && doing.text}
            isDisabled={doing !== null && doing.name !== wallet.name}
            onPress={() => void pay(wallet)}
          >
            {`Pay ${displayUsdc(claims.quote_amount)} with ${wallet.name}`}
          </Button>
        ))}
      </Stack>
    </Section>
  );
};

/** The ways of a wallet: of this browser, of this phone, of a phone that scans. */
const ByWallets = ({ payable }: Props) => {
  const [onPhone] = useState(isPhone);
  const hasWallet = useBrowserWallets().length > 0;
  if (payable.terms === null) return <Notice>{TEXTS.noOffer}</Notice>;
  if (payable.isOfferExpired)
    return (
      <Notice tone="wait" title={TEXTS.expired}>
        {payable.newPrice}
      </Notice>
    );
  // The browser of a wallet app has its wallet. Any other browser of a phone has none.
  if (onPhone && !hasWallet) return <ByApp payable={payable} />;
  return (
    <>
      <ByWallet payable={payable} />
      {!onPhone && <ByPhone payable={payable} />}
    </>
  );
};

/** Shown when a mailed link has opened the same order in another tab, so that nobody pays twice. */
const Elsewhere = ({ onHere }: { onHere: () => void }) => (
  <Notice tone="wait" title={TEXTS.elsewhere}>
    <Button onPress={onHere}>{TEXTS.here}</Button>
  </Notice>
);

type AccountProps = Props & { isOpen: boolean; onOpen: () => void; at: RefObject<HTMLDivElement | null> };

const AccountWay = ({ payable, isOpen, onOpen, at }: AccountProps) => (
  <div ref={at}>
    <Section title={TEXTS.account} about={TEXTS.accountAbout}>
      {isOpen ? (
        <Suspense fallback={<Loading>Loading…</Loading>}>
          <ByAccount payable={payable} />
        </Suspense>
      ) : (
        <Button onPress={onOpen}>{TEXTS.signIn}</Button>
      )}
    </Section>
  </div>
);

/** The ways to pay a quote: a wallet of the browser, a phone, an account. */
export const Ways = ({ payable, refusal }: Props & { refusal: Refusal | null }) => {
  const [withAccount, setWithAccount] = useState(wasSignedIn());
  const [isElsewhere, setElsewhere] = useState(false);
  const account = useRef<HTMLDivElement>(null);
  useEffect(() => whenContinued(() => setElsewhere(true)), []);
  const openAccount = () => {
    setWithAccount(true);
    account.current?.scrollIntoView();
  };
  if (isElsewhere) return <Elsewhere onHere={() => setElsewhere(false)} />;
  return (
    <>
      {refusal !== null && <Refused refusal={refusal} payable={payable} onAccount={openAccount} />}
      <ByWallets payable={payable} />
      <AccountWay payable={payable} isOpen={withAccount} onOpen={openAccount} at={account} />
    </>
  );
};
