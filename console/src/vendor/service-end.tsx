import { useState } from 'react';
import { useLocation } from 'wouter';
import { ConflictError } from '../../../sdk/src/main.ts';
import { useAction, useRead } from '../lib/data.ts';
import { Button, Dialog, DialogActions, ErrorNotice, Loading, Notice, Section, toast } from '../ui/index.ts';
import type { Service } from './service-form.tsx';

/** How a service ends: at once when nothing is open, else by closing. */
export const ServiceEnd = ({ service }: { service: Service }) => {
  const [isAsking, setAsking] = useState(false);
  return (
    <Section
      title="End this service"
      about="Its keys stop, and it can never be opened again. What it sold stays in your sales."
      actions={
        <Button variant="quiet" onPress={() => setAsking(true)}>
          {service.status === 'closing' ? 'End it now…' : 'Delete or close…'}
        </Button>
      }
    >
      <p className="quiet">
        Payments that are open are never cut off: then it can only be closed. It makes no new quotes, and
        redeem, consume and refunds go on until 30 days after the last window.
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
  const isOpen = remove.error instanceof ConflictError;
  const error = close.error ?? (isOpen ? null : remove.error);
  const isClosing = status === 'closing';
  return (
    <Dialog title={`End “${name}”?`} isOpen onClose={onClose}>
      <OpenPayments serviceId={service_id} />
      {isOpen && (
        <Notice tone="bad" title="It was not deleted: payments are open">
          {isClosing
            ? 'It ends by itself when they are done.'
            : 'Wait for them, or close it: no new quotes, and these run their course.'}
        </Notice>
      )}
      {error !== null && <ErrorNotice error={error} />}
      <DialogActions>
        <Button onPress={onClose}>Cancel</Button>
        {!isClosing && (
          <Button
            variant={isOpen ? 'danger' : 'plain'}
            busy={close.isBusy && 'Closing…'}
            onPress={() => void close.run(undefined)}
          >
            Close it
          </Button>
        )}
        {!isOpen && (
          <Button
            variant="danger"
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

const count = (items: readonly unknown[], more: boolean) =>
  more ? `over ${items.length}` : `${items.length}`;

/** What is open, as far as one page of each list tells. Whether it can end now is the API's word. */
const OpenPayments = ({ serviceId }: { serviceId: string }) => {
  const open = useRead(['open-payments', serviceId], async (client, options) => {
    const of = { service_id: serviceId, limit: '100' };
    const [quotes, paid, underWay] = await Promise.all([
      client.quote.list({ ...of, status: 'pending' }, options),
      client.settlement.list({ ...of, role: 'vendor', status: 'issued' }, options),
      client.settlement.list({ ...of, role: 'vendor', status: 'pending' }, options),
    ]);
    const payable = quotes.data.filter(({ status }) => status === 'pending');
    return { payable, paid, underWay, moreQuotes: quotes.next_cursor !== null };
  });
  if (open.isPending) return <Loading>Looking what is open…</Loading>;
  if (open.data === undefined) return <ErrorNotice error={open.error} retry={open.again} />;
  const { payable, paid, underWay, moreQuotes } = open.data;
  if (payable.length + paid.data.length + underWay.data.length === 0)
    return <p>No payment is open. Deleted, its key stops at once, and nothing more can be sold by it.</p>;
  return (
    <>
      <p>What is open:</p>
      <ul className="plain-list">
        <li>{count(payable, moreQuotes)} quotes that can still be paid</li>
        <li>{count(underWay.data, underWay.next_cursor !== null)} payments on their way</li>
        <li>{count(paid.data, paid.next_cursor !== null)} payments that can still be redeemed</li>
      </ul>
      <p>Closed, all of these run their course. Deleting is refused until they have.</p>
    </>
  );
};
