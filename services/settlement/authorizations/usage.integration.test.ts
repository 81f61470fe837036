import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { authorize, use } from '../../../test/support/fixtures/settlement/authorizations.ts';
import {
  admin,
  outcome,
  startFixture,
  stopFixture,
} from '../../../test/support/fixtures/settlement/settlement.ts';

beforeAll(startFixture);
afterAll(stopFixture);

test('units below a micro-unit add up, and what is shown is rounded up', async () => {
  const one = await authorize({ unit_price: '1' });
  await admin.query('update authorizations set unit_price_pico = 2500 where settlement_id = $1', [one.id]);
  expect(await use(one, { usage_id: 'a', units: 1 })).toMatchObject({ used: '1', left: '499999' });
  expect(await use(one, { usage_id: 'b', units: 399 })).toMatchObject({ used: '1', left: '499999' });
  expect(await use(one, { usage_id: 'c', units: 1 })).toMatchObject({ used: '2', left: '499998' });
  expect(await use(one, { usage_id: 'b', units: 399 })).toMatchObject({ used: '1' });
  expect(await outcome(use(one, { usage_id: 'b', units: 400 }))).toBe('conflict');
  expect(await outcome(use(one, { usage_id: 'd', units: 199_999_600 }))).toBe('usage_exceeds_authorization');
  expect(await use(one, { usage_id: 'd', units: 199_999_599 })).toMatchObject({ used: '500000', left: '0' });
});

test('a use with the token of another payment does not wait for the payment', async () => {
  const [one, other] = [await authorize(), await authorize()];
  const busy = await admin.connect();
  try {
    await busy.query('begin');
    await busy.query('select from authorizations where settlement_id = $1 for update', [one.id]);
    const stolen = { ...one, token: other.token };
    expect(await outcome(use(stolen, { usage_id: 'a', amount: '1' }))).toBe('validation_error');
  } finally {
    await busy.query('rollback');
    busy.release();
  }
  expect(await use(one, { usage_id: 'a', amount: '1' })).toMatchObject({ used: '1' });
});
