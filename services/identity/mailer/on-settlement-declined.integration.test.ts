import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '../../../shared/lib/id.ts';
import { callerOf, PAYOUT, startIdentity } from '../../../test/support/fixtures/identity.ts';
import { purgeHandledEvents } from '../mails/store.ts';
import { moment } from './mail-text.ts';

let running: Awaited<ReturnType<typeof startIdentity>>;
beforeAll(async () => {
  running = await startIdentity();
});
afterAll(() => running.stop());

const SUBJECT = 'A payment of an agent was declined (Quittance)';

const newOwner = async () => {
  const session = await running.signIn();
  const caller = callerOf(session);
  const { account_id, email } = session.account;
  const { delegate_id } = await running.ask(
    'createDelegate',
    { name: 'Robot <b>', wallet_id: running.newWallet(account_id), limits: {} },
    caller,
  );
  const { service_id } = await running.ask(
    'createService',
    { name: 'Weather', price: '50000', payout_address: PAYOUT },
    caller,
  );
  return { account_id, email, delegate_id, service_id };
};
type Owner = Awaited<ReturnType<typeof newOwner>>;

const declineOf = ({ account_id, delegate_id, service_id }: Owner, more: object = {}) => ({
  decline_id: newId('dcl'),
  account_id,
  vendor_account_id: newId('acct'),
  quote_id: newId('q'),
  service_id,
  service_name: 'Weather',
  item: null,
  amount: '5000000',
  code: 'limit_exceeded',
  created_at: new Date(running.now()).toISOString(),
  delegate_id,
  payment_attempt_id: 'once',
  reason: 'daily',
  limit: {
    asked: '5000000',
    limit: '10000000',
    left: '2000000',
    resets_at: new Date(running.now() + 3_600_000).toISOString(),
  },
  ...more,
});
const publish = async (...events: object[]) => {
  for (const event of events) await running.publish(event, 'declined');
  await running.allHandledAndMailed('declined');
};
const mailsOf = ({ email }: Owner) =>
  running.smtp.mailsTo(email).filter(({ subject }) => subject === SUBJECT);

test('the owner of a delegate is mailed at most once an hour, whatever the settings say', async () => {
  const [ada, eve] = [await newOwner(), await newOwner()];
  const first = declineOf(ada);
  await publish(first, first, declineOf(ada, { reason: 'balance' }), declineOf(eve));
  expect([mailsOf(ada).length, mailsOf(eve).length]).toEqual([1, 1]);
  for (const part of [
    `the agent “Robot <b>” tried to pay 5.00 USDC to the service “Weather” (${ada.service_id})`,
    `At ${moment(first.created_at, new Date())} the agent`,
    '2.00 USDC of 10.00 USDC are left',
    'https://console.quittance.example/delegates\n',
  ])
    expect(mailsOf(ada)[0]!.text).toContain(part);

  await running.passSeconds(3700);
  // The repeat of an old event is not mailed, and a new decline is.
  await publish(first);
  expect(mailsOf(ada)).toHaveLength(1);
  await publish(declineOf(ada, { reason: 'per_payment' }));
  expect(
    mailsOf(ada).map(({ text }) => text.includes('The agent may spend 10.00 USDC per payment.')),
  ).toEqual([false, true]);

  const noted = () => running.count('handled_events', `event_key like '%${ada.account_id}'`);
  expect(await noted()).toBe(1);
  await running.passSeconds(3700);
  await purgeHandledEvents(running.deps.pool);
  expect(await noted()).toBe(0);
});

test('64 declines at once send one mail', async () => {
  const owner = await newOwner();
  await Promise.all(Array.from({ length: 64 }, () => running.publish(declineOf(owner), 'declined')));
  await running.allHandledAndMailed('declined');
  expect(mailsOf(owner)).toHaveLength(1);
});

test.each([
  ['of a sign-in', { delegate_id: null }],
  ['that the owner cannot change', { reason: 'quote_expired', code: 'quote_expired', limit: null }],
])('a decline %s sends no mail', async (_what, more) => {
  const owner = await newOwner();
  await publish(declineOf(owner, more));
  expect(mailsOf(owner)).toEqual([]);
});
