import { useEffect, useState } from 'react';
import { addressWith } from '../../../sdk/src/payment-page.ts';
import { useFragment } from '../lib/fragment.ts';
import { Loading } from '../ui/layout.tsx';
import { Notice } from '../ui/notice.tsx';
import { type Order, type Read, readOrder } from './order.ts';
import type { Payable } from './payable.ts';
import { ofOrder } from './refusals.ts';
import { Sold, useExpired } from './sold.tsx';
import { TEXTS } from './texts.ts';
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

/** The payment of an order: what each way does with it. */
const payableOf = (
  { token, claims, back, offer }: Order,
  isExpired: { offer: boolean; quote: boolean },
  onDone: (to: string, text: string) => void,
): Payable => {
  const { host, origin } = new URL(back);
  const again = addressWith(back, { refusedQuote: claims.quote_id });
  return {
    token,
    claims,
    address: back,
    addressAbout: TEXTS.phoneAbout,
    phone: null,
    newPrice: <a href={again}>{TEXTS.newPrice}</a>,
    renew: async () => leave(again),
    of: back,
    isShort: false,
    isOfferExpired: isExpired.offer,
    isExpired: isExpired.quote,
    vendorUrl: origin,
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
};

/** What is sold and the ways to pay it, until the browser leaves for the product. */
const Checkout = ({ order }: { order: Order }) => {
  const [said, setSaid] = useState<string | null>(null);
  const offer = useExpired(order.offerExpiresAt);
  const quote = useExpired(order.expiresAt);
  const { claims, back, reason } = order;
  const { host, pathname } = new URL(back);
  const payable = payableOf(order, { offer, quote }, (to, text) => {
    setSaid(text);
    leave(to);
  });
  return (
    <>
      <Sold claims={claims} item={`${host}${pathname}`} site={host} of={back} />
      {said !== null ? (
        <div className="notice" data-tone="good" role="status">
          {said}
        </div>
      ) : (
        <Ways payable={payable} refusal={reason === null ? null : ofOrder(reason)} />
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
