import { lazy, Suspense, useEffect, useState } from 'react';
import { session } from '../session/store.ts';
import { Button, LinkOut } from '../ui/button.tsx';
import { Loading, Properties, Row, Section, Stack } from '../ui/layout.tsx';
import { Notice } from '../ui/notice.tsx';
import { Money } from '../ui/show.tsx';
import { ByPhone, usePhone } from './by-phone.tsx';
import { type LinkAddress, type LinkRead, type Opened, openLink, successAddress } from './link.ts';
import { type Done, useLinkPayment } from './link-payment.ts';
import { OpenOnPhone } from './open-on-phone.tsx';
import type { Payable } from './payable.ts';
import { secretOf } from './secret.ts';
import { Sold, useExpired } from './sold.tsx';
import { TEXTS } from './texts.ts';
import { Ways } from './ways.tsx';

const FollowAccount = lazy(() => import('./follow-account.tsx'));

const CHAINS = { test: 'solana:devnet', live: 'solana:mainnet' } as const;

/** Null while the link is opened. */
const useOpened = (link: LinkAddress, isWanted: boolean) => {
  const [read, setRead] = useState<LinkRead | null>(null);
  const [round, setRound] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each round opens it once
  useEffect(() => {
    if (!isWanted) return;
    let isShown = true;
    setRead(null);
    void openLink(session.get().client, link).then((now) => {
      if (isShown) setRead(now);
    });
    return () => {
      isShown = false;
    };
  }, [isWanted, round]);
  return { read, again: () => setRound((now) => now + 1) };
};

/** The end: the receipt, and the way to the vendor. */
const Paid = ({ done, onAgain }: { done: Done; onAgain: () => void }) => {
  const { settlementId, receiptUrl, bought } = done;
  const { vendor, title, amount, successUrl, isSingleUse } = bought;
  useEffect(() => {
    document.title = `${TEXTS.paid} · Quittance`;
  }, []);
  return (
    <Stack>
      <div className="notice" data-tone="good" role="status">
        <strong>{TEXTS.paid}</strong>
        <div>{TEXTS.paidAbout}</div>
      </div>
      <Section title={vendor}>
        <Properties
          of={[
            ['Price', <Money key="price" micro={amount} large />],
            ['For', title],
          ]}
        />
      </Section>
      <Row>
        {successUrl !== null && (
          <LinkOut to={successAddress(successUrl, settlementId)} variant="primary">
            {TEXTS.onward(new URL(successUrl).host)}
          </LinkOut>
        )}
        <LinkOut to={receiptUrl}>{TEXTS.receipt}</LinkOut>
        {!isSingleUse && (
          <Button variant="quiet" onPress={onAgain}>
            {TEXTS.payAgain}
          </Button>
        )}
      </Row>
    </Stack>
  );
};

type CheckoutProps = {
  link: LinkAddress;
  opened: Opened;
  payment: ReturnType<typeof useLinkPayment>;
  onExpired: () => void;
};

const Checkout = ({ link, opened, payment, onExpired }: CheckoutProps) => {
  const { token, claims, title, memo, successUrl, isSingleUse, expiresAt } = opened;
  const { service_name: vendor, quote_amount: amount, payout_address: payee } = claims;
  const bought = { vendor, title, amount, payee, successUrl, isSingleUse };
  const isExpired = useExpired(expiresAt);
  const phone = usePhone(link, !isSingleUse, (paid) => payment.conclude(paid, bought));
  const newPrice = <Button onPress={onExpired}>{TEXTS.newPrice}</Button>;
  const byPhone = isSingleUse ? (
    <OpenOnPhone address={location.href} about={TEXTS.phoneOnce} />
  ) : (
    <ByPhone link={link} origin={new URL(String(claims.scope?.resource)).origin} phone={phone} />
  );
  const payable: Payable = {
    token,
    byPhone,
    claims,
    address: location.href,
    elsewhere: newPrice,
    terms: { memo, chain: CHAINS[link.environment], feePayer: null },
    onSigned: (transaction) => payment.send({ token, transaction, secret: secretOf(link), bought }),
    byAccount: {
      begin: (attempt, { account_id: accountId, email }) =>
        payment.settle({ token, attempt, accountId, email, bought }),
    },
  };
  return (
    <>
      {payment.problem !== null && <Notice tone="bad">{payment.problem}</Notice>}
      <Sold claims={claims} what={['For', title]} />
      {phone.state === 'pending' ? (
        <Notice tone="wait">{TEXTS.phonePending}</Notice>
      ) : isExpired ? (
        <Notice tone="wait" title={TEXTS.expired}>
          {newPrice}
        </Notice>
      ) : (
        <Ways payable={payable} />
      )}
    </>
  );
};

/** The page of a payment link: what is sold, the ways to pay it, and the receipt. */
export const LinkPage = ({ link }: { link: LinkAddress }) => {
  const payment = useLinkPayment(link);
  const isOpen = payment.done === null && !payment.isUnderWay && payment.byAccount === null;
  const { read, again } = useOpened(link, isOpen);
  if (payment.done !== null) return <Paid done={payment.done} onAgain={payment.again} />;
  if (payment.isUnderWay) return <Loading>{TEXTS.confirming}</Loading>;
  if (payment.byAccount !== null)
    return (
      <Suspense fallback={<Loading>{TEXTS.confirming}</Loading>}>
        <FollowAccount
          environment={link.environment}
          payment={payment.byAccount}
          settle={payment.settleAgain}
        />
      </Suspense>
    );
  if (read === null) return <Loading>{TEXTS.reading}</Loading>;
  if ('problem' in read)
    return (
      <Stack>
        <Notice tone={read.isPaid === true ? 'wait' : 'bad'}>{read.problem}</Notice>
        {read.isPaid !== true && <Button onPress={again}>{TEXTS.tryAgain}</Button>}
      </Stack>
    );
  const { opened } = read;
  return <Checkout key={opened.token} {...{ link, opened, payment }} onExpired={again} />;
};
