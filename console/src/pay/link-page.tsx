import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { session } from '../api/store.ts';
import { Button, LinkOut } from '../ui/button.tsx';
import { Loading, Properties, Row, Section, Stack } from '../ui/layout.tsx';
import { Notice } from '../ui/notice.tsx';
import { Money } from '../ui/show.tsx';
import { type LinkAddress, type LinkRead, type Opened, openLink, successAddress } from './link.ts';
import { type Done, useLinkPayment } from './link-payment.ts';
import type { Payable } from './payable.ts';
import { Refused } from './refusal.tsx';
import { useRenewal } from './renewal.ts';
import { secretOf } from './secret.ts';
import { Sold, useExpired } from './sold.tsx';
import { TEXTS } from './texts.ts';
import { usePhone } from './wallets/by-phone.tsx';
import { Ways } from './ways.tsx';

const FollowAccount = lazy(() => import('./account/follow-account.tsx'));

const CHAINS = { test: 'solana:devnet', live: 'solana:mainnet' } as const;

/**
 * The link as it was opened last. Null while it is opened for the first time.
 * @returns `renew` opens it again, and keeps what is shown if that cannot be done now
 */
const useOpened = (link: LinkAddress, isWanted: boolean) => {
  const [read, setRead] = useState<LinkRead | null>(null);
  const round = useRef(0);
  const renew = async () => {
    round.current += 1;
    const mine = round.current;
    const now = await openLink(session.get().client, link);
    if (mine !== round.current) return;
    const isKept = 'problem' in now && now.isTransient === true;
    setRead((before) => (isKept && before !== null && 'opened' in before ? before : now));
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is opened once, until it is paid
  useEffect(() => {
    // What was shown belongs to a payment that was begun.
    setRead(null);
    if (isWanted) void renew();
    return () => {
      round.current += 1;
    };
  }, [isWanted]);
  return {
    read,
    renew,
    again: () => {
      setRead(null);
      void renew();
    },
  };
};

/** The end: the receipt, and the way to the vendor. */
const Paid = ({ done, onAgain }: { done: Done; onAgain: () => void }) => {
  const { settlementId, receiptUrl, bought } = done;
  const { vendor, title, amount, successUrl, isSingleUse } = bought;
  useEffect(() => {
    document.title = `${TEXTS.paid}: ${title}, ${vendor}`;
  }, [title, vendor]);
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
  renew: () => Promise<void>;
};

/** The payment of a link: what each way does with it. */
const payableOf = (
  { link, opened, payment }: Pick<CheckoutProps, 'link' | 'opened' | 'payment'>,
  { phone, newPrice, isExpired }: Pick<Payable, 'phone' | 'newPrice' | 'isExpired'>,
): Payable => {
  const { token, claims, memo, successUrl } = opened;
  const bought = boughtOf(opened);
  return {
    token,
    claims,
    phone,
    newPrice,
    renew: null,
    of: location.pathname,
    isExpired,
    isOfferExpired: isExpired,
    isShort: payment.refusal?.todo === 'allow',
    vendorUrl: successUrl === null ? null : new URL(successUrl).origin,
    address: location.href,
    addressAbout: TEXTS.phoneOnce,
    terms: { memo, chain: CHAINS[link.environment], feePayer: null },
    onSigned: (transaction) => payment.send({ token, transaction, secret: secretOf(link), bought }),
    byAccount: {
      begin: (attempt, { account_id: accountId, email }) =>
        payment.settle({ token, attempt, accountId, email, bought }),
    },
  };
};

const boughtOf = ({ claims, title, successUrl, isSingleUse }: Opened) => {
  const { service_name: vendor, quote_amount: amount, payout_address: payee } = claims;
  return { vendor, title, amount, payee, successUrl, isSingleUse };
};

const Checkout = ({ link, opened, payment, renew }: CheckoutProps) => {
  const { claims, title, isSingleUse, expiresAt } = opened;
  const { origin } = new URL(String(claims.scope?.resource));
  const hasEnded = useExpired(expiresAt);
  const phone = usePhone(link, { isOffered: !isSingleUse, origin }, (paid) =>
    payment.conclude(paid, boughtOf(opened)),
  );
  const of = location.pathname;
  const price = { of, amount: claims.quote_amount, quoteId: claims.quote_id };
  const isExpired = !useRenewal(price, hasEnded, renew) && hasEnded;
  const newPrice = <Button onPress={() => void renew()}>{TEXTS.newPrice}</Button>;
  const payable = payableOf(
    { link, opened, payment },
    { phone: isSingleUse ? null : phone, newPrice, isExpired },
  );
  return (
    <>
      <Sold claims={claims} item={title} site={null} of={of} />
      {phone.state === 'pending' ? (
        <>
          {payment.refusal !== null && <Refused refusal={payment.refusal} payable={payable} />}
          <Notice tone="wait">{TEXTS.phonePending}</Notice>
        </>
      ) : (
        <Ways payable={payable} refusal={payment.refusal} />
      )}
    </>
  );
};

/** The page of a payment link: what is sold, the ways to pay it, and the receipt. */
export const LinkPage = ({ link }: { link: LinkAddress }) => {
  const payment = useLinkPayment(link);
  const isOpen = payment.done === null && !payment.isUnderWay && payment.byAccount === null;
  const { read, again, renew } = useOpened(link, isOpen);
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
  return <Checkout {...{ link, opened, payment, renew }} />;
};
