import { useState } from 'react';
import { useLocation } from 'wouter';
import { ConflictError } from '../../../sdk/src/main.ts';
import { useAction, useRead } from '../api/data.ts';
import { Button, Dialog, DialogActions, ErrorNotice, Loading, Notice, Section, toast } from '../ui/index.ts';
import type { Service } from './service-form.tsx';
import '../payments/payments.css';

/** Deletes a service at once if nothing is open, otherwise closes it. */
export const ServiceEnd = ({ service }: { service: Service }) => {
  const [isAsking, setAsking] = useState(false);
  return (
    <Section
      title="Delete service"
      about="The keys stop working and the service cannot be restored. Sales stay in your list."
      actions={
        <Button variant="danger" onPress={() => setAsking(true)}>
          Delete service
        </Button>
      }
    >
      <p className="quiet">
        A service with open payments can only be closed: no new quotes, while open payments can be redeemed
        and refunded until 30 days after the last redeem window.
      </p>
      {isAsking && <EndDialog service={service} onClose={() => setAsking(false)} />}
    </Section>
  );
};

const EndDialog = ({ service, onClose }: { service: Service; onClose: () => void }) => {
  const { service_id, name, status } = service;
  const [, navigate] = useLocation();
  const remove = useAction((client) => client.identity.deleteService({ service_id }), {
    changes: [['services']],
    done: () => {
      toast(`“${name}” deleted.`);
      navigate('/services');
    },
  });
  const close = useAction((client) => client.identity.deleteService({ service_id, mode: 'close' }), {
    changes: [['services']],
    done: () => {
      toast(`“${name}” is closing.`);
      onClose();
    },
  });
  const open = useOpen(service_id);
  const mustClose = (open.data ?? []).length > 0;
  const isOpen = remove.error instanceof ConflictError;
  const error = close.error ?? (isOpen ? null : remove.error);
  const isClosing = status === 'closing';
  return (
    <Dialog title={`Delete “${name}”?`} isOpen onClose={onClose}>
      <OpenPayments open={open} />
      {isOpen && (
        <Notice tone="bad" title="Not deleted: there are open payments">
          {isClosing
            ? 'It is deleted when they are done.'
            : 'Wait for them, or close the service: no new quotes, open payments continue.'}
        </Notice>
      )}
      {error !== null && <ErrorNotice error={error} />}
      <DialogActions>
        <Button onPress={onClose}>Cancel</Button>
        {!isClosing && (
          <Button
            variant={isOpen || mustClose ? 'danger' : 'plain'}
            busy={close.isBusy && 'Closing…'}
            onPress={() => void close.run(undefined)}
          >
            Close service{' '}
          </Button>
        )}
        {!isOpen && (
          <Button
            variant={mustClose ? 'plain' : 'danger'}
            busy={remove.isBusy && 'Deleting…'}
            onPress={() => void remove.run(undefined)}
          >
            Delete service{' '}
          </Button>
        )}
      </DialogActions>
    </Dialog>
  );
};

/** What is open, from one page of each list. The API decides whether the service can be deleted. */
const useOpen = (serviceId: string) =>
  useRead(['open-payments', serviceId], async (client, options) => {
    const of = { service_id: serviceId, limit: '100' };
    const [quotes, underWay, authorized, paid] = await Promise.all([
      client.quote.list({ ...of, status: 'pending' }, options),
      client.settlement.list({ ...of, role: 'vendor', status: 'pending' }, options),
      client.settlement.list({ ...of, role: 'vendor', status: 'authorized' }, options),
      client.settlement.list({ ...of, role: 'vendor', status: 'issued' }, options),
    ]);
    const text = (
      { data, next_cursor }: { data: readonly { status: string }[]; next_cursor: string | null },
      status: string,
      one: string,
      many: string,
    ) => {
      // A list by status may contain entries that have expired since.
      const count = data.filter((each) => each.status === status).length;
      if (count === 0) return [];
      return [count === 1 ? `1 ${one}` : `${next_cursor === null ? '' : 'over '}${count} ${many}`];
    };
    return [
      ...text(quotes, 'pending', 'open quote', 'open quotes'),
      ...text(underWay, 'pending', 'pending payment', 'pending payments'),
      ...text(authorized, 'authorized', 'open authorization', 'open authorizations'),
      ...text(paid, 'issued', 'payment awaiting delivery', 'payments awaiting delivery'),
    ];
  });

const OpenPayments = ({ open: { data, error, isPending, again } }: { open: ReturnType<typeof useOpen> }) => {
  if (isPending) return <Loading>Loading the open payments…</Loading>;
  if (data === undefined) return <ErrorNotice error={error} retry={again} />;
  if (data.length === 0) return <p>No open payments. The key stops working immediately.</p>;
  return (
    <>
      <p>Still open:</p>
      <ul className="plain-list">
        {data.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
      <p>These continue after closing. The service can be deleted once they are done.</p>
    </>
  );
};
