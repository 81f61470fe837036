import type { ReactNode } from 'react';
import type { Output } from '../../../sdk/src/main.ts';
import { useWaitingCount } from '../payments/waiting-approvals.ts';
import { LinkButton, Notice } from '../ui/index.ts';
import type { Wallet } from '../wallet/signing.tsx';

type Endpoint = Output<'webhook.listEndpoints'>['data'][number];

/** What needs the person's attention. Nothing is shown while all is well. */
export const ToDo = ({
  wallets,
  endpoints,
}: {
  wallets: readonly Wallet[];
  endpoints: readonly Endpoint[];
}) => {
  const waiting = useWaitingCount();
  const exhausted = wallets.filter(({ delegation: { status } }) => status === 'exhausted');
  const overwritten = wallets.filter(({ delegation: { status } }) => status === 'overwritten');
  const failing = endpoints.filter(({ failing_since, disabled_reason }) =>
    [failing_since, disabled_reason].some((each) => each !== null && each !== 'owner'),
  );
  const entries: [title: string, link: ReactNode][] = [];
  if (waiting > 0)
    entries.push([
      waiting === 1 ? '1 payment needs your approval' : `${waiting} payments need your approval`,
      <LinkButton key="approve" to="/approvals" variant="primary" size="small">
        Review
      </LinkButton>,
    ]);
  const toWallet = (
    <LinkButton to="/wallet" size="small">
      Open wallet
    </LinkButton>
  );
  if (exhausted.length > 0) entries.push(['A spending limit is used up: payments are refused', toWallet]);
  if (overwritten.length > 0)
    entries.push(['Another app replaced a spending limit: payments are refused', toWallet]);
  if (failing.length > 0)
    entries.push([
      'A webhook endpoint is failing',
      <LinkButton key="webhooks" to={`/webhooks/${failing[0]!.endpoint_id}`} size="small">
        View deliveries
      </LinkButton>,
    ]);
  if (entries.length === 0) return null;
  return (
    <div className="to-do">
      {entries.map(([title, link]) => (
        <Notice key={title} tone="wait" title={title}>
          {link}
        </Notice>
      ))}
    </div>
  );
};
