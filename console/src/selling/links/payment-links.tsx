import { type FormEvent, useState } from 'react';
import { displayUsdc } from '../../../../sdk/src/generated/usdc.ts';
import type { Input, Output } from '../../../../sdk/src/main.ts';
import { useAction, useItems } from '../../api/data.ts';
import { fieldUsdc, NOT_AN_AMOUNT, typedUsdc } from '../../lib/money.ts';
import {
  Ago,
  AmountField,
  Badge,
  Button,
  ConfirmDialog,
  Copyable,
  Dialog,
  DialogActions,
  Empty,
  ErrorNotice,
  Money,
  Section,
  Select,
  Stack,
  Table,
  TextField,
  toast,
} from '../../ui/index.ts';
import { QrCode } from '../../ui/qr.tsx';
import type { Service } from '../service-form.tsx';

type Link = Output<'quote.listPaymentLinks'>['data'][number];

const STATES = { active: 'good', paid: 'none', inactive: 'none' } as const;
const usesOf = ({ single_use, payments }: Link): string =>
  single_use ? `${payments} of 1` : String(payments);

/** The payment links of a service: pages on which people pay it, without a server of the vendor. */
export const PaymentLinks = ({ service }: { service: Service }) => {
  const { service_id, status } = service;
  const [isCreating, setCreating] = useState(false);
  const [shown, setShown] = useState<Link | null>(null);
  const [ending, setEnding] = useState<Link | null>(null);
  const links = useItems(['payment-links', service_id], (client, cursor, options) =>
    client.quote.listPaymentLinks({ service_id, cursor }, options),
  );
  return (
    <Section
      title="Payment links"
      about="A page for people, with one price. You need no server: share the link."
      actions={
        status === 'active' && (
          <Button variant="primary" onPress={() => setCreating(true)}>
            Payment link
          </Button>
        )
      }
    >
      <Table
        label="Payment links"
        items={links}
        waiting="Loading your payment links…"
        keyOf={({ payment_link_id }) => payment_link_id}
        empty={<Empty title="No payment links yet">Create one, and send its address to a buyer.</Empty>}
        columns={[
          { heading: 'Title', show: ({ title }) => <span className="long">{title}</span> },
          { heading: 'Created', show: ({ created_at }) => <Ago at={created_at} /> },
          { heading: 'Status', show: (link) => <Badge state={link.status} tone={STATES[link.status]} /> },
          { heading: 'Payments', align: 'end', show: usesOf },
          { heading: 'Price', align: 'end', show: ({ quote_amount }) => <Money micro={quote_amount} /> },
          {
            heading: '',
            show: (link) => (
              <>
                <Button variant="quiet" size="small" onPress={() => setShown(link)}>
                  Address
                </Button>
                {link.status === 'active' && (
                  <Button variant="quiet-danger" size="small" onPress={() => setEnding(link)}>
                    Deactivate
                  </Button>
                )}
              </>
            ),
          },
        ]}
      />
      {isCreating && (
        <CreateDialog
          service={service}
          onClose={() => setCreating(false)}
          onCreated={(link) => {
            setCreating(false);
            setShown(link);
          }}
        />
      )}
      {shown !== null && <AddressDialog link={shown} onClose={() => setShown(null)} />}
      {ending !== null && <EndDialog link={ending} onClose={() => setEnding(null)} />}
    </Section>
  );
};

type CreateProps = { service: Service; onClose: () => void; onCreated: (link: Link) => void };

const CreateDialog = ({ service: { service_id, price }, onClose, onCreated }: CreateProps) => {
  const [title, setTitle] = useState('');
  const [amount, setAmount] = useState(fieldUsdc(price));
  const [uses, setUses] = useState('many');
  const [success, setSuccess] = useState('');
  const [isWrong, setWrong] = useState(false);
  const create = useAction(
    (client, link: Input<'quote.createPaymentLink'>) => client.quote.createPaymentLink(link),
    { changes: [['payment-links']], done: onCreated },
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const micro = typedUsdc(amount);
    setWrong(micro === null);
    if (micro === null) return;
    void create.run({
      service_id,
      title: title.trim(),
      quote_amount: micro.toString(),
      single_use: uses === 'one',
      ...(success.trim() !== '' && { success_url: success.trim() }),
    });
  };
  return (
    <Dialog title="New payment link" isOpen wide onClose={onClose}>
      <form onSubmit={submit}>
        <Stack>
          <TextField
            label="What do you sell?"
            hint="The buyer reads it on the page."
            value={title}
            onChange={setTitle}
            maxLength={120}
            isRequired
          />
          <AmountField
            label="Price"
            value={amount}
            onChange={setAmount}
            error={isWrong ? NOT_AN_AMOUNT : undefined}
          />
          <Select
            label="Payments"
            value={uses}
            onChange={setUses}
            options={[
              ['many', 'Many: everybody who has the address can pay'],
              ['one', 'One: the first payment ends the link'],
            ]}
          />
          <TextField
            label="Page after the payment (optional)"
            hint="An https address. The page leads to it, with the id of the settlement."
            type="url"
            value={success}
            onChange={setSuccess}
            maxLength={1024}
          />
          {create.error !== null && <ErrorNotice error={create.error} />}
          <DialogActions>
            <Button onPress={onClose}>Cancel</Button>
            <Button type="submit" variant="primary" busy={create.isBusy && 'Creating…'}>
              Create link
            </Button>
          </DialogActions>
        </Stack>
      </form>
    </Dialog>
  );
};

const AddressDialog = ({ link, onClose }: { link: Link; onClose: () => void }) => (
  <Dialog title={link.title} isOpen onClose={onClose}>
    <Stack>
      <p>
        Anyone with this link can pay {displayUsdc(link.quote_amount)}. Payments appear in Sales and as{' '}
        <code>payment_link.paid</code>.
      </p>
      <Copyable text={link.url} label="address of the payment link" block />
      <QrCode text={link.url} label="QR code of the payment link" />
      <DialogActions>
        <Button variant="primary" onPress={onClose}>
          Done
        </Button>
      </DialogActions>
    </Stack>
  </Dialog>
);

const EndDialog = ({ link, onClose }: { link: Link; onClose: () => void }) => {
  const { payment_link_id } = link;
  const end = useAction((client) => client.quote.deactivatePaymentLink({ payment_link_id }), {
    changes: [['payment-links']],
    done: () => toast('Payment link deactivated.'),
  });
  return (
    <ConfirmDialog
      title={`Deactivate “${link.title}”?`}
      confirm="Deactivate"
      doing="Deactivating…"
      isOpen
      onConfirm={() => end.runOrThrow(undefined)}
      onClose={onClose}
    >
      Its page offers no payment from now on, and cannot be activated again. A page that is open already can
      pay for up to ten minutes.
    </ConfirmDialog>
  );
};
