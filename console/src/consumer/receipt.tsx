import { Link, useParams } from 'wouter';
import type { Output } from '../../../sdk/src/main.ts';
import { isOutgoingRail, isPaid, itemOf } from '../../../sdk/src/payment.ts';
import { useItems, useRead } from '../api/data.ts';
import { useSession } from '../api/use-session.tsx';
import { ChainMark, PaymentState } from '../payments/payment-state.tsx';
import { railName } from '../payments/rail.ts';
import { CopyReceiptLink, useReceipt } from '../payments/receipt-link.tsx';
import { refundsOf } from '../payments/settlement-history.ts';
import { Timeline } from '../payments/settlement-timeline.tsx';
import { TransactionHash } from '../payments/transaction-hash.tsx';
import {
  Button,
  Columns,
  Copyable,
  ErrorNotice,
  Loading,
  Money,
  Notice,
  Page,
  Properties,
  Section,
  Stack,
} from '../ui/index.ts';
import '../ui/print.css';
import './receipt.css';
import './approval.css';
import { DeclinesOf } from '../payments/declines.tsx';
import { CloseAuthorization } from './close-authorization.tsx';
import { PaidAddresses } from './paid-addresses.tsx';
import { ReceiptTokens } from './receipt-tokens.tsx';

type Payment = Output<'settlement.get'>;

/** How often the payment is read while it is not finalized. */
const EVERY_MS = 3000;

const ReceiptPage = () => {
  const { settlement_id } = useParams<{ settlement_id: string }>();
  const { data, error, isPending, again } = useRead(
    ['payment', settlement_id],
    (client, options) => client.settlement.get({ settlement_id }, options),
    { every: (payment) => (payment !== undefined && isUnderWay(payment) ? EVERY_MS : false) },
  );
  return (
    <Page
      title="Payment"
      about={
        <Link href="/activity" className="no-print">
          All activity
        </Link>
      }
      actions={
        data !== undefined && (
          <>
            <Button onPress={() => window.print()}>Print</Button>
            <ReceiptActions payment={data} />
          </>
        )
      }
    >
      {isPending ? (
        <Loading>Loading the payment…</Loading>
      ) : data === undefined ? (
        <ErrorNotice error={error} retry={again} />
      ) : (
        <Receipt payment={data} />
      )}
    </Page>
  );
};
export default ReceiptPage;

const isUnderWay = ({ status, chain_status }: Payment): boolean =>
  status === 'pending' || chain_status === 'pending' || chain_status === 'confirmed';

const CHAIN: Record<Payment['chain_status'], string> = {
  none: '',
  pending: 'It was sent to the chain.',
  confirmed: 'Confirmed; final in a few seconds.',
  finalized: 'Final on chain.',
  failed: 'It failed on chain.',
};

/** The printed page has no coloured band. */
const ENVIRONMENT = { test: 'Test mode: no real money.', live: 'Live: real money.' };
const STATUS: Record<Payment['status'], string> = {
  pending: 'Payment pending.',
  authorized: 'Authorized: what is used will be paid, and nothing is paid yet.',
  capturing: 'What was used is being paid.',
  voided: 'The authorization ended, and nothing was paid.',
  issued: 'Paid; not delivered yet.',
  redeemed: 'Paid and delivered.',
  expired: 'Paid; the vendor did not deliver in time. Ask the vendor to deliver or refund.',
  failed: 'Nothing was paid.',
};

/** Of an outgoing payment, which the vendor's side sends to the chain. */
const OUT_STATUS: Partial<Record<Payment['status'], string>> = {
  pending: 'Signed, not on chain yet. The vendor can still use it.',
  issued: 'Paid to an outside vendor, which delivers on its own terms.',
  failed: 'The vendor did not use the signed payment and no longer can. Nothing was paid.',
};

/** What became of the payment, and how certain the chain is. */
const StateOf = ({ payment, refunded }: { payment: Payment; refunded: bigint }) => (
  <span className="one-line">
    <PaymentState of={payment} refunded={refunded} /> <ChainMark state={payment.chain_status} />
  </span>
);

const statusText = ({ rail, status, chain_status }: Payment): string =>
  isOutgoingRail(rail)
    ? `${OUT_STATUS[status] ?? ''} ${status === 'issued' ? CHAIN[chain_status] : ''}`
    : `${STATUS[status]} ${CHAIN[chain_status]}`;

const titleOf = (of: { isOut: boolean; isCharged: boolean; isPayer: boolean }): string => {
  if (of.isOut) return 'Payment to';
  if (!of.isCharged) return 'Authorized for';
  return of.isPayer ? 'Paid to' : 'Paid for';
};

/** What was paid, and how it stands. */
const Summary = ({ payment, refunded }: { payment: Payment; refunded: bigint }) => {
  const { environment } = useSession();
  const { quote_amount, fee_amount, net_amount, failure, authorization } = payment;
  const isPayer = payment.payment_attempt_id !== undefined;
  const isOut = isOutgoingRail(payment.rail);
  const item = itemOf(payment);
  const isBilled = payment.rail === 'x402';
  // Until it is captured, the amounts of an authorization are those of its ceiling.
  const isCharged = isPaid(payment) || authorization === undefined;
  return (
    <Section
      title={`${titleOf({ isOut, isCharged, isPayer })} ${payment.service_name}`}
      actions={<StateOf payment={payment} refunded={refunded} />}
      about={`${statusText(payment)} ${ENVIRONMENT[environment]}`}
    >
      <Stack>
        {failure !== null && (
          <Notice tone="bad" title="The payment failed">
            {failure.message} <code>{failure.code}</code>
          </Notice>
        )}
        <Properties
          of={[
            ['Amount', isCharged && <Money micro={quote_amount} large />],
            ['Used', authorization !== undefined && <Money micro={authorization.used} large={!isCharged} />],
            ['Ceiling', authorization !== undefined && <Money micro={authorization.max_amount} />],
            ['Item', !isOut && item !== null && <bdi className="claimed">{item}</bdi>],
            [
              'Fee included',
              isCharged && !isOut && (isBilled ? 'billed to the vendor' : <Money micro={fee_amount} />),
            ],
            ['Net to the vendor', isCharged && !isOut && <Money micro={net_amount} />],
            ['Refunded', refunded > 0n && <Money key="refunded" micro={refunded} />],
            [
              payment.payees?.length === 1 ? 'Address' : 'Addresses',
              payment.payees !== undefined && <PaidAddresses key="addresses" of={payment.payees} />,
            ],
            [
              'Paid for',
              isOut && payment.resource !== undefined && (
                <span key="resource">
                  <bdi className="claimed">{payment.resource}</bdi>
                  <span className="quiet"> (as the buyer reported)</span>
                </span>
              ),
            ],
            [
              'Units',
              payment.units_total !== undefined &&
                `${payment.units_remaining?.toLocaleString('en')} of ${payment.units_total.toLocaleString('en')} left`,
            ],
          ]}
        />
      </Stack>
    </Section>
  );
};

const Names = ({ payment }: { payment: Payment }) => (
  <Section title="Details">
    <Properties
      of={[
        ['Payment', <Copyable key="id" text={payment.settlement_id} label="the payment’s id" />],
        [
          'Quote',
          payment.quote_id !== null && (
            <Copyable key="quote" text={payment.quote_id} label="the quote’s id" />
          ),
        ],
        [
          'Service',
          payment.service_id !== null && (
            <Copyable key="service" text={payment.service_id} label="the service’s id" />
          ),
        ],
        [
          'Transaction',
          payment.tx_hash !== null && (
            <TransactionHash key="hash" hash={payment.tx_hash} label="the transaction’s hash" />
          ),
        ],
        ['Replaced', payment.superseded_tx_hashes.length > 0 && payment.superseded_tx_hashes.join(', ')],
        ['Paid by', railName(payment.rail)],
        [
          'Wallet',
          payment.wallet_id !== undefined && (
            <Copyable key="wallet" text={payment.wallet_id} label="the wallet’s id" />
          ),
        ],
        [
          'Agent',
          payment.delegate_id != null && (
            <Copyable key="delegate" text={payment.delegate_id} label="the agent’s id" />
          ),
        ],
        [
          'Attempt',
          payment.payment_attempt_id !== undefined && <code key="attempt">{payment.payment_attempt_id}</code>,
        ],
        [
          'Scope',
          payment.scope !== null && (
            <details key="scope">
              <summary>Show</summary>
              <pre>{JSON.stringify(payment.scope, null, 2)}</pre>
            </details>
          ),
        ],
      ]}
    />
  </Section>
);

/** The link that proves the payment to anyone. */
const ReceiptActions = ({ payment }: { payment: Payment }) => {
  const { refunded } = useRefundsOf(payment);
  const receipt = useReceipt(payment, refunded);
  const { status, authorization, settlement_id, payment_attempt_id } = payment;
  if (status === 'authorized' && authorization !== undefined && payment_attempt_id !== undefined)
    return <CloseAuthorization settlementId={settlement_id} used={authorization.used} />;
  return receipt === undefined ? null : <CopyReceiptLink url={receipt.receipt_url} />;
};

const useRefundsOf = ({ settlement_id, net_amount }: Payment) => {
  const refunds = useItems(['refunds', settlement_id], (client, cursor, options) =>
    client.funding.listRefunds({ settlement_id, cursor, limit: '100' }, options),
  );
  return { refunds, ...refundsOf(BigInt(net_amount), refunds.data) };
};

const Receipt = ({ payment }: { payment: Payment }) => {
  const isPayer = payment.payment_attempt_id !== undefined;
  const isOut = isOutgoingRail(payment.rail);
  const { refunds, refunded, left } = useRefundsOf(payment);
  return (
    <Stack>
      <Summary payment={payment} refunded={refunded} />
      <Columns>
        <Section title="Timeline">
          <Timeline
            side={isPayer ? 'payer' : 'vendor'}
            settlement={payment}
            refunds={refunds.data}
            // An outside vendor delivers on its own terms, so no step of ours is open.
            isShut={isOut || left === 0n}
          />
        </Section>
        <Names payment={payment} />
      </Columns>
      {payment.quote_id !== null && (
        <DeclinesOf quoteId={payment.quote_id} side={isPayer ? 'payer' : 'vendor'} />
      )}
      {!isOut && <ReceiptTokens payment={payment} />}
    </Stack>
  );
};
