import { lazy, type ReactNode, Suspense, useEffect, useState } from 'react';
import { displayUsdc } from '../../../sdk/src/generated/usdc.ts';
import { addressWith } from '../../../sdk/src/payment-page.ts';
import { useFragment } from '../lib/fragment.ts';
import { wasSignedIn } from '../session/store.ts';
import { Button } from '../ui/button.tsx';
import { Loading, Properties, Section, Stack } from '../ui/layout.tsx';
import { Notice } from '../ui/notice.tsx';
import { QrCode } from '../ui/qr.tsx';
import { Badge, Copyable, Money } from '../ui/show.tsx';
import { type BrowserWallet, useBrowserWallets } from '../wallet/browser-wallets.ts';
import { payByWallet } from './by-wallet.ts';
import { type Order, type Read, readOrder } from './order.ts';
import { reasonOf, TEXTS } from './texts.ts';

const ByAccount = lazy(() => import('./by-account.tsx'));

/** The order of the page's address. Null while it is verified. */
const useOrder = (): Read | null => {
  const fragment = useFragment();
  const [known, setKnown] = useState<{ of: string; read: Read } | null>(null);
  useEffect(() => {
    let isShown = true;
    void readOrder(fragment, Date.now()).then((read) => {
      if (isShown) setKnown({ of: fragment, read });
    });
    return () => {
      isShown = false;
    };
  }, [fragment]);
  return known?.of === fragment ? known.read : null;
};

const useExpired = (expiresAt: number): boolean => {
  const [isExpired, setExpired] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setExpired(true), Math.max(0, expiresAt - Date.now()));
    return () => clearTimeout(timer);
  }, [expiresAt]);
  return isExpired;
};

/** Leaves no entry of this page in the history, so that nobody returns to a paid order. */
const leave = (to: string): void => location.replace(to);

const Sold = ({ order: { claims, back } }: { order: Order }) => {
  const { service_name, payout_address, quote_amount, env, scope } = claims;
  const units = scope?.units;
  return (
    <Section title={service_name} actions={env === 'test' && <Badge state={TEXTS.test} tone="wait" />}>
      <Properties
        of={[
          ['Price', <Money key="price" micro={quote_amount} large />],
          ['Fees for you', 'none'],
          ['Requests', typeof units === 'number' && String(units)],
          [
            'For',
            <span key="for" className="long">
              {back}
            </span>,
          ],
          ['Paid to', <Copyable key="to" text={payout_address} label="address that is paid" block />],
        ]}
      />
    </Section>
  );
};

const ByWallet = ({ order, onPaid }: { order: Order; onPaid: (to: string, said: string) => void }) => {
  const wallets = useBrowserWallets();
  const [doing, setDoing] = useState<{ name: string; text: string } | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const { offer, claims, back } = order;
  if (offer === null) return <Notice>{TEXTS.noOffer}</Notice>;
  const pay = async (wallet: BrowserWallet) => {
    const { name } = wallet;
    setProblem(null);
    try {
      const to = await payByWallet(order, offer, wallet, (text) => setDoing({ name, text }));
      onPaid(to, TEXTS.sent(new URL(back).host));
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

const AccountSection = ({ children }: { children: ReactNode }) => (
  <Section title={TEXTS.account} about={TEXTS.accountAbout}>
    {children}
  </Section>
);

const Ways = ({ order, onPaid }: { order: Order; onPaid: (to: string, said: string) => void }) => {
  const [withAccount, setWithAccount] = useState(wasSignedIn());
  return (
    <>
      <ByWallet order={order} onPaid={onPaid} />
      <AccountSection>
        {withAccount ? (
          <Suspense fallback={<Loading>Loading…</Loading>}>
            <ByAccount order={order} onPaid={(to) => onPaid(to, TEXTS.leaving(new URL(order.back).host))} />
          </Suspense>
        ) : (
          <Button onPress={() => setWithAccount(true)}>{TEXTS.signIn}</Button>
        )}
      </AccountSection>
      <details>
        <summary>{TEXTS.phone}</summary>
        <p>{TEXTS.phoneAbout}</p>
        <QrCode text={order.back} label={TEXTS.phone} />
      </details>
    </>
  );
};

/** What is sold and the ways to pay it, until the browser leaves for the product. */
const Checkout = ({ order }: { order: Order }) => {
  const [said, setSaid] = useState<string | null>(null);
  const isExpired = useExpired(order.expiresAt);
  const { service_name, quote_amount, quote_id } = order.claims;
  useEffect(() => {
    document.title = `Pay ${displayUsdc(quote_amount)} to ${service_name} · Quittance`;
  }, [quote_amount, service_name]);
  const onPaid = (to: string, text: string) => {
    setSaid(text);
    leave(to);
  };
  return (
    <>
      {order.reason !== null && said === null && <Notice tone="wait">{reasonOf(order.reason)}</Notice>}
      <Sold order={order} />
      {said !== null ? (
        <div className="notice" data-tone="good" role="status">
          {said}
        </div>
      ) : isExpired ? (
        <Notice tone="wait" title={TEXTS.expired}>
          <a href={addressWith(order.back, { refusedQuote: quote_id })}>{TEXTS.newPrice}</a>
        </Notice>
      ) : (
        <Ways order={order} onPaid={onPaid} />
      )}
    </>
  );
};

/** Reads the order in the fragment of the page's address, and lets a person pay it. */
export const PayPage = () => {
  const read = useOrder();
  if (read === null) return <Loading>{TEXTS.reading}</Loading>;
  if ('problem' in read) return <Notice tone="bad">{read.problem}</Notice>;
  return <Checkout key={read.order.token} order={read.order} />;
};
