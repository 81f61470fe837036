import { useState } from 'react';
import { useLocation } from 'wouter';
import { ConflictError } from '../../../sdk/src/main.ts';
import { useAction, useRead } from '../lib/data.ts';
import { Button, Dialog, DialogActions, ErrorNotice, Loading, Notice, Section, toast } from '../ui/index.ts';
import type { Service } from './service-form.tsx';
import './vendor.css';

/** Deletes a service at once if nothing is open, otherwise closes it. */
export const ServiceEnd = ({ service }: { service: Service }) => {
  const [isAsking, setAsking] = useState(false);
  return (
    <Section
      title="End this service"
      about="Its keys stop working, and it cannot be reopened. Its sales stay in your list."
      actions={
        <Button variant="quiet" onPress={() => setAsking(true)}>
          {service.status === 'closing' ? 'End it now…' : 'Delete or close…'}
        </Button>
      }
    >
      <p className="quiet">
        A service with open payments can only be closed. It then creates no new quotes, and redeem, consume
        and refunds continue until 30 days after the last window.
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
      toast(`“${name}” has ended.`);
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
    <Dialog title={`End “${name}”?`} isOpen onClose={onClose}>
      <OpenPayments open={open} />
      {isOpen && (
        <Notice tone="bad" title="It was not deleted: payments are open">
          {isClosing
            ? 'It ends by itself when they are done.'
            : 'Wait for them, or close it: there are no new quotes, and open payments continue.'}
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
            Close it
          </Button>
        )}
        {!isOpen && (
          <Button
            variant={mustClose ? 'plain' : 'danger'}
            busy={remove.isBusy && 'Deleting…'}
            onPress={() => void remove.run(undefined)}
          >
            Delete it now
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
    const [quotes, underWay, paid] = await Promise.all([
      client.quote.list({ ...of, status: 'pending' }, options),
      client.settlement.list({ ...of, role: 'vendor', status: 'pending' }, options),
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
      ...text(quotes, 'pending', 'quote that can still be paid', 'quotes that can still be paid'),
      ...text(underWay, 'pending', 'payment on its way', 'payments on their way'),
      ...text(paid, 'issued', 'payment that can still be redeemed', 'payments that can still be redeemed'),
    ];
  });

const OpenPayments = ({ open: { data, error, isPending, again } }: { open: ReturnType<typeof useOpen> }) => {
  if (isPending) return <Loading>Loading the open payments…</Loading>;
  if (data === undefined) return <ErrorNotice error={error} retry={again} />;
  if (data.length === 0)
    return (
      <p>
        No payment is open. After the deletion its key stops working at once, and it can sell nothing more.
      </p>
    );
  return (
    <>
      <p>What is open:</p>
      <ul className="plain-list">
        {data.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
      <p>After closing, these continue. It cannot be deleted before they have ended.</p>
    </>
  );
};
