import { type FormEvent, useState } from 'react';
import { useAction } from '../api/data.ts';
import {
  Badge,
  Button,
  Copyable,
  ErrorNotice,
  Notice,
  Properties,
  Row,
  Section,
  Stack,
  TextField,
  Time,
  toast,
} from '../ui/index.ts';
import type { Service } from './service-form.tsx';

type Claimed = NonNullable<Service['domain']>;

/** What is typed or pasted, without what an address has around its domain. */
const typedDomain = (text: string): string =>
  text
    .trim()
    .replace(/^https?:\/\//i, '')
    .replace(/[/?#].*$/, '');

const FOUND: Record<NonNullable<Claimed['problem']>, (domain: string) => string> = {
  record_missing: () =>
    'The record is not there yet. A change of DNS takes minutes, sometimes hours. We look again every 6 hours.',
  record_differs: () => 'There is a record of this name with another value. Add the value below beside it.',
  no_answer: (domain) => `The name servers of ${domain} did not answer. Check again in a moment.`,
};

/** The claimed domain: the record that proves it, and whether it was found. */
const Claim = ({ service: { service_id }, domain }: { service: Service; domain: Claimed }) => {
  const changes = { changes: [['services']] };
  const check = useAction((client) => client.identity.checkServiceDomain({ service_id }), {
    ...changes,
    done: ({ domain: now }) => {
      if (now?.status === 'verified' && now.problem === null) toast(`${now.display_name} is verified.`);
    },
  });
  const remove = useAction((client) => client.identity.updateService({ service_id, domain: null }), {
    ...changes,
    done: () => toast('Domain removed.'),
  });
  const { name, display_name, status, record, problem, verified_at, checked_at } = domain;
  const isVerified = status === 'verified';
  const error = check.error ?? remove.error;
  return (
    <Stack>
      <Properties
        of={[
          ['Domain', display_name === name ? name : `${display_name} (${name})`],
          [
            'State',
            <Badge
              key="state"
              state={isVerified ? 'verified' : 'not verified'}
              tone={isVerified ? 'good' : 'wait'}
            />,
          ],
          ['Proof last seen', verified_at !== null && <Time key="seen" at={verified_at} />],
          ['Last checked', checked_at !== null && <Time key="checked" at={checked_at} />],
        ]}
      />
      {problem !== null && <Notice tone={isVerified ? 'wait' : 'bad'}>{FOUND[problem](name)}</Notice>}
      <p>
        {isVerified
          ? 'Buyers see this domain as verified. Keep the record: without it the domain is shown no more.'
          : 'Add this record where you manage the DNS of the domain. Buyers do not see the domain before.'}
      </p>
      <Properties
        of={[
          ['Type', record.type],
          ['Name', <Copyable key="name" text={record.name} label="name of the record" block />],
          ['Value', <Copyable key="value" text={record.value} label="value of the record" block />],
        ]}
      />
      {error !== null && <ErrorNotice error={error} />}
      <Row>
        <Button
          variant={isVerified ? 'plain' : 'primary'}
          busy={check.isBusy && 'Checking…'}
          onPress={() => void check.run(undefined)}
        >
          Check
        </Button>
        <Button
          variant="quiet"
          busy={remove.isBusy && 'Removing…'}
          onPress={() => void remove.run(undefined)}
        >
          Remove domain
        </Button>
      </Row>
    </Stack>
  );
};

const Add = ({ service: { service_id } }: { service: Service }) => {
  const [typed, setTyped] = useState('');
  const [wrong, setWrong] = useState<string | null>(null);
  const save = useAction((client, domain: string) => client.identity.updateService({ service_id, domain }), {
    changes: [['services']],
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const domain = typedDomain(typed);
    if (domain === '') setWrong('Enter a domain.');
    else void save.run(domain);
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <TextField
          value={typed}
          onChange={(text) => {
            setTyped(text);
            setWrong(null);
          }}
          error={wrong}
          label="Domain"
          hint="Yours, like shop.example.com. You prove it by a DNS record."
          spellCheck="false"
          autoComplete="off"
          maxLength={253}
        />
        {save.error !== null && <ErrorNotice error={save.error} />}
        <Row>
          <Button type="submit" busy={save.isBusy && 'Saving…'}>
            Add domain
          </Button>
        </Row>
      </Stack>
    </form>
  );
};

/** The domain of a service, which buyers are shown where they pay. */
export const ServiceDomain = ({ service }: { service: Service }) => (
  <Section title="Verified domain" about="Buyers see it where they pay, so that they know who you are.">
    {service.domain === null ? (
      <Add service={service} />
    ) : (
      <Claim service={service} domain={service.domain} />
    )}
  </Section>
);
