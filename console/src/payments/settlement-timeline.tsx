import type { ReactNode } from 'react';
import { useItems } from '../api/data.ts';
import { Countdown } from '../lib/countdown.tsx';
import { Copyable, Money, Time } from '../ui/index.ts';
import { RefundWord } from './payment-state.tsx';
import { feeOf, isBelowFee, type Quote, type Settlement } from './sales-figures.ts';
import { type Entry, type Event, type Refund, storyOf } from './settlement-history.ts';
import type { Side } from './side.ts';
import './payments.css';

const EVERY_MS = 5000;

/** The history of a payment, oldest first, followed by the pending steps. */
export const Timeline = ({
  side = 'vendor',
  settlement,
  quote,
  refunds,
  isShut,
}: {
  side?: Side;
  settlement: Settlement;
  quote?: Quote | undefined;
  refunds: readonly Refund[];
  /** The whole net amount is reserved for refunds, so it cannot be redeemed. */
  isShut: boolean;
}) => {
  const { settlement_id } = settlement;
  const events = useItems(
    ['events', settlement_id],
    (client, cursor, options) =>
      client.webhook.listEvents({ object_id: settlement_id, cursor, limit: '50' }, options),
    { every: EVERY_MS },
  );
  const entries = storyOf(settlement, quote, events.data, refunds);
  return (
    <>
      <ol className="timeline">
        {entries.map((entry) => (
          <li key={`${entry.kind} ${entry.refund?.refund_id ?? entry.at}`} data-tone={toneOf(entry)}>
            <div className="timeline-head">
              <strong>{TEXTS[entry.kind]}</strong>
              <Time at={entry.at} seconds />
            </div>
            <Detail entry={entry} settlement={settlement} quote={quote} events={events.data} side={side} />
          </li>
        ))}
        <Open settlement={settlement} isShut={isShut} />
      </ol>
      {events.error !== null && (
        <p className="quiet">The confirmation time could not be loaded. Times may be those of the attempt.</p>
      )}
    </>
  );
};

const TEXTS: Record<Entry['kind'], string> = {
  quoted: 'Quoted',
  accepted: 'Payment started',
  authorized: 'Authorized',
  extended: 'Ceiling extended',
  issued: 'Paid',
  finalized: 'Final',
  redeemed: 'Delivered',
  refunded: 'Refund',
  lapsed: 'Not delivered',
  at_risk: 'At risk',
  voided: 'Void',
  failed: 'Payment failed',
  reversed: 'Reversed',
};
const toneOf = ({ kind, refund }: Entry): 'good' | 'wait' | 'bad' | undefined => {
  if (kind === 'issued' || kind === 'finalized' || kind === 'redeemed') return 'good';
  if (kind === 'failed' || kind === 'reversed' || kind === 'at_risk') return 'bad';
  if (kind === 'lapsed') return 'wait';
  return refund?.status === 'pending_signature' || refund?.status === 'submitted' ? 'wait' : undefined;
};

const Line = ({ children }: { children: ReactNode }) => <div className="quiet">{children}</div>;

const OF_AUTHORIZATION: readonly Entry['kind'][] = ['authorized', 'at_risk', 'voided'];
const AuthorizationDetail = ({
  kind,
  authorization,
}: Pick<Entry, 'kind'> & { authorization: NonNullable<Settlement['authorization']> }) => {
  if (kind === 'at_risk')
    return <Line>The wallet no longer covered it, so no further use was accepted.</Line>;
  if (kind === 'voided') return <Voided authorization={authorization} />;
  return (
    <Line>
      <Money micro={authorization.used} /> used of <Money micro={authorization.max_amount} />
    </Line>
  );
};

/** Why nothing was paid. */
const Voided = ({ authorization }: { authorization: NonNullable<Settlement['authorization']> }) => {
  const { used } = authorization;
  if (used === '0') return <Line>Nothing was used, so nothing was paid, and everything was released.</Line>;
  return isBelowFee(authorization) ? (
    <Line>
      Nothing was paid, because the use of <Money micro={used} /> does not exceed the fee of{' '}
      <Money micro={feeOf(authorization)} />. The smallest tab that pays is{' '}
      <Money micro={authorization.least_capture} />.
    </Line>
  ) : (
    <Line>
      The vendor gave up the use of <Money micro={used} />. Nothing was paid, and everything was released.
    </Line>
  );
};

/** Which delivery redeemed it, and what is used of prepaid units. */
const Delivered = ({ settlement, events }: { settlement: Settlement; events: readonly Event[] }) => {
  const { units_total, units_remaining } = settlement;
  const by = events.find(({ type }) => type === 'settlement.redeemed')?.data.redeem_id;
  const units = (units_total ?? 0) - (units_remaining ?? 0);
  return (
    <>
      {typeof by === 'string' && (
        <Line>
          by <code>{by}</code>
        </Line>
      )}
      {units_total !== undefined && (
        <Line>
          {units.toLocaleString('en')} of {units_total.toLocaleString('en')} units used,{' '}
          {(units_remaining ?? 0).toLocaleString('en')} left
        </Line>
      )}
    </>
  );
};

const Detail = ({
  entry: { kind, refund, added },
  settlement,
  quote,
  events,
  side,
}: {
  entry: Entry;
  settlement: Settlement;
  quote: Quote | undefined;
  events: readonly Event[];
  side: Side;
}) => {
  const vendor = side === 'vendor' ? 'you' : 'the vendor';
  const { tx_hash, superseded_tx_hashes, failure, accrued_fee, authorization } = settlement;
  if (kind === 'quoted')
    return (
      <Line>
        {authorization === undefined ? 'for' : 'up to'}{' '}
        <Money micro={quote?.max_amount ?? authorization?.max_amount ?? settlement.quote_amount} />
      </Line>
    );
  if (added !== undefined)
    return (
      <Line>
        by <Money micro={added} />
      </Line>
    );
  if (authorization !== undefined && OF_AUTHORIZATION.includes(kind))
    return <AuthorizationDetail kind={kind} authorization={authorization} />;
  if (kind === 'issued' && tx_hash !== null)
    return (
      <>
        <Line>
          <Money micro={settlement.net_amount} /> to {vendor},{' '}
          <Money micro={accrued_fee ?? settlement.fee_amount} /> fee
          {accrued_fee !== undefined && ' (billed separately)'}, in{' '}
          <Copyable text={tx_hash} label="transaction of the payment" short />
        </Line>
        {superseded_tx_hashes.map((hash) => (
          <Line key={hash}>
            in place of <Copyable text={hash} label="replaced transaction" short />, removed by a fork
          </Line>
        ))}
      </>
    );
  if (kind === 'redeemed') return <Delivered settlement={settlement} events={events} />;
  if (kind === 'lapsed') return <Line>Not redeemed in time. The money stays with {vendor}.</Line>;
  if (kind === 'failed' && failure !== null)
    return (
      <Line>
        {failure.message} (<code>{failure.code}</code>). No money moved.
      </Line>
    );
  if (kind === 'reversed') return <Line>A fork removed the payment after it was confirmed.</Line>;
  if (refund !== undefined)
    return (
      <Line>
        <Money micro={refund.amount} /> <RefundWord status={refund.status} />
        {refund.reason !== null && <> “{refund.reason}”</>}
      </Line>
    );
  return null;
};

/** The next expected step. */
const Open = ({
  settlement: { status, chain_status, redeem_expires_at, rail, authorization },
  isShut,
}: {
  settlement: Settlement;
  isShut: boolean;
}) => {
  if (status === 'authorized' && authorization !== undefined)
    return (
      <li data-tone="wait">
        <strong>In use</strong>
        <Line>
          <Money micro={authorization.left} /> left, for{' '}
          <Countdown until={authorization.capture_ends_at} over="a moment" />
        </Line>
      </li>
    );
  if (status === 'pending' || status === 'capturing')
    return (
      <li data-tone="wait">
        <strong>Waiting for confirmation</strong>
      </li>
    );
  if (status === 'issued' && redeem_expires_at !== null && !isShut)
    return (
      <li data-tone="wait">
        <strong>Awaiting delivery</strong>
        <Line>
          <Countdown until={redeem_expires_at} over="a moment" /> left
        </Line>
      </li>
    );
  if (status === 'issued' && rail !== 'quittance' && !isShut)
    return (
      <li data-tone="wait">
        <strong>Awaiting delivery</strong>
      </li>
    );
  if (chain_status === 'confirmed')
    return (
      <li data-tone="wait">
        <strong>Waiting for finality</strong>
      </li>
    );
  return null;
};
