import { useState } from 'react';
import { Link } from 'wouter';
import { COUNTED_CAPS, COUNTED_NAMES } from '../../../../sdk/src/generated/limits.ts';
import { useAction } from '../../api/data.ts';
import { ServiceName } from '../../payments/names.tsx';
import {
  Badge,
  Button,
  ConfirmDialog,
  Copyable,
  ErrorNotice,
  Meter,
  Money,
  Properties,
  Row,
  Section,
  Stack,
  Time,
  toast,
} from '../../ui/index.ts';
import { EditDelegate } from './delegate-edit.tsx';
import type { Delegate } from './delegate-form.ts';
import { NewKeyOf } from './delegate-key.tsx';

/** One delegate: its limits, what it has spent and holds, and its actions. */
export const DelegateCard = ({ delegate }: { delegate: Delegate }) => {
  const { delegate_id, name, status } = delegate;
  const [shown, setShown] = useState<'edit' | 'key' | 'revoke' | null>(null);
  const close = () => setShown(null);
  const revoke = useAction((client) => client.identity.deleteDelegate({ delegate_id }), {
    changes: [['delegates']],
    done: () => toast(`“${name}” is revoked.`),
  });
  const pause = useAction(
    (client, paused: boolean) => client.identity.updateDelegate({ delegate_id, paused }),
    {
      changes: [['delegates']],
      done: ({ status: now }) =>
        toast(now === 'paused' ? `“${name}” is paused.` : `“${name}” can pay again.`),
    },
  );
  const isPaused = status === 'paused';
  return (
    <Section title={name} actions={<Badge state={status} />}>
      <Stack>
        <Limits delegate={delegate} />
        <Rights delegate={delegate} />
        <Row>
          <Button
            size="small"
            variant={isPaused ? 'primary' : 'plain'}
            aria-label={`${isPaused ? 'Resume' : 'Pause'} ${name}`}
            busy={pause.isBusy && (isPaused ? 'Resuming…' : 'Pausing…')}
            onPress={() => void pause.run(!isPaused)}
          >
            {isPaused ? 'Resume' : 'Pause'}
          </Button>
          <Button size="small" aria-label={`Edit ${name}`} onPress={() => setShown('edit')}>
            Edit
          </Button>
          <Button size="small" aria-label={`New key for ${name}`} onPress={() => setShown('key')}>
            New key
          </Button>
          <Button
            size="small"
            variant="quiet-danger"
            aria-label={`Revoke ${name}`}
            onPress={() => setShown('revoke')}
          >
            Revoke
          </Button>
          <Link href={`/activity?delegate=${delegate_id}`} aria-label={`Payments of ${name}`}>
            Payments
          </Link>
        </Row>
      </Stack>
      {pause.error !== null && <ErrorNotice error={pause.error} />}
      {shown === 'edit' && <EditDelegate delegate={delegate} onClose={close} />}
      {shown === 'key' && <NewKeyOf delegate={delegate} onClose={close} />}
      <ConfirmDialog
        title={`Revoke “${name}”?`}
        confirm="Revoke agent"
        doing="Revoking…"
        isOpen={shown === 'revoke'}
        onClose={close}
        onConfirm={() => revoke.runOrThrow(undefined)}
      >
        Its keys stop working now and cannot be restored. To stop the agent for a while, pause it instead.
        Payments that were accepted are completed.
      </ConfirmDialog>
    </Section>
  );
};

/** How much of each limit is used. */
const Limits = ({ delegate: { limits, usage } }: { delegate: Delegate }) => {
  const limited = COUNTED_NAMES.filter((name) => limits[name] !== null);
  const { spent, held } = usage.total;
  return (
    <>
      {limited.map((name) => (
        <Meter
          key={name}
          label={COUNTED_CAPS[name]}
          spent={BigInt(usage[name].spent)}
          held={BigInt(usage[name].held)}
          limit={BigInt(limits[name]!)}
          note={
            usage[name].resets_at === null ? undefined : (
              <>
                resets <Time at={usage[name].resets_at} />
              </>
            )
          }
        />
      ))}
      {limits.total === null && (
        <p className="quiet">
          In total: <Money micro={spent} /> spent
          {held !== '0' && (
            <>
              , <Money micro={held} /> held
            </>
          )}
          {limited.length === 0 && ', limited only by the spending limit of the wallet'}
        </p>
      )}
    </>
  );
};

/** What it may pay, and until when. */
const Rights = ({ delegate }: { delegate: Delegate }) => {
  const { delegate_id, name, limits, allowed_service_ids, external, expires_at, created_at } = delegate;
  return (
    <Properties
      of={[
        [
          'Per payment',
          limits.per_payment === null ? 'no limit' : <Money key="cap" micro={limits.per_payment} />,
        ],
        [
          'Pays',
          allowed_service_ids === null ? 'any service' : <Allowed key="ids" ids={allowed_service_ids} />,
        ],
        ['Outside vendors', external !== null && <OtherVendors key="others" external={external} />],
        [
          'Asks above',
          delegate.approval_above !== null && <Money key="ask" micro={delegate.approval_above} />,
        ],
        ['Expires', <Time key="until" at={expires_at} never="never" />],
        [
          'Created',
          <span key="created">
            <Time at={created_at} date /> · <Copyable text={delegate_id} short label={`the id of ${name}`} />
          </span>,
        ],
      ]}
    />
  );
};

/** How many services or origins fit a card. The form has all of them. */
const SHOWN = 3;

/** The outside vendors that it may pay. */
const OtherVendors = ({ external: { pay_to, origins } }: { external: NonNullable<Delegate['external']> }) => (
  <>
    {pay_to === 'any'
      ? 'any address (x402, MPP)'
      : `${pay_to.length === 1 ? 'one address' : `${pay_to.length} addresses`} (x402, MPP)`}
    {origins !== null && `, at ${origins.slice(0, SHOWN).join(', ')}`}
    {origins !== null && origins.length > SHOWN && ` and ${origins.length - SHOWN} more`}
  </>
);

const Allowed = ({ ids }: { ids: readonly string[] }) => (
  <>
    {ids.slice(0, SHOWN).map((id, at) => (
      <span key={id}>
        {at > 0 && ', '}
        <ServiceName id={id} />
      </span>
    ))}
    {ids.length > SHOWN && ` and ${ids.length - SHOWN} more`}
  </>
);
