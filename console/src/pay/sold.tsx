import { useEffect, useState } from 'react';
import type { QuoteClaims } from '../../../sdk/src/checks/tokens.ts';
import { displayUsdc } from '../../../sdk/src/generated/usdc.ts';
import { Properties } from '../ui/layout.tsx';
import { Notice } from '../ui/notice.tsx';
import { Badge, Copyable, Money } from '../ui/show.tsx';
import { renewedOf } from './renewal.ts';
import { TEXTS } from './texts.ts';
import './sold.css';

/** Whether a time has passed, as time goes by. @param at epoch milliseconds */
export const useExpired = (at: number): boolean => {
  const [passed, setPassed] = useState<number | null>(null);
  useEffect(() => {
    const timer = setTimeout(() => setPassed(at), Math.max(0, at - Date.now()));
    return () => clearTimeout(timer);
  }, [at]);
  return passed === at;
};

/** What became of a price that ran out in this tab. */
const Renewed = ({ of, amount }: { of: string; amount: string }) => {
  const before = renewedOf(of);
  if (before === null) return null;
  return before.amount === amount ? (
    <p className="quiet" role="status">
      {TEXTS.renewed}
    </p>
  ) : (
    <Notice tone="wait">{TEXTS.repriced(displayUsdc(before.amount), displayUsdc(amount))}</Notice>
  );
};

/** The domain that its DNS has proven, beside its ASCII form where that is another. */
const Domain = ({ shown }: { shown: string }) => {
  const ascii = new URL(`https://${shown}`).hostname;
  return (
    <p className="sold-domain">
      <strong>{shown}</strong>
      {ascii !== shown && <span className="quiet">{ascii}</span>}
      <Badge state={TEXTS.verified} tone="good" />
    </p>
  );
};

type Props = {
  claims: QuoteClaims;
  /** What is sold: a title, or an address. */
  item: string;
  /** Where the payment returns, which the quote names. Null: the quote is of a link. */
  site: string | null;
  /** The order, as its renewals are kept. */
  of: string;
};

/** Who is paid, for what, and how much. The vendor is what a person has to recognise. */
export const Sold = ({ claims, item, site, of }: Props) => {
  const { service_name, service_domain: domain, payout_address, quote_amount, env, scope } = claims;
  const units = scope?.units;
  useEffect(() => {
    document.title = `Pay ${displayUsdc(quote_amount)} to ${service_name} for ${item}`;
  }, [quote_amount, service_name, item]);
  return (
    <section className="section sold" aria-labelledby="vendor">
      <div className="sold-head">
        <h1 id="vendor">{service_name}</h1>
        {env === 'test' && <Badge state={TEXTS.test} tone="wait" />}
      </div>
      {domain !== undefined && <Domain shown={domain} />}
      <p className="sold-price">
        <Money micro={quote_amount} large />
      </p>
      <Renewed of={of} amount={quote_amount} />
      <Properties
        of={[
          [
            'For',
            <span key="for" className="long">
              {item}
            </span>,
          ],
          ['Returns to', site],
          ['Fees for you', 'none'],
          ['Requests', typeof units === 'number' && String(units)],
          ['Paid to', <Copyable key="to" text={payout_address} label="address that is paid" block />],
        ]}
      />
    </section>
  );
};
