import { expect, test } from '@jest/globals';
import { contractList } from '../contract/index.ts';
import { sql } from '../db/pool.ts';
import { event, job } from './event.ts';
import { insertEvents } from './outbox.ts';

const about = {
  settlement_id: 'stl_1',
  quote_id: 'q_1',
  account_id: 'acct_1',
  delegate_id: null,
  item: null,
  wallet_id: 'wal_1',
  rail: 'quittance' as const,
  payer_address: null,
  service_id: 'srv_1',
  vendor_account_id: 'acct_2',
  quote_amount: '1000000',
  fee_amount: '10000',
};
const tx_hash = '5'.repeat(64);
const at = '2026-11-21T10:00:00.000Z';
const moved = {
  type: 'dev_fund',
  object_id: 'fund_1',
  status: 'confirmed',
  tx_hash,
  amount: '1',
  from_account_id: null,
  to_account_id: 'acct_1',
  service_id: null,
  delegate_id: null,
  item: null,
  created_at: at,
} as const;
const deposit = {
  deposit_id: 'dep_1',
  status: 'processing',
  wallet_id: 'wal_1',
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
const disabled = { account_id: 'acct_1', endpoint_id: 'we_1', host: 'a.b', reason: 'gone', at } as const;
const progress = {
  object_id: 'stl_1',
  status: 'confirmed',
  generation: 1,
  tx_hash,
  slot: 7,
  failure: null,
} as const;
const settle = {
  account_id: 'acct_1',
  payment_attempt_id: 'order:7',
  settlement_id: 'stl_1',
  accepted_at: at,
  generation: 0,
  quote_token: 'a.b',
  payer: { wallet_id: 'wal_1', owner: 'o', authority: 'a' },
};
const fund = { fund_id: 'fund_1', account_id: 'acct_1', owner: 'o', amount: '5' };

test.each([
  [event('settlement.accepted', about), 'evt.settlement.accepted', 'settlement.accepted:stl_1'],
  [
    event('settlement.issued', { ...about, scope: null, tx_hash, issued_at: at }),
    'evt.settlement.issued',
    'settlement.issued:stl_1',
  ],
  [event('funding.moved', moved), 'evt.funding.moved', `funding.moved:fund_1:confirmed:${tx_hash}`],
  [
    event('funding.depositChanged', { account_id: 'acct_1', deposit }),
    'evt.funding.depositChanged',
    'funding.depositChanged:dep_1:processing:',
  ],
  [
    event('identity.keysRevoked', { key_hashes: ['one', 'two'] }),
    'evt.identity.keysRevoked',
    'identity.keysRevoked:one,two',
  ],
  [
    event('webhook.endpointDisabled', disabled),
    'evt.webhook.endpointDisabled',
    `webhook.endpointDisabled:we_1:${at}`,
  ],
  [
    job('chain-submitter.settle', settle, { dispatch: 2 }),
    'job.chain-submitter.settle',
    'chain-submitter.settle:acct_1:order:7:2',
  ],
  [
    job('chain-submitter.fund', fund, { dispatch: 0 }),
    'job.chain-submitter.fund',
    'chain-submitter.fund:fund_1:0',
  ],
])('%# a message id consists of the identity and is always the same', (message, subject, msgId) => {
  expect([message.subject, message.msgId]).toEqual([subject, msgId]);
});

test('each publication of an event that may repeat in the same state is a separate message', () => {
  const [one, two] = [1, 2].map(() => event('chain-submitter.settleProgressed', progress).msgId);
  expect(one).toMatch(/^chain-submitter\.settleProgressed:stl_1:1:confirmed:[0-9a-f-]{36}$/);
  expect(two).not.toBe(one);
});

test('another status, transaction or dispatch count gives another message id', () => {
  const ids = [
    event('funding.moved', { ...moved, status: 'finalized' }),
    event('funding.moved', moved),
    event('funding.moved', { ...moved, tx_hash: '6'.repeat(64) }),
    job('chain-submitter.fund', fund, { dispatch: 0 }),
    job('chain-submitter.fund', fund, { dispatch: 1 }),
  ].map(({ msgId }) => msgId);
  expect(new Set(ids).size).toBe(ids.length);
});

test('names of events and jobs are unique, so message ids are', () => {
  const names = contractList.flatMap(({ name, events, jobs }) =>
    [...Object.keys(events), ...Object.keys(jobs)].map((each) => `${name}.${each}`),
  );
  expect(new Set(names).size).toBe(names.length);
});

/** Never called: the type check fails unless each marked line is an error. */
const wrong = (): unknown[] => [
  // @ts-expect-error no such event
  event('settlement.isued', { ...about, tx_hash, issued_at: at }),
  // @ts-expect-error a job is no event
  event('chain-submitter.settle', settle),
  // @ts-expect-error the event requires its accounts
  event('settlement.issued', { settlement_id: 'stl_1', quote_id: 'q_1', tx_hash, issued_at: at }),
  // @ts-expect-error the payload of another event
  event('settlement.failed', { ...about, redeemed: true }),
  // @ts-expect-error a field that the contract does not have
  event('settlement.failed', { ...about, code: 'payment_failed', reason: 'none' }),
  // @ts-expect-error an unknown status
  event('chain-submitter.fundProgressed', { ...progress, status: 'landed' }),
  // @ts-expect-error a job requires its dispatch count
  job('chain-submitter.fund', fund),
  // @ts-expect-error a field is missing
  job('chain-submitter.fund', { fund_id: 'fund_1', account_id: 'acct_1', owner: 'o' }, { dispatch: 0 }),
  insertEvents('identity.sessionRevoked', {
    from: sql.fragment`sessions`,
    // @ts-expect-error a field is missing
    fields: { account_id: sql.fragment`account_id` },
    traceparent: sql.fragment`null`,
  }),
];

test('an unknown name or a wrong payload does not compile', () => {
  expect(wrong).toBeInstanceOf(Function);
});
