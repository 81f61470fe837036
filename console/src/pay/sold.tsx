import { type ReactNode, useEffect, useState } from 'react';
import { displayUsdc } from '../../../sdk/src/generated/usdc.ts';
import type { QuoteClaims } from '../../../sdk/src/tokens.ts';
import { Properties, Section } from '../ui/layout.tsx';
import { Badge, Copyable, Money } from '../ui/show.tsx';
import { TEXTS } from './texts.ts';

/** Whether the price has expired, as time goes by. */
export const useExpired = (expiresAt: number): boolean => {
  const [isExpired, setExpired] = useState(false);
  useEffect(() => {
    setExpired(expiresAt <= Date.now());
    const timer = setTimeout(() => setExpired(true), Math.max(0, expiresAt - Date.now()));
    return () => clearTimeout(timer);
  }, [expiresAt]);
  return isExpired;
};

/**
 * What a quote sells, and to whom its money goes.
 * @param what the row that says what it is for
 */
export const Sold = ({ claims, what }: { claims: QuoteClaims; what: [string, ReactNode] }) => {
  const { service_name, payout_address, quote_amount, env, scope } = claims;
  const units = scope?.units;
  useEffect(() => {
    document.title = `Pay ${displayUsdc(quote_amount)} to ${service_name} · Quittance`;
  }, [quote_amount, service_name]);
  return (
    <Section title={service_name} actions={env === 'test' && <Badge state={TEXTS.test} tone="wait" />}>
      <Properties
        of={[
          ['Price', <Money key="price" micro={quote_amount} large />],
          ['Fees for you', 'none'],
          ['Requests', typeof units === 'number' && String(units)],
          what,
          ['Paid to', <Copyable key="to" text={payout_address} label="address that is paid" block />],
        ]}
      />
    </Section>
  );
};
