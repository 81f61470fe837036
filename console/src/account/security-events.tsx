import { formatUsdc } from '../../../sdk/src/generated/usdc.ts';
import type { Output } from '../../../sdk/src/main.ts';
import { useItems } from '../api/data.ts';
import { Ago, Empty, Section, Table } from '../ui/index.ts';
import { SECURITY } from './texts.ts';

type SecurityEvent = Output<'identity.listSecurityEvents'>['data'][number];

/** What happened to the sign-ins, limits, keys and payees of the account. */
export const SecurityEvents = () => {
  const events = useItems(['security-events'], (client, cursor, options) =>
    client.identity.listSecurityEvents({ cursor }, options),
  );
  return (
    <Section title={SECURITY.title} about={SECURITY.about}>
      <Table
        label={SECURITY.title}
        items={events}
        waiting="Loading the security events…"
        keyOf={({ security_event_id }) => security_event_id}
        empty={<Empty title={SECURITY.none} />}
        columns={[
          { heading: 'When', show: ({ created_at }) => <Ago at={created_at} /> },
          { heading: 'What', main: true, show: (event) => sentenceOf(event) },
          { heading: SECURITY.where, show: ({ address, agent }) => whereOf(address, agent) },
        ]}
      />
    </Section>
  );
};

/** The network and the kind of program, both coarse. */
const whereOf = (address: string | null, agent: string | null): string =>
  [address, agent].filter((part) => part !== null).join(', ') || SECURITY.unknown;

/** The event in one sentence. A name in it may be of somebody else, so it is quoted. */
const sentenceOf = ({ kind, details }: SecurityEvent): string =>
  SECURITY.sentences[kind].replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const detail = details[name] ?? '';
    if (name === 'method') return SECURITY.methods[detail] ?? detail;
    if (name === 'owner_kind') return detail === 'delegate' ? SECURITY.agent : detail;
    if (name === 'payee') return payeeOf(details);
    return AMOUNTS.has(name) && detail !== '' ? formatUsdc(detail) : detail;
  });

/** The details that are amounts in micro-units. */
const AMOUNTS = new Set(['amount', 'per_payment', 'daily']);
const payeeOf = ({ service, service_id, pay_to }: SecurityEvent['details']): string =>
  service === undefined ? (service_id ?? pay_to ?? '') : `“${service}”`;
