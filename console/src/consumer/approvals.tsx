import { Link } from 'wouter';
import type { Output } from '../../../sdk/src/main.ts';
import { useItems } from '../api/data.ts';
import { Countdown } from '../lib/countdown.tsx';
import { shortId } from '../lib/short-id.ts';
import { useDelegateNames } from '../payments/names.tsx';
import { APPROVALS } from '../payments/waiting-approvals.ts';
import { Ago, Badge, type Column, Empty, LinkButton, Money, Page, Section, Table } from '../ui/index.ts';

type Approval = Output<'settlement.getApproval'>;

/** The owner waits for new requests here, so the list is read often. */
const EVERY_MS = 5000;
/** Of what is bought, as many characters as a row has room for. */
const RESOURCE_SHOWN = 60;

/** Who would be paid, and for what. */
const Asked = ({ approval: { approval_id, service_name, resource } }: { approval: Approval }) => (
  <>
    <Link href={`/approvals/${approval_id}`}>To {service_name}</Link>
    {resource !== null && (
      <div className="quiet">
        <bdi className="claimed" title={resource}>
          {resource.length > RESOURCE_SHOWN ? `${resource.slice(0, RESOURCE_SHOWN)}…` : resource}
        </bdi>
      </div>
    )}
  </>
);

const ApprovalsPage = () => {
  const waiting = useItems(
    [...APPROVALS, 'waiting'],
    (client, cursor, options) =>
      client.settlement.listApprovals({ cursor, status: 'awaiting_approval' }, options),
    { every: EVERY_MS },
  );
  const all = useItems(
    [...APPROVALS, 'all'],
    (client, cursor, options) => client.settlement.listApprovals({ cursor }, options),
    { every: EVERY_MS },
  );
  const names = useDelegateNames();
  const nameOf = (id: string) => names?.get(id) ?? shortId(id);
  const shared: readonly Column<Approval>[] = [
    {
      heading: 'Payment',
      show: (approval) => <Asked approval={approval} />,
    },
    { heading: 'Agent', show: ({ delegate_id }) => nameOf(delegate_id) },
    { heading: 'Amount', align: 'end', show: ({ amount }) => <Money micro={amount} /> },
  ];
  return (
    <Page
      title="Approvals"
      about="Agent payments that need your approval. Nothing is held or charged until you approve."
    >
      <Section title="To approve">
        <Table
          label="Payments to approve"
          items={waiting}
          waiting="Loading payments to approve…"
          keyOf={({ approval_id }) => approval_id}
          empty={
            <Empty title="Nothing to approve">
              <div>Set “Ask for approval above” on an agent to get requests here.</div>
              <LinkButton to="/delegates">Open agents</LinkButton>
            </Empty>
          }
          columns={[
            ...shared,
            {
              heading: 'Time left',
              show: ({ expires_at }) => <Countdown until={expires_at} over="expired" />,
            },
            {
              heading: '',
              align: 'end',
              show: ({ approval_id, service_name }) => (
                <LinkButton
                  to={`/approvals/${approval_id}`}
                  variant="primary"
                  size="small"
                  aria-label={`Review the payment to ${service_name}`}
                >
                  Review
                </LinkButton>
              ),
            },
          ]}
        />
      </Section>
      <Section title="All requests">
        <Table
          label="All approval requests"
          items={all}
          waiting="Loading approval requests…"
          keyOf={({ approval_id }) => approval_id}
          empty={<Empty title="No requests yet" />}
          columns={[
            {
              heading: 'When',
              show: ({ created_at }) => (
                <span className="one-line">
                  <Ago at={created_at} />
                </span>
              ),
            },
            ...shared,
            { heading: 'Status', show: (approval) => <ApprovalBadge approval={approval} /> },
          ]}
        />
      </Section>
    </Page>
  );
};
export default ApprovalsPage;

/** The state as a person reads it: an approval that was used is a payment. */
export const ApprovalBadge = ({ approval: { status, settlement_id } }: { approval: Approval }) =>
  settlement_id === null ? <Badge state={status} /> : <Badge state="used" tone="good" />;
