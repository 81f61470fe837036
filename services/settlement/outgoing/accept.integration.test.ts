import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { type Db, sql } from '../../../shared/db/pool.ts';
import { newId } from '../../../shared/lib/id.ts';
import {
  ANY_PAYEE,
  payOut,
  refusal,
  USDC,
} from '../../../test/support/fixtures/settlement/outgoing-calls.ts';
import {
  admin,
  capLimits,
  database,
  delegateOf,
  deps,
  held,
  outcome,
  pay,
  publishProgress,
  quote,
  spendingOf,
  startFixture,
  stopFixture,
  untilChainStatus,
} from '../../../test/support/fixtures/settlement/settlement.ts';
import {
  newPayee,
  requirementOf,
  signer,
} from '../../../test/support/fixtures/settlement/settlement-outgoing.ts';
import {
  chainCondition,
  consumer,
  frozen,
  snapshots,
} from '../../../test/support/fixtures/settlement/settlement-peers.ts';
import { upsertDelegate } from '../delegates/upsert-delegate.ts';
import { setPaymentsPaused } from '../operator/set-payments-paused.ts';
import { acceptOutgoing } from '../record/store/outgoing/accept-outgoing.ts';

beforeAll(startFixture);
afterAll(stopFixture);

const fail = async (settlement_id: string) => {
  await publishProgress(settlement_id, 'failed', {
    tx_hash: null,
    slot: null,
    failure: { code: 'payment_failed', message: 'it can no longer be included' },
  });
  await untilChainStatus(settlement_id, 'failed');
};

describe('a delegate', () => {
  test.each([
    ['without the right', { external: null }, 'its owner can allow other vendors'],
    [
      'that may not pay the address',
      { external: { pay_to: [newPayee('x')], origins: null } },
      'this address',
    ],
    [
      'that may not pay for the origin',
      { external: { pay_to: 'any' as const, origins: ['http://api.example.com'] } },
      'this origin',
    ],
  ])('%s is refused, and can be allowed', async (_name, rights, message) => {
    const payer = consumer();
    const delegate = await delegateOf(payer, {}, null, rights);
    const call = { attempt: newId('evt'), payTo: newPayee('allowed') };
    const refused = await refusal(payOut(delegate, call));
    expect(refused).toMatchObject({ code: 'forbidden', money_moved: 'no', safe_action: 'stop' });
    expect(refused.message).toContain(message);
    expect(await held(payer)).toBe(0n);
    const { limits, allowed_service_ids, approval_above, paused, version } = await spendingOf(delegate);
    await upsertDelegate(deps)({
      ...{ ...delegate, limits, allowed_service_ids, approval_above, paused, expected_version: version },
      external: { pay_to: [call.payTo], origins: ['https://api.example.com'] },
    });
    expect((await payOut(delegate, call)).status).toBe('pending');
  });

  test('whose limits are not known here, that may pay certain services only, or that is paused, is refused', async () => {
    const payer = consumer();
    const { kind, account_id, wallet_id, key_id } = await delegateOf(payer);
    const unknown = { kind, account_id, wallet_id, key_id, delegate_id: newId('del') };
    expect(await outcome(payOut(unknown))).toBe('forbidden');
    const restricted = await delegateOf(payer, {}, ['6b0f7c52-0d0f-4a5e-9f0b-0a1b2c3d4e5f']);
    expect((await refusal(payOut(restricted))).code).toBe('forbidden');
    const paused = await delegateOf(payer, {}, null, { ...ANY_PAYEE, paused: true });
    expect(await refusal(payOut(paused))).toMatchObject({
      code: 'forbidden',
      message: 'the owner of this delegate has paused it',
    });
  });

  test.each(['per_payment', 'daily', 'monthly', 'total'] as const)('keeps its limit %s', async (name) => {
    const payer = consumer();
    const delegate = await delegateOf(payer, { [name]: 2n * USDC }, null, ANY_PAYEE);
    const refused = await refusal(payOut(delegate, { amount: 2n * USDC + 1n }));
    expect(refused).toMatchObject({
      ...{ code: 'limit_exceeded', money_moved: 'no', safe_action: 'raise_limit' },
      limit: { name, asked: '2000001', limit: '2000000', left: '2000000' },
    });
    expect(refused.message).toContain(`${name}:`);
    expect((await payOut(delegate, { amount: 2n * USDC })).status).toBe('pending');
  });

  test('needs its owner’s approval above an amount, ranked after its limits and its balance', async () => {
    const payer = consumer(3n * USDC);
    const rights = { ...ANY_PAYEE, approval_above: `${USDC}` };
    const delegate = await delegateOf(payer, { total: 3n * USDC }, null, rights);
    const call = { attempt: newId('evt'), payTo: newPayee('approved'), amount: 2n * USDC };
    expect((await payOut(delegate, { amount: USDC })).status).toBe('pending');
    expect((await refusal(payOut(delegate, { ...call, amount: 3n * USDC }))).code).toBe('limit_exceeded');
    const refused = await refusal(payOut(delegate, call));
    expect(refused).toMatchObject({
      code: 'approval_required',
      money_moved: 'no',
      safe_action: 'await_approval',
    });
    expect(await refusal(payOut(delegate, call))).toEqual(refused);
    expect(await held(payer)).toBe(USDC);
    await admin.query(
      "update approvals set approved = true, decided_at = public.app_now(), passkey_id = 'p' where payment_attempt_id = $1",
      [call.attempt],
    );
    // Another amount, payee or resource needs an approval of its own.
    expect(await outcome(payOut(delegate, { ...call, resource: 'https://api.example.com/other' }))).toBe(
      'conflict',
    );
    expect((await payOut(delegate, call)).status).toBe('pending');
    expect(await held(payer)).toBe(3n * USDC);
  });
});

describe('open payments', () => {
  test('a delegate has 5 at most, an address 2 of an account; a payment that ends makes room', async () => {
    const payer = consumer();
    const delegate = await delegateOf(payer, {}, null, ANY_PAYEE);
    const payTo = newPayee('two');
    const calls = Array.from({ length: 12 }, () => outcome(payOut(delegate, { payTo })));
    expect((await Promise.all(calls)).filter((code) => code === 'ok')).toHaveLength(2);
    const more = await Promise.all(Array.from({ length: 12 }, () => outcome(payOut(delegate))));
    expect(more.filter((code) => code === 'ok')).toHaveLength(3);
    expect(await refusal(payOut(delegate))).toMatchObject({
      code: 'limit_exceeded',
      safe_action: 'retry_same_attempt',
      retryAfterSeconds: 15,
      money_moved: 'no',
    });
    expect(await held(payer)).toBe(5n * USDC);
    // The account itself has 5 of its own, but the address has 2 of the account.
    expect(await outcome(payOut(payer, { payTo }))).toBe('limit_exceeded');
    const own = await payOut(payer);
    const { rows } = await admin.query('select settlement_id from outgoing_payees where address = $1', [
      payTo,
    ]);
    await publishProgress(rows[0].settlement_id, 'confirmed');
    await untilChainStatus(rows[0].settlement_id, 'confirmed');
    expect((await payOut(delegate, { payTo })).status).toBe('pending');
    await fail(own.settlement_id);
  });

  test('an address that let three payments in a row expire is paused for an hour', async () => {
    const payer = consumer();
    const delegate = await delegateOf(payer, {}, null, ANY_PAYEE);
    const payTo = newPayee('never sends');
    for (let i = 0; i < 3; i += 1) await fail((await payOut(delegate, { payTo })).settlement_id);
    const attempt = newId('evt');
    const paused = await refusal(payOut(delegate, { payTo, attempt }));
    expect(paused).toMatchObject({
      code: 'limit_exceeded',
      safe_action: 'retry_same_attempt',
      money_moved: 'no',
    });
    expect(paused.retryAfterSeconds).toBeGreaterThan(3500);
    expect(paused.retryAfterSeconds).toBeLessThanOrEqual(3600);
    // Another address, and another account, are not affected.
    expect((await payOut(delegate)).status).toBe('pending');
    expect((await payOut(consumer(), { payTo })).status).toBe('pending');
    await database.shiftClock('61 minutes');
    try {
      await publishProgress((await payOut(delegate, { payTo, attempt })).settlement_id, 'confirmed');
    } finally {
      await database.shiftClock('0');
    }
  });

  test('a payment that was used ends the row of those that were not, and a refusal does not count', async () => {
    const payer = consumer();
    const payTo = newPayee('sometimes sends');
    for (let i = 0; i < 2; i += 1) await fail((await payOut(payer, { payTo })).settlement_id);
    const used = await payOut(payer, { payTo });
    await publishProgress(used.settlement_id, 'confirmed');
    await untilChainStatus(used.settlement_id, 'confirmed');
    await fail((await payOut(payer, { payTo })).settlement_id);
    signer.refusals.set(payTo, 'signing_paused');
    for (let i = 0; i < 3; i += 1) expect(await outcome(payOut(payer, { payTo }))).toBe('payment_failed');
    signer.refusals.delete(payTo);
    expect((await payOut(payer, { payTo })).status).toBe('pending');
  });
});

describe('admission', () => {
  test('a wallet without balance or allowance, and one that would pay itself', async () => {
    expect(await refusal(payOut(consumer(USDC - 1n)))).toMatchObject({
      code: 'insufficient_funds',
      money_moved: 'no',
      safe_action: 'top_up',
    });
    const payer = consumer(USDC, USDC - 1n);
    expect(await refusal(payOut(payer))).toMatchObject({
      code: 'delegation_inactive',
      safe_action: 'raise_limit',
    });
    snapshots.set(payer.owner, { balance: USDC, allowance: USDC, slot: 150 });
    expect((await payOut(payer)).status).toBe('pending');
    const own = consumer();
    const requirement = { ...requirementOf(newPayee('self')), payTo: own.owner };
    expect((await refusal(payOut(own, { requirement }))).code).toBe('validation_error');
  });

  test('a frozen account, a pause and an unreadable chain refuse new payments and answer repeats', async () => {
    const payer = consumer();
    const call = { attempt: newId('evt'), payTo: newPayee('before the pause') };
    const paid = await payOut(payer, call);
    const frozenPayer = { ...payer, frozen: true as const };
    expect((await refusal(payOut(frozenPayer))).code).toBe('forbidden');
    expect(await payOut(frozenPayer, call)).toEqual(paid);

    chainCondition.readable = false;
    expect(await refusal(payOut(payer))).toMatchObject({ code: 'service_unavailable', money_moved: 'no' });
    expect(await payOut(payer, call)).toEqual(paid);
    chainCondition.readable = true;

    const operator = { actor: 'anna', reason: 'test' };
    await setPaymentsPaused(deps)({ paused: true, ...operator });
    expect(await refusal(payOut(payer))).toMatchObject({ code: 'service_unavailable', money_moved: 'no' });
    expect(await payOut(payer, call)).toEqual(paid);
    await setPaymentsPaused(deps)({ paused: false, ...operator });
    expect(frozen.size).toBe(0);
  });

  test('the hourly caps count outgoing payments, and come last', async () => {
    const payer = consumer();
    capLimits.ofWallet.set(payer.owner, 2n * USDC);
    const call = { attempt: newId('evt'), amount: 2n * USDC, payTo: newPayee('within the cap') };
    const paid = await payOut(payer, call);
    expect(await refusal(payOut(payer))).toMatchObject({
      code: 'service_unavailable',
      safe_action: 'retry_same_attempt',
    });
    expect(await outcome(payOut(payer, { amount: 200n * USDC }))).toBe('insufficient_funds');
    expect(await payOut(payer, call)).toEqual(paid);
  });

  test('what a vendor lets expire returns to the hourly caps', async () => {
    const payer = consumer();
    capLimits.ofWallet.set(payer.owner, 2n * USDC);
    const expired = await payOut(payer, { amount: 2n * USDC, payTo: newPayee('never sends') });
    expect((await refusal(payOut(payer))).code).toBe('service_unavailable');
    await fail(expired.settlement_id);
    await fail(expired.settlement_id);
    expect((await payOut(payer, { amount: 2n * USDC })).status).toBe('pending');
    expect((await refusal(payOut(payer))).code).toBe('service_unavailable');
  });
});

test('64 mixed payments at a nearly used limit never hold or spend more than the limit and the balance', async () => {
  const payer = consumer(40n * USDC);
  const limit = 30n * USDC;
  const delegate = await delegateOf(payer, { total: limit }, null, ANY_PAYEE);
  const results = await Promise.all(
    Array.from({ length: 64 }, (_, i) =>
      i % 2 === 0
        ? outcome(payOut(delegate, { amount: 7n * USDC }))
        : outcome(pay(delegate, quote(3n * USDC))),
    ),
  );
  const total = async () => {
    const { usage } = await spendingOf(delegate);
    return BigInt(usage.total.held) + BigInt(usage.total.spent);
  };
  expect(await total()).toBeLessThanOrEqual(limit);
  expect(await total()).toBe(await held(payer));
  expect(new Set(results)).toEqual(new Set(['ok', 'limit_exceeded']));
  const { rows } = await admin.query(
    'select settlement_id, quote_amount::text as amount from settlements where delegate_id = $1',
    [delegate.delegate_id],
  );
  expect(rows.reduce((sum, { amount }) => sum + BigInt(amount), 0n)).toBe(await total());
  // What is left is less than the smallest payment.
  expect(limit - (await total())).toBeLessThan(3n * USDC);
  await Promise.all(rows.map(({ settlement_id }) => fail(settlement_id)));
  expect([await total(), await held(payer)]).toEqual([0n, 0n]);
});

test('the counts of open and of unused payments use their own indexes, however many there were', async () => {
  const payer = consumer();
  const { settlement_id } = await payOut(payer);
  await admin.query(
    `insert into settlements (settlement_id, rail, account_id, payment_attempt_id, wallet_id, quote_amount, fee_amount,
       holding, status, chain_status, under_way_since, failure_code)
     select 'past_' || i, rail, account_id, 'past_' || i, wallet_id, quote_amount, 0, false, 'failed', 'failed',
       null, 'payment_failed'
     from settlements cross join generate_series(1, 5000) as i where settlement_id = $1`,
    [settlement_id],
  );
  await admin.query(
    `insert into outgoing_payments (settlement_id, account_id, payer_address, service_name, resource, requirement,
       x402_version, capped_at, message_hash, source_account)
     select 'past_' || i, account_id, payer_address, service_name, resource, requirement, x402_version, capped_at,
       message_hash, source_account
     from outgoing_payments cross join generate_series(1, 5000) as i where settlement_id = $1`,
    [settlement_id],
  );
  await admin.query(
    `insert into outgoing_payees (settlement_id, ord, account_id, address, amount)
     select 'past_' || i, 1, account_id, address, amount
     from outgoing_payees cross join generate_series(1, 5000) as i where settlement_id = $1`,
    [settlement_id],
  );
  await admin.query('analyze settlements, outgoing_payments, outgoing_payees');
  const attempt = {
    settlementId: newId('stl'),
    accountId: payer.account_id,
    paymentAttemptId: 'a',
    delegateId: newId('del'),
    walletId: newId('wal'),
    authority: newPayee('authority'),
    amountMicro: USDC,
    rail: 'x402_out' as const,
    payees: [{ address: newPayee('explained'), amount: `${USDC}` }],
    ...{
      host: 'a',
      origin: 'https://a',
      resource: 'https://a',
      requirement: '{}',
      cappedAt: 0,
      isFresh: false,
      version: 2 as const,
    },
  };
  let plan = '';
  await deps.pool.transaction(async (tx) => {
    const one = async (query: Parameters<Db['one']>[0]) => {
      const Line = z.object({ 'QUERY PLAN': z.string() });
      plan = (await tx.anyFirst(sql.type(Line)`explain ${query}`)).join('\n');
      return { decision: 'conflict', paused_seconds: null };
    };
    const query = (text: Parameters<Db['query']>[0]) => tx.query(text);
    const explaining = { transaction: (work: (db: Db) => unknown) => work({ query, one } as unknown as Db) };
    await acceptOutgoing(explaining as unknown as typeof deps.pool, attempt, { isOverCap: false });
  });
  for (const index of ['settlement_keys_pkey', 'outgoing_payments_open', 'outgoing_payees_by_address'])
    expect(plan).toContain(index);
  expect(plan).not.toMatch(/Seq Scan on (settlements|outgoing_payments|outgoing_payees|approvals)/);
});
