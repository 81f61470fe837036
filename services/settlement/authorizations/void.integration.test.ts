import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { failpoints } from '../../../shared/lib/failpoint.ts';
import { authorize, record, use, voidIt } from '../../../test/support/fixtures/settlement/authorizations.ts';
import { held, startFixture, stopFixture } from '../../../test/support/fixtures/settlement/settlement.ts';

beforeAll(startFixture);
afterAll(stopFixture);

/** Something happens once, after a void was decided and before it is recorded. */
const meanwhile = (event: () => Promise<unknown>): void => {
  const whole = failpoints['settlement.beforeVoid'];
  failpoints['settlement.beforeVoid'] = async () => {
    failpoints['settlement.beforeVoid'] = whole;
    await event();
  };
};

test('use that is reported meanwhile is given up with the rest', async () => {
  const one = await authorize();
  await use(one, { usage_id: 'a', amount: '20000' });
  meanwhile(() => use(one, { usage_id: 'b', amount: '7000' }));
  expect(await voidIt(one, { discard_usage: true })).toMatchObject({ used: '27000' });
  expect(await held(one.payer)).toBe(0n);
});

test('use that is reported meanwhile refuses a void that does not give it up', async () => {
  const one = await authorize();
  meanwhile(() => use(one, { usage_id: 'a', amount: '7000' }));
  await expect(voidIt(one)).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('7000 were reported as used: capture them'),
  });
  expect(await record(one.id)).toMatchObject({ status: 'authorized', used: '7000' });
});

test('a void beside another is answered as its repeat', async () => {
  const one = await authorize();
  const first: unknown[] = [];
  meanwhile(async () => first.push(await voidIt(one)));
  expect([await voidIt(one)]).toEqual(first);
});
