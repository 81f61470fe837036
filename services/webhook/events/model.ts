import type { z } from 'zod';
import type { EventName, EventPayload } from '../../../shared/contract/events.ts';
import { VENDOR_CODE } from '../../../shared/contract/settlement.ts';
import type { EventType } from '../../../shared/contract/webhook.ts';
import { formatMicro, parseMicro } from '../../../shared/lib/money/micro.ts';

type Json = z.core.util.JSONType;

/** An account that gets an event, with what only this account sees of it. */
type Party = { account_id: string; own: Record<string, Json> };

/** The event that one account, or two different ones, get of an event of a service. */
export type NewEvent = {
  type: EventType;
  object_id: string;
  /** What each of the accounts sees. */
  data: Record<string, Json>;
  parties: readonly [Party] | readonly [Party, Party];
  /**
   * Distinguishes the event within its accounts. It is derived from the payload, so a repeated
   * event has the same key, whatever message it comes in.
   */
  event_key: string;
};

const to = (account_id: string, own: Party['own'] = {}): [Party] => [{ account_id, own }];

/** One event for two accounts. An account that is both gets two, because they differ. */
const toParties = (event: Omit<NewEvent, 'parties'>, parties: readonly Party[]): NewEvent[] => {
  const [first, other] = parties;
  if (first === undefined) return [];
  if (other === undefined) return [{ ...event, parties: [first] }];
  if (first.account_id !== other.account_id) return [{ ...event, parties: [first, other] }];
  return [first, other].map((party, role) => ({
    ...event,
    event_key: `${event.event_key}:${role}`,
    parties: [party],
  }));
};

/** The fields by which every event of settlement names its payer and vendor. */
type PaymentEvent = {
  settlement_id: string;
  rail: string;
  /** Null on another rail, as are the payer's account and wallet, unless a payment link is paid. */
  quote_id: string | null;
  account_id: string | null;
  /** Null for an outgoing payment, as is the service. */
  vendor_account_id: string | null;
  delegate_id: string | null;
  wallet_id: string | null;
  payer_address: string | null;
  service_id: string | null;
  quote_amount: string;
  fee_amount: string;
};

const amountsOf = ({ quote_amount, fee_amount }: PaymentEvent) => ({
  quote_amount,
  fee_amount,
  net_amount: formatMicro(parseMicro(quote_amount) - parseMicro(fee_amount)),
});

/**
 * Payer and vendor each get the fields that they may see. `key`: what distinguishes the event from
 * others of its type, by default the settlement. An account that pays itself gets both. A
 * payer of another protocol has no account, and neither has the vendor of an outgoing payment.
 */
const paymentEvents = (
  type: EventType,
  event: PaymentEvent & { scope: Record<string, Json> | null },
  own: { both?: Record<string, Json>; vendor?: Record<string, Json>; key?: string } = {},
): NewEvent[] => {
  const { settlement_id, rail, quote_id, service_id, account_id, wallet_id, delegate_id, scope } = event;
  const vendor = event.vendor_account_id;
  const data = { settlement_id, rail, quote_id, service_id, ...amountsOf(event), scope, ...own.both };
  const payerAddress = event.payer_address === null ? {} : { payer_address: event.payer_address };
  const event_key = `${type}:${own.key ?? settlement_id}`;
  return toParties({ type, object_id: settlement_id, data, event_key }, [
    ...(account_id === null ? [] : to(account_id, { role: 'payer', wallet_id, delegate_id })),
    ...(vendor === null ? [] : to(vendor, { role: 'vendor', ...payerAddress, ...own.vendor })),
  ]);
};

/**
 * The vendor's quote as its payment progresses. After a failed payment another one may follow, with
 * another settlement.
 */
const quoteEvents = (type: 'quote.settling' | 'quote.settled', event: PaymentEvent): NewEvent[] => {
  const { quote_id, settlement_id, service_id, vendor_account_id: vendor } = event;
  if (quote_id === null || vendor === null) return [];
  const data = { quote_id, service_id, settlement_id, ...amountsOf(event) };
  const event_key = `${type}:${quote_id}:${settlement_id}`;
  return [{ type, object_id: quote_id, data, event_key, parties: to(vendor) }];
};

/**
 * The status of an object as its GET shows it. After a fork the same status may come again, with
 * another transaction.
 */
const objectEvent = (
  type: EventType,
  object_id: string,
  data: { tx_hash: string | null } & Record<string, Json>,
): Omit<NewEvent, 'parties'> => ({
  type,
  object_id,
  data,
  event_key: `${type}:${object_id}:${data.tx_hash ?? ''}`,
});

/** An approval as its GET shows it. An approved one may be denied later, which is another event. */
const approvalEvent = (
  account_id: string,
  type: 'approval.requested' | 'approval.decided',
  approval: { approval_id: string; status: string } & Record<string, Json>,
): NewEvent => ({
  type,
  object_id: approval.approval_id,
  data: approval,
  parties: to(account_id),
  event_key: `${type}:${approval.approval_id}:${approval.status}`,
});

/**
 * Both sides of a refused payment. The vendor learns that the payer of its quote could not pay, and
 * nothing about the payer.
 */
const declineEvents = ({
  account_id,
  vendor_account_id,
  ...decline
}: EventPayload<'settlement.declined'>): NewEvent[] => {
  const { delegate_id, payment_attempt_id, code, reason, limit, ...data } = decline;
  const toPayer = { delegate_id, payment_attempt_id, code, reason, limit };
  const { decline_id } = data;
  const type = 'settlement.declined';
  return toParties({ type, object_id: decline_id, data, event_key: `${type}:${decline_id}` }, [
    ...to(account_id, { role: 'payer', ...toPayer }),
    ...to(vendor_account_id, { role: 'vendor', code: VENDOR_CODE }),
  ]);
};

/**
 * The events that accounts get of each event of a service. An event without an entry does not
 * compile. Null means that no account gets it, and the comment says why.
 */
export const ACCOUNT_EVENTS: { [N in EventName]: ((event: EventPayload<N>) => NewEvent[]) | null } = {
  'quote.expired': ({ account_id, quote_id, service_id, quote_amount, fee_amount, expires_at }) => [
    {
      parties: to(account_id),
      type: 'quote.expired',
      object_id: quote_id,
      data: { quote_id, service_id, quote_amount, fee_amount, expires_at },
      event_key: `quote.expired:${quote_id}`,
    },
  ],
  'quote.linkPaid': ({ account_id, ...data }) => [
    {
      parties: to(account_id),
      type: 'payment_link.paid',
      object_id: data.payment_link_id,
      data,
      event_key: `payment_link.paid:${data.settlement_id}`,
    },
  ],
  // Published only of a payment that takes long, so the events below have the same.
  'settlement.accepted': (event) => quoteEvents('quote.settling', event),
  'settlement.authorized': (event) =>
    paymentEvents('settlement.authorized', event, { both: { capture_ends_at: event.capture_ends_at } }),
  'settlement.extended': (event) =>
    paymentEvents('settlement.extended', event, {
      key: event.extension_id,
      both: {
        extension_id: event.extension_id,
        extension_quote_id: event.extension_quote_id,
        added: event.added,
      },
    }),
  'settlement.atRisk': (event) =>
    paymentEvents('settlement.at_risk', event, { both: { used: event.used, at_risk_at: event.at_risk_at } }),
  'settlement.captured': (event) =>
    paymentEvents('settlement.captured', event, {
      both: { tx_hash: event.tx_hash, max_amount: event.max_amount },
    }),
  'settlement.voided': (event) =>
    paymentEvents('settlement.voided', event, { both: { voided_at: event.voided_at, used: event.used } }),
  'settlement.issued': (event) => [
    ...quoteEvents('quote.settling', event),
    ...quoteEvents('quote.settled', event),
    ...paymentEvents('settlement.issued', event, {
      both: { tx_hash: event.tx_hash, issued_at: event.issued_at },
    }),
  ],
  'settlement.finalized': (event) =>
    paymentEvents('settlement.finalized', event, { both: { tx_hash: event.tx_hash } }),
  'settlement.failed': (event) => [
    ...quoteEvents('quote.settling', event),
    ...paymentEvents('settlement.failed', event, {
      both: { failure_code: event.code, ...(event.used !== undefined && { used: event.used }) },
    }),
  ],
  'settlement.reversed': (event) =>
    paymentEvents('settlement.reversed', event, { both: { redeemed: event.redeemed } }),
  'settlement.redeemed': (event) =>
    paymentEvents('settlement.redeemed', event, {
      both: { redeemed_at: event.redeemed_at },
      vendor: { redeem_id: event.redeem_id },
    }),
  'settlement.expired': (event) =>
    paymentEvents('settlement.expired', event, { both: { redeem_expires_at: event.redeem_expires_at } }),
  // The owner gets what GET shows. The delegate's key reads it there.
  'settlement.approvalRequested': ({ account_id, ...approval }) => [
    approvalEvent(account_id, 'approval.requested', approval),
  ],
  'settlement.approvalDecided': ({ account_id, ...approval }) => [
    approvalEvent(account_id, 'approval.decided', approval),
  ],
  'settlement.declined': (event) => declineEvents(event),
  // The owner reads it as a security event, and gets a mail. A thief may own the endpoint.
  'settlement.securityNoted': null,
  'wallet.securityNoted': null,
  'funding.securityNoted': null,
  'webhook.securityNoted': null,
  'settlement.delegateExhausted': ({ account_id, decline_id, period: _period, ...data }) => [
    {
      parties: to(account_id),
      type: 'delegate.exhausted',
      object_id: data.delegate_id,
      data,
      event_key: `delegate.exhausted:${decline_id}`,
    },
  ],
  'funding.withdrawalChanged': ({ account_id, withdrawal }) => {
    const { status, withdrawal_id } = withdrawal;
    if (status === 'pending_approval') return [];
    return [{ ...objectEvent(`withdrawal.${status}`, withdrawal_id, withdrawal), parties: to(account_id) }];
  },
  'funding.refundChanged': ({ vendor_account_id, payer_account_id, refund }) => {
    const { status, refund_id } = refund;
    if (status === 'pending_signature') return [];
    // An account that refunds itself gets one event. A payer of another protocol has no account.
    const accounts = new Set([vendor_account_id, payer_account_id].filter((id) => id !== null));
    return toParties(
      objectEvent(`refund.${status}`, refund_id, refund),
      [...accounts].flatMap((account_id) => to(account_id)),
    );
  },
  'funding.depositChanged': ({ account_id, deposit }) => {
    const { status, deposit_id } = deposit;
    if (status === 'created') return [];
    return [{ ...objectEvent(`deposit.${status}`, deposit_id, deposit), parties: to(account_id) }];
  },
  'identity.delegateChanged': ({ change_id, account_id, at: _at, change, ...data }) => [
    {
      parties: to(account_id),
      type: `delegate.${change}`,
      object_id: data.delegate_id,
      data,
      event_key: change_id,
    },
  ],
  'identity.keyChanged': ({ change_id, account_id, at: _at, change, ...data }) => [
    {
      parties: to(account_id),
      type: `key.${change}`,
      object_id: data.service_id ?? data.delegate_id ?? account_id,
      data,
      event_key: change_id,
    },
  ],
  // The transfer publishes its own status.
  'funding.moved': null,
  // The gateway's caches are invalidated by these. They hold hashes and sessions.
  'identity.keysRevoked': null,
  'identity.sessionRevoked': null,
  // The refusals of a frozen account tell its owner.
  'identity.accountFrozen': null,
  // The endpoints of the account are deleted with it.
  'identity.accountClosed': null,
  'identity.accountErased': null,
  // The specification names no event of it. The wallet shows it.
  'wallet.delegationChanged': null,
  // Work between services. The service that ordered it publishes the outcome.
  'chain-submitter.settleProgressed': null,
  'chain-submitter.fundProgressed': null,
  'chain-submitter.delegationProgressed': null,
  'chain-submitter.tokenAccountProgressed': null,
  'chain-submitter.withdrawalProgressed': null,
  'chain-submitter.refundProgressed': null,
  // The owner is notified by mail, because there is no endpoint to send it to.
  'webhook.endpointDisabled': null,
};
