import { expect, test } from '@jest/globals';
import type { EventName, EventPayload } from '../../../shared/contract/events.ts';
import { contractList, webhook } from '../../../shared/contract/index.ts';
import { PAYLOADS } from '../../../shared/contract/webhook/payloads.ts';
import { Event } from '../../../shared/contract/webhook.ts';
import { newId, newServiceId } from '../../../shared/lib/id.ts';
import { ACCOUNT_EVENTS, type NewEvent } from './model.ts';

const [payer, vendor] = [newId('acct'), newId('acct')];
const ids = { settlement_id: newId('stl'), quote_id: newId('q') };
const parties = {
  account_id: payer,
  delegate_id: newId('del'),
  wallet_id: newId('wal'),
  rail: 'quittance' as const,
  payer_address: null,
  service_id: newServiceId(),
  vendor_account_id: vendor,
  quote_amount: '1000000',
  fee_amount: '10000',
};
const tx_hash = '5'.repeat(80);
const at = '2026-11-21T10:00:00.000Z';
const whole = { ...ids, ...parties };
const quoted = { ...whole, scope: { order: 'A-17' } };
const transfer = {
  amount: '5',
  destination_address: '1'.repeat(32),
  destination_token_account: '1'.repeat(32),
  tx_hash,
  failure: null,
  created_at: at,
  confirmed_at: null,
  pending_until: at,
};
const withdrawal = { withdrawal_id: newId('wd'), wallet_id: parties.wallet_id, ...transfer };
const refund = {
  refund_id: newId('ref'),
  settlement_id: ids.settlement_id,
  service_id: parties.service_id,
  payout_address: '1'.repeat(32),
  reason: null,
  ...transfer,
};
const deposit = {
  deposit_id: newId('dep'),
  wallet_id: parties.wallet_id,
  provider: 'moonpay',
  fiat_currency: 'USD',
  fiat_amount: '50.00',
  amount: null,
  tx_hash: null,
  problem: null,
  created_at: at,
  expires_at: at,
  completed_at: null,
} as const;
const approval = {
  account_id: payer,
  approval_id: newId('apr'),
  delegate_id: parties.delegate_id,
  payment_attempt_id: 'once',
  rail: 'x402_out' as const,
  amount: '2000000',
  payees: [{ address: '1'.repeat(32), amount: '2000000' }],
  service_id: null,
  service_name: 'api.example.com',
  quote_id: null,
  resource: 'https://api.example.com/report',
  created_at: at,
  expires_at: at,
  decided_at: null,
  settlement_id: null,
};
const decline = {
  decline_id: newId('dcl'),
  account_id: payer,
  vendor_account_id: vendor,
  quote_id: ids.quote_id,
  service_id: parties.service_id,
  service_name: 'Weather API',
  item: 'Harbour tour',
  amount: '5000000',
  code: 'limit_exceeded' as const,
  created_at: at,
  delegate_id: parties.delegate_id,
  payment_attempt_id: 'once',
  reason: 'daily' as const,
  limit: { asked: '5000000', limit: '10000000', left: '2000000', resets_at: at },
};
const exhausted = {
  account_id: payer,
  delegate_id: parties.delegate_id,
  decline_id: decline.decline_id,
  name: 'daily' as const,
  limit: '10000000',
  used: '8000000',
  left: '2000000',
  resets_at: at,
  period: '2026-11-21',
};
const change = { change_id: newId('evt'), account_id: payer, at };
const robot = {
  delegate_id: parties.delegate_id,
  name: 'Robot',
  wallet_id: parties.wallet_id,
  expires_at: null,
};
const key = { service_id: parties.service_id, delegate_id: null, previous_key_expires_at: at };

/** An event as one of its accounts sees it. */
type Seen = Omit<NewEvent, 'parties'> & { account_id: string };

/**
 * The events of a payload, by account. Each has the data that the contract publishes for its type.
 */
const eventsOf = <N extends EventName>(name: N, payload: EventPayload<N>): Seen[] => {
  const events = (ACCOUNT_EVENTS[name] as ((payload: EventPayload<N>) => NewEvent[]) | null)?.(payload) ?? [];
  const made = events.flatMap(({ parties: of, data, ...event }) =>
    of.map(({ account_id, own }) => ({ ...event, account_id, data: { ...data, ...own } })),
  );
  for (const { type, data } of made)
    expect([type, PAYLOADS[type].safeParse(data).error?.issues]).toEqual([type, undefined]);
  return made;
};
const who = (account: string) => (account === payer ? 'payer' : account === vendor ? 'vendor' : account);
const briefly = (events: readonly Seen[]) =>
  events.map(({ account_id, type }) => `${who(account_id)} ${type}`);

const both = (type: string) => [`payer ${type}`, `vendor ${type}`];
const row = <N extends EventName>(name: N, payload: EventPayload<N>, expected: string[]) =>
  [name, payload, expected] as const;
test.each([
  row(
    'quote.expired',
    {
      quote_id: ids.quote_id,
      account_id: vendor,
      service_id: key.service_id,
      quote_amount: '9',
      fee_amount: '1',
      expires_at: at,
    },
    ['vendor quote.expired'],
  ),
  row(
    'quote.linkPaid',
    {
      ...{
        payment_link_id: 'pl_01kaj5w0c0e8h9x2m4n6p8q0rs',
        title: 'Tour',
        settlement_id: ids.settlement_id,
      },
      ...{ quote_id: ids.quote_id, account_id: vendor, service_id: key.service_id, quote_amount: '9' },
    },
    ['vendor payment_link.paid'],
  ),
  row('settlement.accepted', whole, ['vendor quote.settling']),
  row('settlement.issued', { ...quoted, tx_hash, issued_at: at }, [
    'vendor quote.settling',
    'vendor quote.settled',
    ...both('settlement.issued'),
  ]),
  row('settlement.finalized', { ...quoted, tx_hash }, both('settlement.finalized')),
  row('settlement.failed', { ...quoted, code: 'insufficient_funds' }, [
    'vendor quote.settling',
    ...both('settlement.failed'),
  ]),
  row('settlement.reversed', { ...quoted, redeemed: true }, both('settlement.reversed')),
  row('settlement.redeemed', { ...quoted, redeemed_at: at, redeem_id: 'r' }, both('settlement.redeemed')),
  row('settlement.expired', { ...quoted, redeem_expires_at: at }, both('settlement.expired')),
  row('settlement.approvalRequested', { ...approval, status: 'awaiting_approval' }, [
    'payer approval.requested',
  ]),
  row('settlement.approvalDecided', { ...approval, status: 'denied', decided_at: at }, [
    'payer approval.decided',
  ]),
  row('settlement.declined', decline, both('settlement.declined')),
  row('settlement.delegateExhausted', exhausted, ['payer delegate.exhausted']),
  row(
    'funding.withdrawalChanged',
    { account_id: payer, withdrawal: { ...withdrawal, status: 'pending_approval' } },
    [],
  ),
  row(
    'funding.withdrawalChanged',
    { account_id: payer, withdrawal: { ...withdrawal, status: 'finalized' } },
    ['payer withdrawal.finalized'],
  ),
  row(
    'funding.refundChanged',
    { vendor_account_id: vendor, payer_account_id: payer, refund: { ...refund, status: 'submitted' } },
    ['vendor refund.submitted', 'payer refund.submitted'],
  ),
  row(
    'funding.refundChanged',
    { vendor_account_id: payer, payer_account_id: payer, refund: { ...refund, status: 'failed' } },
    ['payer refund.failed'],
  ),
  row('funding.depositChanged', { account_id: payer, deposit: { ...deposit, status: 'created' } }, []),
  row('funding.depositChanged', { account_id: payer, deposit: { ...deposit, status: 'completed' } }, [
    'payer deposit.completed',
  ]),
  row('identity.delegateChanged', { ...change, ...robot, change: 'deleted' }, ['payer delegate.deleted']),
  row('identity.keyChanged', { ...change, ...key, change: 'revealed' }, ['payer key.revealed']),
])('%s, case %#, becomes %j', (name, payload, expected) => {
  const events = eventsOf(name as EventName, payload as never);
  expect(briefly(events)).toEqual(expected);
  // A repeat has the same keys, and the keys differ by account and role.
  expect(eventsOf(name as EventName, payload as never)).toEqual(events);
  expect(new Set(events.map(({ account_id, event_key }) => `${account_id} ${event_key}`)).size).toBe(
    events.length,
  );
  for (const { type, object_id, data } of events) {
    expect(Event.safeParse({ event_id: newId('evt'), type, object_id, created_at: at, data }).success).toBe(
      true,
    );
  }
});

test('an approval that is denied after it was approved is a second event', () => {
  const keys = (['approved', 'denied'] as const).flatMap((status) =>
    eventsOf('settlement.approvalDecided', { ...approval, status, decided_at: at }).map(
      (each) => each.event_key,
    ),
  );
  expect(new Set(keys).size).toBe(2);
});

test('payer and vendor each get the fields that they may see', () => {
  const [toPayer, toVendor] = eventsOf('settlement.redeemed', {
    ...quoted,
    redeemed_at: at,
    redeem_id: 'replica-1',
  });
  const shared = {
    ...ids,
    rail: 'quittance',
    service_id: parties.service_id,
    quote_amount: '1000000',
    fee_amount: '10000',
    net_amount: '990000',
    scope: { order: 'A-17' },
    redeemed_at: at,
  };
  expect(toPayer!.data).toEqual({
    ...shared,
    role: 'payer',
    wallet_id: parties.wallet_id,
    delegate_id: parties.delegate_id,
  });
  expect(toVendor!.data).toEqual({ ...shared, role: 'vendor', redeem_id: 'replica-1' });
});

test('the vendor of a declined payment learns neither who pays nor why it was refused', () => {
  const [toPayer, toVendor] = eventsOf('settlement.declined', decline);
  const { account_id: _payer, vendor_account_id: _vendor, ...shown } = decline;
  expect(toPayer!.data).toEqual({ ...shown, role: 'payer' });
  expect(toVendor!.data).toEqual({
    decline_id: decline.decline_id,
    quote_id: ids.quote_id,
    service_id: parties.service_id,
    service_name: 'Weather API',
    item: 'Harbour tour',
    amount: '5000000',
    code: 'payer_declined',
    created_at: at,
    role: 'vendor',
  });
});

test('a used-up limit is an event with its figures', () => {
  const [event] = eventsOf('settlement.delegateExhausted', exhausted);
  expect(event).toMatchObject({
    object_id: parties.delegate_id,
    data: { name: 'daily', limit: '10000000', used: '8000000', left: '2000000', resets_at: at },
  });
});

test('a payment of another protocol is an event of its vendor only, with the rail and the address that paid', () => {
  const incoming = {
    ...{
      ...quoted,
      rail: 'x402' as const,
      quote_id: null,
      scope: null,
      account_id: null,
      wallet_id: null,
      delegate_id: null,
    },
    payer_address: '1'.repeat(32),
  };
  const events = eventsOf('settlement.issued', { ...incoming, tx_hash, issued_at: at });
  expect(events).toMatchObject([
    {
      account_id: vendor,
      type: 'settlement.issued',
      data: { role: 'vendor', rail: 'x402', quote_id: null, payer_address: '1'.repeat(32), tx_hash },
    },
  ]);
  expect(eventsOf('settlement.accepted', incoming)).toEqual([]);
});

test('an outgoing payment is an event of its payer only, without a service', () => {
  const outgoing = {
    ...{ ...quoted, rail: 'x402_out' as const, quote_id: null, service_id: null, vendor_account_id: null },
    scope: null,
    payer_address: '1'.repeat(32),
    fee_amount: '0',
  };
  expect(eventsOf('settlement.issued', { ...outgoing, tx_hash, issued_at: at })).toMatchObject([
    {
      account_id: payer,
      type: 'settlement.issued',
      data: { role: 'payer', rail: 'x402_out', service_id: null, wallet_id: parties.wallet_id, tx_hash },
    },
  ]);
  expect(eventsOf('settlement.failed', { ...outgoing, code: 'payment_failed' })).toMatchObject([
    { account_id: payer, data: { role: 'payer', failure_code: 'payment_failed' } },
  ]);
  expect(eventsOf('settlement.accepted', outgoing)).toEqual([]);
});

test('an account that pays its own service gets the events of both roles', () => {
  const events = eventsOf('settlement.expired', {
    ...quoted,
    vendor_account_id: payer,
    redeem_expires_at: at,
  });
  expect(events.map(({ data }) => data.role)).toEqual(['payer', 'vendor']);
  expect(new Set(events.map(({ event_key }) => event_key)).size).toBe(2);
});

test('a second payment of a quote and a new transaction make new events, a repeat does not', () => {
  const keysOf = (events: Seen[]) => events.map(({ event_key }) => event_key);
  const another = { ...quoted, settlement_id: newId('stl') };
  expect(keysOf(eventsOf('settlement.accepted', whole))).not.toEqual(
    keysOf(eventsOf('settlement.accepted', another)),
  );
  const confirmed = (hash: string) =>
    keysOf(
      eventsOf('funding.withdrawalChanged', {
        account_id: payer,
        withdrawal: { ...withdrawal, status: 'confirmed', tx_hash: hash },
      }),
    );
  expect(confirmed(tx_hash)).toEqual(confirmed(tx_hash));
  expect(confirmed(tx_hash)).not.toEqual(confirmed('6'.repeat(80)));
  const rotated = (change_id: string) =>
    keysOf(eventsOf('identity.keyChanged', { ...change, ...key, change_id, change: 'rotated' }));
  expect(rotated(newId('evt'))).not.toEqual(rotated(newId('evt')));
});

test('every event of the contract has an entry, and the service subscribes to those that accounts get', () => {
  const names = contractList.flatMap(({ name, events }) =>
    Object.keys(events).map((event) => `${name}.${event}`),
  );
  expect(new Set(Object.keys(ACCOUNT_EVENTS))).toEqual(new Set(names));
  const delivered = Object.entries(ACCOUNT_EVENTS).flatMap(([name, toEvents]) =>
    toEvents === null ? [] : [name],
  );
  // No account gets these. They delete what the service holds of an account.
  const leaving = ['identity.accountClosed', 'identity.accountErased'];
  expect(new Set([...delivered, ...leaving])).toEqual(new Set<string>(webhook.consumes));
});
