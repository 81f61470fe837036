import { Link, useParams } from 'wouter';
import type { Output } from '../../../sdk/src/main.ts';
import { isOutgoingRail } from '../../../sdk/src/payment.ts';
import { useAction, useRead } from '../api/data.ts';
import { approveWithPasskey } from '../api/passkeys.ts';
import { useNow } from '../lib/clock.ts';
import { Countdown } from '../lib/countdown.tsx';
import {
  Button,
  Copyable,
  ErrorNotice,
  Loading,
  Money,
  Notice,
  Page,
  Properties,
  Row,
  Section,
  Stack,
  Time,
  toast,
} from '../ui/index.ts';
import './approval.css';
import { useDelegateNames } from '../payments/names.tsx';
import { APPROVALS } from '../payments/waiting-approvals.ts';
import { ApprovalBadge } from './approvals.tsx';
import { PaidAddresses } from './paid-addresses.tsx';

type Approval = Output<'settlement.getApproval'>;

/** How often the approval is read while something may change. */
const EVERY_MS = 3000;
const isOpen = ({ status, settlement_id }: Approval): boolean =>
  settlement_id === null && (status === 'awaiting_approval' || status === 'approved');

const ApprovalPage = () => {
  const { approval_id } = useParams<{ approval_id: string }>();
  const { data, error, isPending, again } = useRead(
    [...APPROVALS, approval_id],
    (client, options) => client.settlement.getApproval({ approval_id }, options),
    { every: (approval) => (approval !== undefined && isOpen(approval) ? EVERY_MS : false) },
  );
  return (
    <Page
      title="Approve a payment"
      about="An agent asks before it pays."
      actions={<Link href="/approvals">All approvals</Link>}
    >
      {isPending ? (
        <Loading>Loading the payment…</Loading>
      ) : data === undefined ? (
        <ErrorNotice error={error} retry={again} />
      ) : (
        <ApprovalDetails approval={data} />
      )}
    </Page>
  );
};
export default ApprovalPage;

const ApprovalDetails = ({ approval }: { approval: Approval }) => {
  const { amount, payees, service_name, service_id, delegate_id, resource, expires_at } = approval;
  const name = useDelegateNames()?.get(delegate_id);
  const isOther = isOutgoingRail(approval.rail);
  return (
    <Stack>
      <Section
        title={`“${name ?? 'An agent'}” asks to pay ${service_name}`}
        actions={<ApprovalBadge approval={approval} />}
      >
        <Stack>
          <Properties
            of={[
              ['Amount', <Money key="amount" micro={amount} large />],
              [
                'Paid to',
                isOther ? (
                  <span key="payee">
                    {service_name}
                    <span className="quiet"> (reported by the agent, not verified)</span>
                  </span>
                ) : (
                  <span key="payee">
                    {service_name}
                    <span className="quiet"> (a Quittance service)</span>
                  </span>
                ),
              ],
              [payees.length === 1 ? 'Address' : 'Addresses', <PaidAddresses key="addresses" of={payees} />],
              [
                'For',
                resource !== null && (
                  <Claimed
                    key="resource"
                    text={resource}
                    by={isOther ? 'reported by the agent, not verified' : 'signed by the vendor in its quote'}
                  />
                ),
              ],
              [
                'Agent',
                <span key="delegate">
                  {name ?? 'revoked'} <Copyable text={delegate_id} short label="the id of the agent" />
                </span>,
              ],
              [
                'Service',
                service_id !== null && (
                  <Copyable key="service" text={service_id} short label="the id of the service" />
                ),
              ],
              ['Requested', <Time key="asked" at={approval.created_at} seconds />],
              ['Time left', isOpen(approval) && <Countdown key="left" until={expires_at} over="expired" />],
            ]}
          />
          <Decision approval={approval} />
        </Stack>
      </Section>
    </Stack>
  );
};

/** A longer text must not move the decision off the screen. */
const MAX_CLAIM = 160;

/** The text of a delegate or a vendor, as text: it may contain anything. */
const Claimed = ({ text, by }: { text: string; by: string }) => (
  <>
    <bdi className="claimed">{text.length > MAX_CLAIM ? `${text.slice(0, MAX_CLAIM)}…` : text}</bdi>
    <span className="quiet"> ({by})</span>
    {text.length > MAX_CLAIM && (
      <details>
        <summary>Show all</summary>
        <bdi className="claimed">{text}</bdi>
      </details>
    )}
  </>
);

const Decision = ({ approval }: { approval: Approval }) => {
  const { approval_id, status, settlement_id, expires_at, decided_at } = approval;
  const passkeys = useRead(['passkeys', 'any'], (client, options) =>
    client.identity.listPasskeys({ limit: '1' }, options),
  );
  const isLate = useNow() >= Date.parse(expires_at);
  const approve = useAction((_client, id: string) => approveWithPasskey(id), {
    changes: [APPROVALS],
    done: () => toast('Approved. The agent can pay now.'),
  });
  const deny = useAction((client, id: string) => client.settlement.denyApproval({ approval_id: id }), {
    changes: [APPROVALS],
    done: () => toast('Denied. The agent gets a refusal when it retries.'),
  });
  if (settlement_id !== null) {
    return (
      <Notice tone="good" title={status === 'approved' ? 'Paid' : 'Paid without this approval'}>
        <Link href={`/payments/${settlement_id}`}>View the receipt</Link>
      </Notice>
    );
  }
  if (status === 'denied') {
    return (
      <Notice tone="bad" title="You denied this payment">
        Nothing was paid. Denied <Time at={decided_at} />.
      </Notice>
    );
  }
  if (status === 'expired' || isLate) {
    return (
      <Notice tone="wait" title="This request has expired">
        Nothing was paid. The agent can ask again with a new price.
      </Notice>
    );
  }
  const denyButton = (
    <Button
      variant={status === 'approved' ? 'plain' : 'danger'}
      isDisabled={approve.isBusy}
      busy={deny.isBusy && 'Denying…'}
      onPress={() => void deny.run(approval_id)}
    >
      {status === 'approved' ? 'Deny after all' : 'Deny'}
    </Button>
  );
  const errors = [approve.error, deny.error].filter((error) => error !== null);
  if (status === 'approved') {
    return (
      <Stack>
        <Notice tone="good" title="You approved this payment">
          The agent has <Countdown until={expires_at} over="no time left" /> to retry. The payment goes
          through then, if its limits and your balance allow it.
        </Notice>
        {errors.map((error) => (
          <ErrorNotice key={String(error)} error={error} />
        ))}
        <Row>{denyButton}</Row>
      </Stack>
    );
  }
  const hasNone = passkeys.data?.data.length === 0;
  return (
    <Stack>
      {hasNone && (
        <Notice tone="wait" title="You have no passkey yet">
          Approvals are signed with a passkey, so that a stolen sign-in cannot approve payments.{' '}
          <Link href="/account">Add a passkey</Link>, then come back.
        </Notice>
      )}
      {errors.map((error) => (
        <ErrorNotice key={String(error)} error={error} />
      ))}
      <p className="quiet">
        Your passkey signs this payment only: its amount, whom it pays, and its quote. The agent then retries,
        and its limits and your balance are checked.
      </p>
      <Row>
        <Button
          variant="primary"
          isDisabled={hasNone || deny.isBusy}
          busy={approve.isBusy && 'Waiting for your passkey…'}
          onPress={() => void approve.run(approval_id)}
        >
          Approve with a passkey
        </Button>
        {denyButton}
      </Row>
    </Stack>
  );
};
