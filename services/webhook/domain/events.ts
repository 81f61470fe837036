import type { z } from 'zod';
import type { contracts } from '../../../shared/contract/index.ts';
import type { EventType } from '../../../shared/contract/webhook.ts';
import { formatMicro, parseMicro } from '../../../shared/lib/micro.ts';

type Contracts = typeof contracts;
type FactsOf<S extends keyof Contracts> = `${S}.${string & keyof Contracts[S]['events']}`;
/** Every fact of every service, `<service>.<fact>`. */
export type FactName = { [S in keyof Contracts]: FactsOf<S> }[keyof Contracts];
export type FactOf<F extends FactName> = F extends `${infer S}.${infer E}`
  ? S extends keyof Contracts
    ? E extends keyof Contracts[S]['events']
      ? z.infer<Extract<Contracts[S]['events'][E], z.ZodType>>
      : never
    : never
  : never;

type Json = z.core.util.JSONType;

/** What one account is told of a fact. */
export type NewEvent = {
  account_id: string;
  type: EventType;
  object_id: string;
  data: Record<string, Json>;
  /** What happened: the same of the same, however often and by whatever message it is told. Unique within the account. */
  fact_key: string;
};

/** A fact of settlement with who is concerned; as it was told before it says nobody. */
type Concerning = {
  settlement_id: string;
  quote_id: string;
  account_id: string;
  vendor_account_id: string;
  delegate_id: string | null;
  wallet_id: string;
  service_id: string;
  quote_amount: string;
  fee_amount: string;
};

const amountsOf = ({ quote_amount, fee_amount }: Concerning) => ({
  quote_amount,
  fee_amount,
  net_amount: formatMicro(parseMicro(quote_amount) - parseMicro(fee_amount)),
});

/** Payer and vendor each as they may see it; an account that pays itself is told as both. */
const paymentEvents = <F extends object>(
  type: EventType,
  fact: F | (F & Concerning),
  own: { both?: Record<string, Json>; vendor?: Record<string, Json> } = {},
): NewEvent[] => {
  if (!('vendor_account_id' in fact)) return [];
  const { settlement_id, quote_id, service_id, wallet_id, delegate_id } = fact;
  const shared = { settlement_id, quote_id, service_id, ...amountsOf(fact), ...own.both };
  const told = (role: 'payer' | 'vendor', account_id: string, more: Record<string, Json>): NewEvent => ({
    account_id,
    type,
    object_id: settlement_id,
    data: { ...shared, role, ...more },
    fact_key: `${type}:${settlement_id}:${role}`,
  });
  return [
    told('payer', fact.account_id, { wallet_id, delegate_id }),
    told('vendor', fact.vendor_account_id, { ...own.vendor }),
  ];
};

/** The vendor's quote by what becomes of its payment; a failed one may be followed by another, with its own settlement. */
const quoteEvents = <F extends object>(
  type: 'quote.settling' | 'quote.settled',
  fact: F | (F & Concerning),
): NewEvent[] => {
  if (!('vendor_account_id' in fact)) return [];
  const { quote_id, settlement_id, service_id, vendor_account_id: account_id } = fact;
  const data = { quote_id, service_id, settlement_id, ...amountsOf(fact) };
  return [{ account_id, type, object_id: quote_id, data, fact_key: `${type}:${quote_id}:${settlement_id}` }];
};

/** The status of an object that its GET shows; after a fork the same status may come with another transaction. */
const objectEvent = <T extends EventType>(
  account_id: string,
  type: T,
  object_id: string,
  data: { tx_hash: string | null } & Record<string, Json>,
): NewEvent => ({
  account_id,
  type,
  object_id,
  data,
  fact_key: `${type}:${object_id}:${data.tx_hash ?? ''}`,
});

/**
 * What accounts are told of each fact. A fact that is not here does not compile; null says that no account is told, and
 * why.
 */
export const EVENTS_OF: { [F in FactName]: ((fact: FactOf<F>) => NewEvent[]) | null } = {
  'quote.expired': ({ account_id, quote_id, service_id, quote_amount, fee_amount, expires_at }) => [
    {
      account_id,
      type: 'quote.expired',
      object_id: quote_id,
      data: { quote_id, service_id, quote_amount, fee_amount, expires_at },
      fact_key: `quote.expired:${quote_id}`,
    },
  ],
  'settlement.accepted': (fact) => quoteEvents('quote.settling', fact),
  'settlement.issued': (fact) =>
    'vendor_account_id' in fact
      ? [
          ...quoteEvents('quote.settled', fact),
          ...paymentEvents('settlement.issued', fact, {
            both: { tx_hash: fact.tx_hash, issued_at: fact.issued_at },
          }),
        ]
      : [],
  'settlement.finalized': (fact) =>
    paymentEvents('settlement.finalized', fact, { both: { tx_hash: fact.tx_hash } }),
  'settlement.failed': (fact) =>
    paymentEvents('settlement.failed', fact, { both: { failure_code: fact.code } }),
  'settlement.reversed': (fact) =>
    paymentEvents('settlement.reversed', fact, { both: { redeemed: fact.redeemed } }),
  'settlement.redeemed': (fact) =>
    paymentEvents('settlement.redeemed', fact, {
      both: { redeemed_at: fact.redeemed_at },
      vendor: { redeem_id: fact.redeem_id },
    }),
  'settlement.expired': (fact) =>
    paymentEvents('settlement.expired', fact, { both: { redeem_expires_at: fact.redeem_expires_at } }),
  'funding.withdrawalChanged': ({ account_id, withdrawal }) => {
    const { status, withdrawal_id } = withdrawal;
    if (status === 'pending_approval') return [];
    return [objectEvent(account_id, `withdrawal.${status}`, withdrawal_id, withdrawal)];
  },
  'funding.refundChanged': ({ vendor_account_id, payer_account_id, refund }) => {
    const { status, refund_id } = refund;
    if (status === 'pending_signature') return [];
    // Of an account that refunds itself both are one.
    return [...new Set([vendor_account_id, payer_account_id])].map((account_id) =>
      objectEvent(account_id, `refund.${status}`, refund_id, refund),
    );
  },
  'funding.depositChanged': ({ account_id, deposit }) => {
    const { status, deposit_id } = deposit;
    if (status === 'created') return [];
    return [objectEvent(account_id, `deposit.${status}`, deposit_id, deposit)];
  },
  'identity.delegateChanged': ({ fact_id, account_id, at: _at, change, ...data }) => [
    {
      account_id,
      type: `delegate.${change}`,
      object_id: data.delegate_id,
      data,
      fact_key: fact_id,
    },
  ],
  'identity.keyChanged': ({ fact_id, account_id, at: _at, change, ...data }) => [
    {
      account_id,
      type: `key.${change}`,
      object_id: data.service_id ?? data.delegate_id ?? account_id,
      data,
      fact_key: fact_id,
    },
  ],
  // The object that moved tells its own status.
  'funding.moved': null,
  // Caches of the gateway forget by these: hashes and sign-ins are nobody's news.
  'identity.keysEnded': null,
  'identity.sessionEnded': null,
  // What the owner's wallet shows; the specification names no event of it.
  'wallet.delegationChanged': null,
  // Work between services: its outcome is told by who ordered it.
  'chain-submitter.settleProgressed': null,
  'chain-submitter.fundProgressed': null,
  'chain-submitter.delegationProgressed': null,
  'chain-submitter.tokenAccountProgressed': null,
  'chain-submitter.withdrawalProgressed': null,
  'chain-submitter.refundProgressed': null,
  // Mailed: there is no endpoint to tell.
  'webhook.endpointDisabled': null,
};
