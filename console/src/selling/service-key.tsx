import { useState } from 'react';
import type { Output } from '../../../sdk/src/main.ts';
import { useAction, useItems } from '../api/data.ts';
import { useSession } from '../api/use-session.tsx';
import { useNow } from '../lib/clock.ts';
import { Countdown } from '../lib/countdown.tsx';
import {
  Ago,
  Button,
  Dialog,
  DialogActions,
  Empty,
  ErrorNotice,
  Notice,
  Row,
  Section,
  Stack,
  Switch,
  Table,
  Time,
} from '../ui/index.ts';
import { NewKeyDialog } from './new-key.tsx';
import type { Service } from './service-form.tsx';

type Rotated = Output<'identity.rotateServiceKey'>;
const TEXTS: Record<string, string> = {
  'key.rotated': 'rotated',
  'key.revealed': 'replaced by a mailed link',
  'key.ended': 'ended',
};

/** The key of a service: rotation here or by a mailed link, and how long the previous key works. */
export const ServiceKey = ({ service }: { service: Service }) => {
  const [isMailing, setMailing] = useState(false);
  const [mailed, setMailed] = useState(false);
  // From the rotation's answer, because its event takes a moment. Undefined without a rotation.
  const [said, setSaid] = useState<string | null | undefined>();
  const { account } = useSession();
  const { service_id } = service;
  // A key cannot be read afterwards. Its changes are in the events, which are stored for 30 days.
  const changes = useItems(
    ['key-events', service_id],
    (client, cursor, options) =>
      client.webhook.listEvents({ object_id: service_id, cursor, limit: '5' }, options),
    { every: 15_000 },
  );
  const rotatedUntil = changes.data[0]?.data.previous_key_expires_at;
  const ends = said === undefined ? (typeof rotatedUntil === 'string' ? rotatedUntil : null) : said;
  return (
    <Section title="Key" about="Your server’s credential. It is shown once; rotate it if you lose it.">
      <Stack>
        {ends !== null && <Grace until={ends} />}
        {mailed && (
          <Notice tone="good" title="Link sent">
            It was mailed to {account?.email}. It works once, for 15 minutes. The key changes when you open
            it, not before.
          </Notice>
        )}
        <Row>
          <RotateKey service={service} onRotated={setSaid}>
            Rotate the key
          </RotateKey>
          <Button onPress={() => setMailing(true)}>E-mail a link</Button>
        </Row>
        <details>
          <summary>Key history, 30 days</summary>
          <Table
            label="Changes of the key"
            items={changes}
            waiting="Loading the key history…"
            keyOf={({ event_id }) => event_id}
            empty={<Empty title="No changes" />}
            columns={[
              { heading: 'What', show: ({ type }) => TEXTS[type] ?? type },
              { heading: 'When', show: ({ created_at }) => <Ago at={created_at} /> },
            ]}
          />
        </details>
      </Stack>
      {isMailing && (
        <MailDialog
          serviceId={service_id}
          onClose={() => setMailing(false)}
          onMailed={() => {
            setMailing(false);
            setMailed(true);
          }}
        />
      )}
    </Section>
  );
};

/** The button that creates a new key, asks before, and shows it once. */
export const RotateKey = ({
  service: { service_id, name, key_grace_hours },
  onRotated,
  children,
}: {
  service: Pick<Service, 'service_id' | 'name' | 'key_grace_hours'>;
  /** Gets until when the previous key works, or null. */
  onRotated?: (previousEnds: string | null) => void;
  children: string;
}) => {
  const [isAsking, setAsking] = useState(false);
  const [rotated, setRotated] = useState<Rotated | null>(null);
  return (
    <>
      <Button onPress={() => setAsking(true)}>{children}</Button>
      {isAsking && (
        <RotateDialog
          serviceId={service_id}
          graceHours={key_grace_hours}
          onClose={() => setAsking(false)}
          onRotated={(answer) => {
            setAsking(false);
            setRotated(answer);
            onRotated?.(answer.previous_key_expires_at);
          }}
        />
      )}
      {rotated !== null && (
        <NewKeyDialog
          title={`New key of “${name}”`}
          answer={rotated}
          previousEnds={rotated.previous_key_expires_at}
          onClose={() => setRotated(null)}
        />
      )}
    </>
  );
};

const Grace = ({ until }: { until: string }) => {
  const isOver = useNow() >= Date.parse(until);
  if (isOver) return null;
  return (
    <Notice tone="wait" title="Two keys are valid">
      The old key stops working in <Countdown until={until} over="this moment" />, on <Time at={until} />.
      Update your servers before that.
    </Notice>
  );
};

const RotateDialog = ({
  serviceId,
  graceHours,
  onClose,
  onRotated,
}: {
  serviceId: string;
  graceHours: number;
  onClose: () => void;
  onRotated: (answer: Rotated) => void;
}) => {
  const [atOnce, setAtOnce] = useState(false);
  const rotate = useAction(
    (client, revoke_previous: boolean) =>
      client.identity.rotateServiceKey({ service_id: serviceId, revoke_previous }),
    { changes: [['key-events', serviceId]], done: onRotated },
  );
  return (
    <Dialog title="Rotate the key?" isOpen onClose={onClose}>
      <p>
        You get a new key, shown once.{' '}
        {atOnce || graceHours === 0
          ? 'The current key stops working now. Servers that use it are refused until they have the new one.'
          : `The current key works for another ${graceHours === 1 ? 'hour' : `${graceHours} hours`} while your servers switch.`}
      </p>
      <Switch isSelected={atOnce} onChange={setAtOnce} hint="if someone else may have seen the key">
        Revoke all other keys now
      </Switch>
      {rotate.error !== null && <ErrorNotice error={rotate.error} />}
      <DialogActions>
        <Button onPress={onClose}>Cancel</Button>
        <Button
          variant={atOnce ? 'danger' : 'primary'}
          busy={rotate.isBusy && 'Rotating…'}
          onPress={() => void rotate.run(atOnce)}
        >
          Rotate key{' '}
        </Button>
      </DialogActions>
    </Dialog>
  );
};

const MailDialog = ({
  serviceId,
  onClose,
  onMailed,
}: {
  serviceId: string;
  onClose: () => void;
  onMailed: () => void;
}) => {
  const [atOnce, setAtOnce] = useState(false);
  const mail = useAction(
    (client, revoke_previous: boolean) =>
      client.identity.revealServiceKey({ service_id: serviceId, revoke_previous }),
    { done: onMailed },
  );
  return (
    <Dialog title="E-mail a link to a new key?" isOpen onClose={onClose}>
      <p>
        For a colleague with access to your mailbox. The link works once and creates the new key. Older links
        stop working.
      </p>
      <Switch isSelected={atOnce} onChange={setAtOnce} hint="when the link is used">
        Revoke all other keys now
      </Switch>
      {mail.error !== null && <ErrorNotice error={mail.error} />}
      <DialogActions>
        <Button onPress={onClose}>Cancel</Button>
        <Button variant="primary" busy={mail.isBusy && 'Sending…'} onPress={() => void mail.run(atOnce)}>
          Send e-mail
        </Button>
      </DialogActions>
    </Dialog>
  );
};
