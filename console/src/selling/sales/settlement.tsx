import { useState } from 'react';
import { Link, useParams } from 'wouter';
import { isPaid as isSettlementPaid, itemOf, keptOf } from '../../../../sdk/src/payment.ts';
import { useAction, useItems, useRead } from '../../api/data.ts';
import { Countdown } from '../../lib/countdown.tsx';
import { shortId } from '../../lib/short-id.ts';
import { AuthorizationNotice } from '../../payments/authorization-notices.tsx';
import { DeclinesOf } from '../../payments/declines.tsx';
import { ChainMark, PaymentState, RefundWord } from '../../payments/payment-state.tsx';
import { railName } from '../../payments/rail.ts';
import { CopyReceiptLink, useReceipt } from '../../payments/receipt-link.tsx';
import { useAllServices } from '../../payments/sales-data.ts';
import type { Quote, Settlement } from '../../payments/sales-figures.ts';
import { type Refund, refundsOf } from '../../payments/settlement-history.ts';
import { Timeline } from '../../payments/settlement-timeline.tsx';
import { TransactionHash } from '../../payments/transaction-hash.tsx';
import {
  Ago,
  Button,
  Columns,
  ConfirmDialog,
  Copyable,
  Empty,
  ErrorNotice,
  LinkButton,
  Loading,
  Money,
  Notice,
  Page,
  Properties,
  Row,
  Section,
  Stack,
  Table,
  Time,
  toast,
} from '../../ui/index.ts';
import { HandOutAgain, UndeliveredNotice } from '../webhooks/incoming-delivery.tsx';
import { Ledger } from './ledger.tsx';
import { RefundDialog } from './refund.tsx';

const EVERY_MS = 5000;

/** One received payment: its history and its refunds. */
const SettlementPage = () => {
  const { settlement_id } = useParams<{ settlement_id: string }>();
  const settlement = useRead(
    ['settlement', settlement_id],
    (client, options) => client.settlement.get({ settlement_id }, options),
    { every: EVERY_MS },
  );
  // A payment of another protocol has no quote.
  const quoteId = settlement.data?.quote_id ?? '';
  const quote = useRead(
    ['quote', quoteId],
    (client, options) => client.quote.get({ quote_id: quoteId }, options),
    { enabled: quoteId !== '' },
  );
  if (settlement.data === undefined) {
    return (
      <Page title="Sale" actions={<LinkButton to="/sales">All sales</LinkButton>}>
        {settlement.isPending ? (
          <Loading>Loading the payment…</Loading>
        ) : (
          <ErrorNotice error={settlement.error} retry={settlement.again} />
        )}
      </Page>
    );
  }
  return (
    <>
      {settlement.error !== null && <ErrorNotice error={settlement.error} retry={settlement.again} />}
      <Received settlement={settlement.data} quote={quote.data} />
    </>
  );
};
export default SettlementPage;

const Received = ({ settlement, quote }: { settlement: Settlement; quote: Quote | undefined }) => {
  const { settlement_id, service_id, net_amount } = settlement;
  const name = useAllServices().services.find((service) => service.service_id === service_id)?.name;
  const refunds = useItems(
    ['refunds', settlement_id],
    (client, cursor, options) => client.funding.listRefunds({ settlement_id, cursor, limit: '100' }, options),
    { every: EVERY_MS },
  );
  const { refunded, reserved, left } = refundsOf(BigInt(net_amount), refunds.data);
  const areKnown =
    !refunds.isPending && !refunds.hasMore && (refunds.error === null || refunds.data.length > 0);
  // The API's rule (docs/spec/decisions.md, Funding).
  const isShut = areKnown && left === 0n;
  const isPaid = isSettlementPaid(settlement);
  const receipt = useReceipt(settlement, refunded);
  // The API refuses it while any part is refunded or reserved.
  const canHandOut =
    settlement.rail === 'x402' &&
    settlement.status === 'redeemed' &&
    isPaid &&
    areKnown &&
    left === BigInt(net_amount);
  const { redeem_id: redeemId } = settlement;
  return (
    <Page
      title="Sale"
      about={
        <>
          <Link href="/sales">Sales</Link> ·{' '}
          <Link href={`/services/${service_id}`}>{name ?? shortId(service_id ?? '')}</Link>
          {' · '}
          <Time at={settlement.created_at} />
        </>
      }
      actions={receipt !== undefined && <CopyReceiptLink url={receipt.receipt_url} />}
    >
      <Notices settlement={settlement} isShut={isShut} />
      <Columns>
        <Amounts
          settlement={settlement}
          refunded={refunded}
          reserved={reserved}
          isPaid={isPaid}
          areKnown={areKnown}
        />
        <Section title="Sold">
          <Details settlement={settlement} refunded={refunded} />
        </Section>
      </Columns>
      <Section
        title="What happened"
        actions={
          canHandOut &&
          typeof redeemId === 'string' && <HandOutAgain settlementId={settlement_id} redeemId={redeemId} />
        }
      >
        <Timeline settlement={settlement} quote={quote} refunds={refunds.data} isShut={isShut} />
      </Section>
      {settlement.quote_id !== null && <DeclinesOf quoteId={settlement.quote_id} side="vendor" />}
      <Refunds
        settlement={settlement}
        refunds={refunds}
        left={isPaid && areKnown ? left : 0n}
        isPaid={isPaid}
      />
    </Page>
  );
};

/** What the customer paid, and what is left of it for the vendor. */
const Amounts = ({
  settlement,
  refunded,
  reserved,
  isPaid,
  areKnown,
}: {
  settlement: Settlement;
  refunded: bigint;
  reserved: bigint;
  isPaid: boolean;
  /** Whether all refunds are loaded. */
  areKnown: boolean;
}) => {
  const { quote_amount, fee_amount, authorization, accrued_fee } = settlement;
  // Until it is captured, the amounts of an authorization are those of its ceiling.
  const isCharged = isPaid || authorization === undefined;
  return (
    <Section title="Amounts">
      <Stack>
        <div>
          <Money micro={isPaid ? keptOf(settlement, refunded) : 0n} large />
          <p className="quiet">
            {!isPaid
              ? 'Received'
              : areKnown
                ? 'Net after all fees and refunds'
                : 'Net after all fees; refunds are loading'}
          </p>
        </div>
        <Ledger
          of={[
            ['Ceiling', authorization !== undefined && <Money micro={authorization.max_amount} />],
            ['Used', authorization !== undefined && <Money micro={authorization.used} />],
            ['Gross', isCharged && <Money micro={quote_amount} />],
            ['Fee', isCharged && <Money micro={-BigInt(fee_amount)} />],
            ['Fee, billed separately', accrued_fee !== undefined && <Money micro={-BigInt(accrued_fee)} />],
            ['Net', isCharged && <Money micro={keptOf(settlement, 0n)} />],
            ['Refunded', refunded > 0n && <Money micro={-refunded} />],
            ['Reserved for refunds', reserved > 0n && <Money micro={-reserved} />],
          ]}
        />
      </Stack>
    </Section>
  );
};

/** What a vendor must know about this payment. */
const Notices = ({ settlement, isShut }: { settlement: Settlement; isShut: boolean }) => (
  <>
    {settlement.payment_attempt_id !== undefined && (
      <Notice title="You are also the buyer">
        This is the vendor’s view. For the buyer’s, see{' '}
        <Link href={`/payments/${settlement.settlement_id}`}>the payment</Link>.
      </Notice>
    )}
    {settlement.status === 'issued' && settlement.redeem_expires_at !== null && (
      <Notice tone="wait" title={isShut ? 'Paid, refunded before delivery' : 'Paid, awaiting delivery'}>
        {isShut ? (
          'The whole net amount is refunded or reserved for a refund, so it cannot be redeemed.'
        ) : (
          <>
            Your server has <Countdown until={settlement.redeem_expires_at} over="a moment" /> to redeem it.
            After that the money stays with you.
          </>
        )}
      </Notice>
    )}
    {settlement.rail !== 'quittance' && settlement.status === 'issued' && isSettlementPaid(settlement) && (
      <UndeliveredNotice isShut={isShut} />
    )}
    <AuthorizationNotice settlement={settlement} />
    {settlement.failure !== null && (
      <Notice tone="bad" title="The payment failed">
        {settlement.failure.message} (<code>{settlement.failure.code}</code>)
        {settlement.authorization !== undefined && settlement.authorization.used !== '0' && (
          <p>
            What was used, <Money micro={settlement.authorization.used} />, is not paid.
          </p>
        )}
      </Notice>
    )}
  </>
);

const Details = ({ settlement, refunded }: { settlement: Settlement; refunded: bigint }) => {
  const { units_total, units_remaining, scope, tx_hash, payer_address } = settlement;
  const item = itemOf(settlement);
  const [what, ids] = [
    [
      ['What', item !== null && <bdi className="whole">{item}</bdi>],
      ['Payer', payer_address !== undefined && <Copyable text={payer_address} label="payer address" />],
      ['Paid by', railName(settlement.rail)],
      [
        'State',
        <span key="state">
          <PaymentState of={settlement} refunded={refunded} /> <ChainMark state={settlement.chain_status} />
        </span>,
      ],
      [
        'Units',
        units_total !== undefined &&
          `${(units_total - (units_remaining ?? 0)).toLocaleString('en')} of ${units_total.toLocaleString('en')} consumed`,
      ],
      ['Transaction', tx_hash !== null && <TransactionHash key="tx" hash={tx_hash} />],
    ],
    [
      ['Settlement', <Copyable key="id" text={settlement.settlement_id} label="settlement id" />],
      [
        'Quote',
        settlement.quote_id !== null && <Copyable key="quote" text={settlement.quote_id} label="quote id" />,
      ],
      ['Scope', scope !== null && <pre className="scope">{JSON.stringify(scope, null, 2)}</pre>],
    ],
  ] as const;
  return (
    <>
      <Properties of={what} />
      <details className="ids">
        <summary>Ids and scope</summary>
        <Properties of={ids} />
      </details>
    </>
  );
};

type Asked = { refund: Refund | null };

const Refunds = ({
  settlement,
  refunds,
  left,
  isPaid,
}: {
  settlement: Settlement;
  refunds: ReturnType<typeof useItems<Refund>>;
  /** What is left for another refund, in micro-units. 0n while it is unknown. */
  left: bigint;
  isPaid: boolean;
}) => {
  const [asked, setAsked] = useState<Asked | null>(null);
  const [cancelled, setCancelled] = useState<Refund | null>(null);
  const changes = [['refunds'], ['settlement', settlement.settlement_id]];
  const cancel = useAction((client, refund_id: string) => client.funding.cancelRefund({ refund_id }), {
    changes,
    done: () => toast('Refund cancelled.'),
  });
  const canRefund = left > 0n;
  return (
    <Section
      title="Refunds"
      about={`Sent to the ${settlement.rail === 'quittance' ? 'wallet' : 'token account'} that paid. The fee is not refunded.`}
      actions={canRefund && <Button onPress={() => setAsked({ refund: null })}>Refund</Button>}
    >
      <Table
        label="Refunds of this payment"
        items={refunds}
        waiting="Loading the refunds…"
        keyOf={({ refund_id }) => refund_id}
        empty={<Empty title={isPaid ? 'No refunds' : 'Nothing to refund'} />}
        columns={[
          { heading: 'Created', show: ({ created_at }) => <Ago at={created_at} /> },
          { heading: 'Amount', align: 'end', show: ({ amount }) => <Money micro={amount} /> },
          { heading: 'State', show: (refund) => <RefundState refund={refund} /> },
          { heading: 'Reason', show: ({ reason }) => reason },
          {
            heading: 'Transaction',
            show: ({ tx_hash }) =>
              tx_hash === null ? null : <TransactionHash hash={tx_hash} label="refund transaction" short />,
          },
          {
            heading: '',
            align: 'end',
            show: (refund) =>
              refund.status !== 'pending_signature' ? null : (
                <Row>
                  <Button size="small" onPress={() => setAsked({ refund })}>
                    Sign
                  </Button>
                  <Button size="small" variant="quiet" onPress={() => setCancelled(refund)}>
                    Cancel
                  </Button>
                </Row>
              ),
          },
        ]}
      />
      {asked !== null && (
        <RefundDialog
          settlement={settlement}
          left={left}
          refund={asked.refund}
          changes={changes}
          onClose={() => setAsked(null)}
        />
      )}
      <ConfirmDialog
        title="Cancel this refund?"
        confirm="Cancel the refund"
        doing="Cancelling…"
        isOpen={cancelled !== null}
        onClose={() => setCancelled(null)}
        onConfirm={() => cancel.runOrThrow(cancelled!.refund_id)}
      >
        {cancelled !== null && (
          <>
            <Money micro={cancelled.amount} /> stays with you. You can create another refund later.
          </>
        )}
      </ConfirmDialog>
    </Section>
  );
};

const RefundState = ({ refund: { status, pending_until, failure } }: { refund: Refund }) => (
  <>
    <RefundWord status={status} />{' '}
    {status === 'pending_signature' && (
      <span className="quiet">
        for <Countdown until={pending_until} over="a moment" />
      </span>
    )}
    {failure !== null && <span className="quiet">{failure.message}</span>}
  </>
);
