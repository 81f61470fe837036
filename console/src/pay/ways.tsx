import { lazy, Suspense, useState } from 'react';
import { displayUsdc } from '../../../sdk/src/generated/usdc.ts';
import { wasSignedIn } from '../session/store.ts';
import { Button } from '../ui/button.tsx';
import { Loading, Section, Stack } from '../ui/layout.tsx';
import { Notice } from '../ui/notice.tsx';
import { type BrowserWallet, useBrowserWallets } from '../wallet/browser-wallets.ts';
import { signPayment } from './by-wallet.ts';
import { OpenOnPhone } from './open-on-phone.tsx';
import type { Payable } from './payable.ts';
import { TEXTS } from './texts.ts';

const ByAccount = lazy(() => import('./by-account.tsx'));

const ByWallet = ({ payable }: { payable: Payable }) => {
  const wallets = useBrowserWallets();
  const [doing, setDoing] = useState<{ name: string; text: string } | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const { terms, claims } = payable;
  if (terms === null) return <Notice>{TEXTS.noOffer}</Notice>;
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
        {wallets.length === 0 && <p>{TEXTS.noWallet}</p>}
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

/** The ways to pay a quote: a wallet of the browser, an account, a phone. */
export const Ways = ({ payable }: { payable: Payable }) => {
  const [withAccount, setWithAccount] = useState(wasSignedIn());
  const [onPhone, setOnPhone] = useState(false);
  return (
    <>
      <ByWallet payable={payable} />
      <Section title={TEXTS.account} about={TEXTS.accountAbout}>
        {withAccount ? (
          <Suspense fallback={<Loading>Loading…</Loading>}>
            <ByAccount payable={payable} />
          </Suspense>
        ) : (
          <Button onPress={() => setWithAccount(true)}>{TEXTS.signIn}</Button>
        )}
      </Section>
      <details onToggle={({ currentTarget }) => setOnPhone(currentTarget.open)}>
        <summary>{TEXTS.phone}</summary>
        {onPhone && (payable.byPhone ?? <OpenOnPhone address={payable.address} about={TEXTS.phoneAbout} />)}
      </details>
    </>
  );
};
