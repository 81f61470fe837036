import type { ReactNode } from 'react';
import { keepOrder } from '../session/waiting-order.ts';
import { Button, LinkOut } from '../ui/button.tsx';
import { Notice } from '../ui/notice.tsx';
import type { Payable } from './payable.ts';
import type { Refusal, Todo } from './refusals.ts';
import { TODO } from './texts.ts';
import { Install } from './wallets/install.tsx';

type Props = {
  refusal: Refusal;
  payable: Pick<Payable, 'claims' | 'vendorUrl' | 'newPrice'>;
  /** Shows the payment with an account, where that is another way. */
  onAccount?: () => void;
};

/** Opens beside the page, which keeps the order. */
const Beside = ({ to, onOpen, children }: { to: string; onOpen?: () => void; children: ReactNode }) => (
  <a href={to} target="_blank" rel="noreferrer" onClick={onOpen}>
    {children}
  </a>
);

/** Pages of the console on which it can be done. */
const PAGES: Partial<Record<Todo, string>> = {
  allow: '/console/wallet',
  limits: '/console/account',
  approvals: '/console/approvals',
  payments: '/console/activity',
};

const WhatToDo = ({
  refusal: { todo, code },
  payable: { claims, vendorUrl, newPrice },
  onAccount,
}: Props): ReactNode => {
  switch (todo) {
    case 'again':
      return null;
    case 'account':
      return onAccount && <Button onPress={onAccount}>{TODO.account}</Button>;
    case 'other_wallet':
      return <Install about={TODO.otherWallet} />;
    case 'new_price':
      return newPrice;
    case 'vendor':
      return vendorUrl && <LinkOut to={vendorUrl}>{TODO.vendor(new URL(vendorUrl).host)}</LinkOut>;
    case 'support':
      return <Beside to={`/docs/errors${code === undefined ? '' : `#${code}`}`}>{TODO.support}</Beside>;
    case 'money':
      return (
        <Beside to="/console/deposits" onOpen={() => keepOrder(claims.env, 'money')}>
          {TODO.money}
        </Beside>
      );
    default:
      return <Beside to={PAGES[todo]!}>{TODO[todo]}</Beside>;
  }
};

/** Why a payment was refused, with a link to what the person can do about it. */
export const Refused = (props: Props) => (
  <Notice tone="bad" title={props.refusal.text}>
    <WhatToDo {...props} />
  </Notice>
);
