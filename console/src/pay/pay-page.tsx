import { useEffect, useState } from 'react';
import { addressWith } from '../../../sdk/src/payment-page.ts';
import { useFragment } from '../lib/fragment.ts';
import { Loading } from '../ui/layout.tsx';
import { Notice } from '../ui/notice.tsx';
import { type Order, type Read, readOrder } from './order.ts';
import type { Payable } from './payable.ts';
import { Sold, useExpired } from './sold.tsx';
import { reasonOf, TEXTS } from './texts.ts';
import { Ways } from './ways.tsx';

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

/** Leaves no entry of this page in the history, so that nobody returns to a paid order. */
const leave = (to: string): void => location.replace(to);

/** What is sold and the ways to pay it, until the browser leaves for the product. */
const Checkout = ({ order }: { order: Order }) => {
  const [said, setSaid] = useState<string | null>(null);
  const isExpired = useExpired(order.expiresAt);
  const { token, claims, back, offer, reason } = order;
  const { host } = new URL(back);
  const onDone = (to: string, text: string) => {
    setSaid(text);
    leave(to);
  };
  const newPrice = <a href={addressWith(back, { refusedQuote: claims.quote_id })}>{TEXTS.newPrice}</a>;
  const payable: Payable = {
    token,
    claims,
    address: back,
    byPhone: null,
    elsewhere: <p>{newPrice}</p>,
    terms: offer,
    onSigned: (transaction) => {
      const payload = { x402Version: 2, accepted: offer?.accepted, payload: { transaction } };
      onDone(addressWith(back, { payload }), TEXTS.sent(host));
    },
    byAccount: {
      onPaid: ({ settlement_id, settlement_token }) =>
        onDone(addressWith(back, { settlement_id, settlement_token }), TEXTS.leaving(host)),
    },
  };
  const address = (
    <span key="for" className="long">
      {back}
    </span>
  );
  return (
    <>
      {reason !== null && said === null && <Notice tone="wait">{reasonOf(reason)}</Notice>}
      <Sold claims={claims} what={['For', address]} />
      {said !== null ? (
        <div className="notice" data-tone="good" role="status">
          {said}
        </div>
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

/** Reads the order in the fragment of the page's address, and lets a person pay it. */
export const PayPage = () => {
  const read = useOrder();
  if (read === null) return <Loading>{TEXTS.reading}</Loading>;
  if ('problem' in read) return <Notice tone="bad">{read.problem}</Notice>;
  return <Checkout key={read.order.token} order={read.order} />;
};
