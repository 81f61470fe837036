import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newServiceId } from '../../../shared/lib/id.ts';
import {
  account,
  briefly,
  database,
  delegate,
  expectSoon,
  issue,
  issuedEvent,
  list,
  movedEvent,
  publishAll,
  reversedEvent,
  startFixture,
  stopFixture,
  summary,
  VENDOR,
} from '../../../test/support/fixtures/transactions.ts';

beforeAll(startFixture);
afterAll(stopFixture);

test('spending is summed by day, service and delegate, and a delegate sees its spending only', async () => {
  const payer = account();
  const [robot, other] = [delegate(payer.account_id), delegate(payer.account_id)];
  const [weather, maps] = [newServiceId(), newServiceId()];
  const day = (date: string, time = '12:00:00.000') => ({ issued_at: `${date}T${time}Z` });
  await publishAll([
    issuedEvent(
      issue(payer, {
        quote_amount: '100',
        fee_amount: '1',
        service_id: weather,
        ...day('2026-10-01', '23:59:59.999'),
      }),
    ),
    issuedEvent(
      issue(robot, {
        quote_amount: '200',
        fee_amount: '2',
        service_id: weather,
        ...day('2026-10-02', '00:00:00.000'),
      }),
    ),
    issuedEvent(
      issue(robot, { quote_amount: '400', fee_amount: '4', service_id: maps, ...day('2026-10-02') }),
    ),
    issuedEvent(
      issue(other, { quote_amount: '800', fee_amount: '8', service_id: maps, ...day('2026-10-04') }),
    ),
    ...((lost) => [issuedEvent(lost), reversedEvent(lost)])(
      issue(robot, { quote_amount: '5000', fee_amount: '50', ...day('2026-10-02', '12:00:00.001') }),
    ),
    movedEvent({
      type: 'refund',
      amount: '50',
      to_account_id: payer.account_id,
      from_account_id: VENDOR,
      delegate_id: robot.delegate_id,
      created_at: '2026-10-03T00:00:00.000Z',
    }),
    movedEvent({
      type: 'refund',
      amount: '7',
      status: 'reversed',
      to_account_id: payer.account_id,
      from_account_id: VENDOR,
      created_at: '2026-10-03T00:00:00.000Z',
    }),
    movedEvent({
      type: 'withdrawal',
      amount: '9',
      from_account_id: payer.account_id,
      created_at: '2026-10-03T00:00:00.000Z',
    }),
  ]);
  await expectSoon(async () => (await list(payer)).data.length, 8);
  const october = { from: '2026-10-01T00:00:00Z', to: '2026-11-01T00:00:00Z' };
  const totals = {
    from: '2026-10-01T00:00:00.000Z',
    to: '2026-11-01T00:00:00.000Z',
    total_spent: '1500',
    total_refunded: '50',
    total_fees: '15',
    payment_count: 4,
  };
  const group = (key: string | null, spent: string, payment_count: number) => ({ key, spent, payment_count });

  expect(await summary(payer, october)).toEqual({
    ...totals,
    groups: [group('2026-10-01', '100', 1), group('2026-10-02', '600', 2), group('2026-10-04', '800', 1)],
  });
  expect(await summary(payer, { ...october, group_by: 'service' })).toEqual({
    ...totals,
    groups: [group(maps, '1200', 2), group(weather, '300', 2)],
  });
  expect(await summary(payer, { ...october, group_by: 'delegate' })).toEqual({
    ...totals,
    groups: [group(other.delegate_id, '800', 1), group(robot.delegate_id, '600', 2), group(null, '100', 1)],
  });
  expect(await summary(robot, { ...october, group_by: 'service' })).toMatchObject({
    total_spent: '600',
    total_refunded: '50',
    payment_count: 2,
    groups: [group(maps, '400', 1), group(weather, '200', 1)],
  });
  expect(await summary(other, october)).toMatchObject({ total_spent: '800', total_refunded: '0' });
  expect(await summary(payer, { from: '2026-10-02T00:00:00Z', to: '2026-10-04T12:00:00Z' })).toMatchObject({
    total_spent: '600',
    total_refunded: '50',
  });
  expect(briefly(await list(robot))).toEqual([
    'refund in 50 0 confirmed',
    'payment out 5000 50 reversed',
    'payment out 400 4 confirmed',
    'payment out 200 2 confirmed',
  ]);
  expect(await summary(account(), october)).toMatchObject({
    total_spent: '0',
    total_refunded: '0',
    groups: [],
  });
});

test('the default period ends now, by the clock of the database', async () => {
  const payer = account();
  await publishAll([issuedEvent(issue(payer))]);
  await expectSoon(async () => (await summary(payer)).total_spent, '1000000');
  await database.withClock('40 days', () => expectSoon(async () => (await summary(payer)).total_spent, '0'));
});
