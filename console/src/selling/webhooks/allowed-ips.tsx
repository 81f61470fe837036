import { type FormEvent, useState } from 'react';
import { useAction } from '../../api/data.ts';
import { Button, ErrorNotice, Row, Section, Stack, TextField, toast } from '../../ui/index.ts';
import type { Service } from '../service-form.tsx';

/** The typed addresses; null for none, which means any. The API validates them. */
const readBlocks = (typed: string): string[] | null => {
  const blocks = typed.split(/[\s,]+/).filter((block) => block !== '');
  return blocks.length === 0 ? null : blocks;
};

/** From where the keys of a service may be used. */
export const AllowedIps = ({ service: { service_id, allowed_ips } }: { service: Service }) => {
  const [typed, setTyped] = useState((allowed_ips ?? []).join('\n'));
  const save = useAction(
    (client, blocks: string[] | null) => client.identity.updateService({ service_id, allowed_ips: blocks }),
    {
      changes: [['services']],
      done: ({ allowed_ips: saved }) =>
        toast(saved === null ? 'Keys work from any address.' : 'Keys work from these addresses only.'),
    },
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void save.run(readBlocks(typed));
  };
  return (
    <Section
      title="Allowed server addresses"
      about="A stolen key is useless elsewhere. Changes need a recent sign-in and apply within a second."
    >
      <form onSubmit={submit} noValidate>
        <Stack>
          <TextField
            value={typed}
            onChange={setTyped}
            label="IP addresses"
            hint="One address or CIDR block per line, up to 20: 203.0.113.7 or 203.0.113.0/24. Leave empty for any."
            lines={3}
            spellCheck="false"
            autoComplete="off"
          />
          {save.error !== null && <ErrorNotice error={save.error} />}
          <Row>
            <Button type="submit" busy={save.isBusy && 'Saving…'}>
              Save addresses
            </Button>
          </Row>
        </Stack>
      </form>
    </Section>
  );
};
