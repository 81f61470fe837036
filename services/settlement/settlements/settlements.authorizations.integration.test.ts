import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  authorize,
  CEILING,
  capture,
  ceilingQuote,
  record,
  sumOfUses,
  use,
  voidIt,
} from '../../../test/support/fixtures/settlement/authorizations.ts';
import {
  callAs,
  database,
  delegateOf,
  deps,
  held,
  outcome,
  paid,
  pay,
  publishProgress,
  serviceKey,
  spendingOf,
  startFixture,
  stopFixture,
  until,
  untilChainStatus,
} from '../../../test/support/fixtures/settlement/settlement.ts';
import { consumer, snapshots } from '../../../test/support/fixtures/settlement/settlement-peers.ts';
import { endDueAuthorizations } from '../authorizations/end-due-authorizations.ts';
import { watchAuthorizations } from '../authorizations/watch-authorizations.ts';

beforeAll(startFixture);
afterAll(stopFixture);

const endDue = () => endDueAuthorizations(deps)();
/** Lets the chain confirm a capture, whose call waits for it. */
const confirmed = async <T>(id: string, answer: Promise<T>): Promise<T> => {
  await untilChainStatus(id, 'pending');
  await publishProgress(id, 'confirmed');
  return answer;
};
const refusal = (work: Promise<unknown>) =>
  work.then(
    () => 'ok',
    (error: Error) => error.message,
  );

describe('authorize', () => {
  test('rule 19: a quote with a ceiling holds it, answers at once and dispatches no job', async () => {
    const payer = consumer();
    const { id, token, q, attempt, answer } = await authorize({}, payer);
    expect(answer).toEqual({
      settlement_id: id,
      settlement_token: token,
      status: 'authorized',
      tx_hash: null,
      max_amount: '500000',
      capture_ends_at: expect.any(String),
    });
    expect(await held(payer)).toBe(CEILING);
    expect(await record(id)).toMatchObject({ status: 'authorized', chain_status: 'none', holding: true });
    expect(await pay(payer, q, attempt)).toEqual(answer);
    expect(await outcome(pay(payer, q))).toBe('quote_already_settled');
    expect(await held(payer)).toBe(CEILING);
  });

  test('limits, allowance and balance are evaluated on the ceiling', async () => {
    const poor = consumer(CEILING - 1n);
    expect(await outcome(authorize({}, poor))).toBe('insufficient_funds');
    const payer = consumer();
    const delegate = await delegateOf(payer, { daily: CEILING });
    await authorize({}, delegate);
    expect(await outcome(authorize({}, delegate, 1n + 10_000n))).toBe('limit_exceeded');
  });

  test('redeem and consume are refused with the words that lead on, and verify shows what is left', async () => {
    const { id, token } = await authorize({ unit_price: '250' });
    await use({ id, token }, { usage_id: 'a', units: 4 });
    const presented = { settlement_id: id, settlement_token: token };
    expect(await refusal(callAs(serviceKey, 'redeem', presented))).toContain(
      'report what is used with usage',
    );
    expect(
      await refusal(callAs(serviceKey, 'consume', { ...presented, units: 1, request_id: 'r' })),
    ).toContain('prepaid no units');
    expect(await callAs(serviceKey, 'verify', { settlement_id: id })).toMatchObject({
      status: 'authorized',
      chain_status: 'none',
      authorization: {
        mode: 'manual',
        max_amount: '500000',
        used: '1000',
        left: '499000',
        unit_price: '250',
      },
    });
  });
});

describe('usage', () => {
  test('rule 20: a use counts once under any repeat, and never beyond the ceiling', async () => {
    const one = await authorize();
    expect(await use(one, { usage_id: 'a', amount: '1', reason: 'GET /forecast' })).toMatchObject({
      used: '1',
      left: '499999',
    });
    const repeats = await Promise.all(
      Array.from({ length: 8 }, () => use(one, { usage_id: 'b', amount: '400000' })),
    );
    expect(new Set(repeats.map(({ used }) => used))).toEqual(new Set(['400001']));
    expect(await use(one, { usage_id: 'a', amount: '1' })).toMatchObject({ used: '1' });
    expect(await outcome(use(one, { usage_id: 'a', amount: '2' }))).toBe('conflict');
    expect(await outcome(use(one, { usage_id: 'c', amount: '100000' }))).toBe('usage_exceeds_authorization');
    expect(await refusal(use(one, { usage_id: 'c', amount: '100000' }))).toContain('99999 are left');
    expect(await use(one, { usage_id: 'c', amount: '99999' })).toMatchObject({ used: '500000', left: '0' });
    expect(await sumOfUses(one.id)).toBe('500000');
  });

  test('rule 20: the uses of a call are recorded together or not at all', async () => {
    const one = await authorize({ unit_price: '1000' });
    const usages = Array.from({ length: 100 }, (_, index) => ({ usage_id: `u${index}`, units: 4 }));
    expect(await use(one, { usages })).toMatchObject({ used: '400000' });
    expect(await use(one, { usages })).toMatchObject({ used: '400000' });
    const beyond = [
      { usage_id: 'v1', amount: '100000' },
      { usage_id: 'v2', amount: '1' },
    ];
    expect(await outcome(use(one, { usages: beyond }))).toBe('usage_exceeds_authorization');
    expect(await sumOfUses(one.id)).toBe('400000');
    const mixed = [
      { usage_id: 'u7', units: 4 },
      { usage_id: 'w', units: 1 },
    ];
    expect(await use(one, { usages: mixed })).toMatchObject({ used: '401000' });
    expect(
      await outcome(
        use(one, {
          usages: [
            { usage_id: 'u7', units: 5 },
            { usage_id: 'x', units: 1 },
          ],
        }),
      ),
    ).toBe('conflict');
    expect(await sumOfUses(one.id)).toBe('401000');
  });

  test('concurrent uses of one authorization never exceed the ceiling', async () => {
    const one = await authorize();
    const outcomes = await Promise.all(
      Array.from({ length: 60 }, (_, index) => outcome(use(one, { usage_id: `p${index}`, amount: '10000' }))),
    );
    expect(outcomes.filter((each) => each === 'ok')).toHaveLength(50);
    expect(await sumOfUses(one.id)).toBe('500000');
  });

  test.each<[string, object, string]>([
    ['no id', { amount: '1' }, 'validation_error'],
    ['neither amount nor units', { usage_id: 'a' }, 'validation_error'],
    ['both', { usage_id: 'a', amount: '1', units: 1 }, 'validation_error'],
    ['units without a price', { usage_id: 'a', units: 1 }, 'conflict'],
    [
      'an id twice',
      {
        usages: [
          { usage_id: 'a', amount: '1' },
          { usage_id: 'a', amount: '1' },
        ],
      },
      'validation_error',
    ],
    ['both forms', { usage_id: 'a', usages: [{ usage_id: 'b', amount: '1' }] }, 'validation_error'],
    ['a huge amount', { usage_id: 'a', amount: '9223372036854775807' }, 'usage_exceeds_authorization'],
  ])('refuses %s', async (_name, body, expected) => {
    expect(await outcome(use(await authorize(), body))).toBe(expected);
  });

  test('needs the token of this very settlement, and the key of its service', async () => {
    const [one, other] = [await authorize(), await authorize()];
    expect(await outcome(use({ id: one.id, token: other.token }, { usage_id: 'a', amount: '1' }))).toBe(
      'validation_error',
    );
    const stranger = {
      ...serviceKey,
      service_id: '0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17',
    } as typeof serviceKey;
    expect(await outcome(use(one, { usage_id: 'a', amount: '1' }, stranger))).toBe('not_found');
    expect(await sumOfUses(one.id)).toBe('0');
  });
});

describe('capture', () => {
  test('rule 21: what was used is paid by one job, and the rest is released in the same commit', async () => {
    const payer = consumer();
    const delegate = await delegateOf(payer, { daily: 10n * CEILING });
    const one = await authorize({}, delegate);
    await use(one, { usage_id: 'a', amount: '120000' });
    const answer = capture(one);
    await untilChainStatus(one.id, 'pending');
    expect(await held(payer)).toBe(120_000n);
    expect(await record(one.id)).toMatchObject({ status: 'capturing', amount: '120000', fee: '10000' });
    expect(await outcome(use(one, { usage_id: 'b', amount: '1' }))).toBe('authorization_closed');
    expect(await use(one, { usage_id: 'a', amount: '120000' })).toMatchObject({ used: '120000' });
    expect(await confirmed(one.id, answer)).toMatchObject({
      status: 'confirmed',
      captured_amount: '120000',
      fee_amount: '10000',
      net_amount: '110000',
    });
    expect(await held(payer)).toBe(0n);
    expect(await spendingOf(delegate)).toMatchObject({ usage: { daily: { spent: '120000', held: '0' } } });
    expect(await record(one.id)).toMatchObject({ status: 'redeemed', redeemed: true, holding: false });
    expect(await capture(one)).toMatchObject({ status: 'confirmed', captured_amount: '120000' });
    expect(await outcome(capture(one, { amount: '130000', settlement_token: one.token }))).toBe('conflict');
    expect(await outcome(voidIt(one))).toBe('conflict');
  });

  test('an amount beyond the use needs the token of the buyer, and the mode manual', async () => {
    const one = await authorize();
    expect(await outcome(capture(one, { amount: '200000' }))).toBe('validation_error');
    expect(await outcome(capture(one, { amount: '500001', settlement_token: one.token }))).toBe(
      'usage_exceeds_authorization',
    );
    const answer = capture(one, { amount: '200000', settlement_token: one.token });
    expect(await confirmed(one.id, answer)).toMatchObject({ captured_amount: '200000' });
    const metered = await authorize({ mode: 'usage' });
    expect(await outcome(capture(metered, { amount: '200000', settlement_token: metered.token }))).toBe(
      'validation_error',
    );
  });

  test('one that its fee takes is refused with the least amount', async () => {
    const one = await authorize();
    await use(one, { usage_id: 'a', amount: '10000' });
    expect(await refusal(capture(one))).toContain('the least amount that can be captured is 10001');
    expect(await record(one.id)).toMatchObject({ status: 'authorized' });
    await use(one, { usage_id: 'b', amount: '1' });
    expect(await confirmed(one.id, capture(one))).toMatchObject({
      captured_amount: '10001',
      net_amount: '1',
    });
  });

  test('many concurrent captures, uses and voids end it once', async () => {
    const one = await authorize();
    await use(one, { usage_id: 'a', amount: '50000' });
    const calls = [
      ...Array.from({ length: 5 }, () => outcome(capture(one))),
      ...Array.from({ length: 5 }, (_, index) =>
        outcome(use(one, { usage_id: `c${index}`, amount: '1000' })),
      ),
      outcome(voidIt(one, { discard_usage: true })),
    ];
    await until(
      () => record(one.id),
      ({ status }) => status !== 'authorized',
    );
    if ((await record(one.id)).status === 'capturing') await publishProgress(one.id, 'confirmed');
    await Promise.all(calls);
    const { status, amount, used } = await record(one.id);
    expect(await sumOfUses(one.id)).toBe(used);
    if (status !== 'voided') expect(amount).toBe(used);
  });

  test('a capture that fails on chain releases everything and says what was lost', async () => {
    const one = await authorize();
    await use(one, { usage_id: 'a', amount: '50000' });
    const answer = outcome(capture(one));
    await untilChainStatus(one.id, 'pending');
    await publishProgress(one.id, 'failed', { failure: { code: 'insufficient_funds', message: 'no' } });
    expect(await answer).toBe('insufficient_funds');
    expect(await held(one.payer)).toBe(0n);
    expect(await outcome(use(one, { usage_id: 'b', amount: '1' }))).toBe('authorization_closed');
    expect(await outcome(pay(one.payer, one.q, one.attempt))).toBe('insufficient_funds');
  });

  test('a fork pays the captured amount again, not the ceiling', async () => {
    const one = await authorize();
    await use(one, { usage_id: 'a', amount: '50000' });
    await confirmed(one.id, capture(one));
    await publishProgress(one.id, 'reopened');
    await until(
      () => held(one.payer),
      (amount) => amount === 50_000n,
    );
    await publishProgress(one.id, 'finalized', { generation: 2 });
    await untilChainStatus(one.id, 'finalized');
    expect(await held(one.payer)).toBe(0n);
    expect(await record(one.id)).toMatchObject({ status: 'redeemed', amount: '50000' });
  });
});

describe('the end by itself', () => {
  test('rule 22: a window that ends with nothing used is void, and holds nothing', async () => {
    const one = await authorize({ window_seconds: 60 });
    await endDue();
    expect(await record(one.id)).toMatchObject({ status: 'authorized' });
    await database.withClock('2 minutes', async () => {
      expect(await outcome(use(one, { usage_id: 'a', amount: '1' }))).toBe('authorization_closed');
      await endDue();
      expect(await record(one.id)).toMatchObject({ status: 'voided', chain_status: 'none', holding: false });
    });
    expect(await held(one.payer)).toBe(0n);
    expect(await outcome(pay(one.payer, one.q, one.attempt))).toBe('conflict');
  });

  test('rule 22: a window that ends captures what was used, and less than the fee is void', async () => {
    const [one, dust] = [await authorize({ window_seconds: 60 }), await authorize({ window_seconds: 60 })];
    await use(one, { usage_id: 'a', amount: '70000' });
    await use(dust, { usage_id: 'a', amount: '9000' });
    // Longer than the window: the service's clock may still have the shift of the last test.
    await database.withClock('10 minutes', endDue);
    expect(await record(one.id)).toMatchObject({ status: 'capturing', amount: '70000' });
    expect(await record(dust.id)).toMatchObject({ status: 'voided', used: '9000' });
    expect(await outcome(capture(dust))).toBe('authorization_closed');
  });

  test('rule 22: a threshold that is reached captures, and no use is recorded after it', async () => {
    const one = await authorize({ mode: 'usage', threshold: '100000' });
    await use(one, { usage_id: 'a', amount: '99999' });
    await endDue();
    expect(await record(one.id)).toMatchObject({ status: 'authorized' });
    await use(one, { usage_id: 'b', amount: '30000' });
    expect(await outcome(use(one, { usage_id: 'c', amount: '1' }))).toBe('authorization_closed');
    await endDue();
    expect(await record(one.id)).toMatchObject({ status: 'capturing', amount: '129999' });
  });
});

describe('void', () => {
  test('rule 22: releases everything, once, and its quote stays unpaid', async () => {
    const payer = consumer();
    const delegate = await delegateOf(payer, { daily: CEILING });
    const one = await authorize({}, delegate);
    const answer = await voidIt(one);
    expect(answer).toMatchObject({ status: 'voided', used: '0' });
    expect(await voidIt(one)).toEqual(answer);
    expect(await held(payer)).toBe(0n);
    expect(await spendingOf(delegate)).toMatchObject({ usage: { daily: { spent: '0', held: '0' } } });
    expect(await outcome(capture(one))).toBe('authorization_closed');
    expect(await outcome(use(one, { usage_id: 'a', amount: '1' }))).toBe('authorization_closed');
    await authorize({}, delegate);
  });

  test('is refused while use would be lost, unless the vendor gives it up', async () => {
    const one = await authorize();
    await use(one, { usage_id: 'a', amount: '20000' });
    expect(await outcome(voidIt(one))).toBe('conflict');
    expect(await voidIt(one, { discard_usage: true })).toMatchObject({ used: '20000' });
  });

  test('a settlement without a ceiling has nothing to void or capture', async () => {
    expect(await outcome(voidIt({ id: 'stl_01kaj5w0c0e8h9x2m4n6p8q0rs' }))).toBe('not_found');
    expect(await outcome(capture({ id: 'stl_01kaj5w0c0e8h9x2m4n6p8q0rs' }))).toBe('not_found');
    expect(ceilingQuote().quote_id).toMatch(/^q_/);
  });
});

describe('the risk of a vendor', () => {
  const ALL_LANES = new Set(Array.from({ length: 16 }, (_, lane) => lane));
  const observeAll = () => watchAuthorizations({ ...deps, ownedLanes: () => ALL_LANES })();

  test('rule 23: a wallet that no longer covers its ceilings closes them, and what was used is captured', async () => {
    const payer = consumer();
    const [one, unused] = [await authorize({}, payer), await authorize({}, payer)];
    await use(one, { usage_id: 'a', amount: '60000' });
    await observeAll();
    expect(await record(one.id)).toMatchObject({ status: 'authorized' });
    snapshots.set(payer.owner, { balance: 2n * CEILING - 1n, allowance: 10n ** 9n, slot: 200 });
    await observeAll();
    expect(await record(one.id)).toMatchObject({ status: 'capturing', amount: '60000' });
    expect(await record(unused.id)).toMatchObject({ status: 'voided' });
    expect(await outcome(use(one, { usage_id: 'b', amount: '1' }))).toBe('authorization_closed');
    expect(await callAs(serviceKey, 'verify', { settlement_id: one.id })).toMatchObject({
      authorization: { at_risk_at: expect.any(String), left: '0' },
    });
  });

  test('rule 23: an observation that is older than what is known closes nothing', async () => {
    const payer = consumer();
    const one = await authorize({}, payer);
    snapshots.set(payer.owner, { balance: 0n, allowance: 0n, slot: 99 });
    await observeAll();
    expect(await record(one.id)).toMatchObject({ status: 'authorized' });
  });

  test('a payer without a final payment authorizes up to its cap, also with concurrent calls', async () => {
    const payer = consumer();
    const calls = Array.from({ length: 30 }, () => outcome(authorize({}, payer)));
    const outcomes = await Promise.all(calls);
    expect(outcomes.filter((each) => each === 'ok')).toHaveLength(10);
    expect(await refusal(authorize({}, payer))).toContain('at most 5000000 micro-units');
    const { settlementId } = await paid(payer);
    await publishProgress(settlementId, 'finalized');
    await untilChainStatus(settlementId, 'finalized');
    expect(await outcome(authorize({}, payer))).toBe('ok');
    expect(await outcome(authorize({}, payer, 50_000_001n))).toBe('conflict');
  });
});
