import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { z } from 'zod';
import { ServiceError } from '../../../shared/contract/errors.ts';
import type { Principal } from '../../../shared/contract/principal.ts';
import type { Approval } from '../../../shared/contract/settlement.ts';
import { newId } from '../../../shared/lib/id.ts';
import {
  admin,
  approvalEvents,
  base,
  callAs,
  type DelegateKey,
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
  underWay,
  until,
} from '../../../test/support/fixtures/settlement/settlement.ts';
import { consumer } from '../../../test/support/fixtures/settlement/settlement-peers.ts';
import { PAYOUT, vendor } from '../../../test/support/fixtures/settlement/settlement-quotes.ts';
import { atOnce, tally } from '../../../test/support/servers/stack.ts';
import { upsertDelegate } from '../delegates/upsert-delegate.ts';
import { recordApproval } from './record-approval.ts';
import { requestApproval } from './request-approval.ts';

beforeAll(startFixture);
afterAll(stopFixture);

type Shown = z.infer<typeof Approval>;
const USDC = 1_000_000n;
const owner = ({ account_id }: { account_id: string }): Principal => ({
  kind: 'jwt',
  account_id,
  session_id: newId('ses'),
  auth_time: 0,
});

/** A delegate that needs an approval above 1 USDC. */
const askingDelegate = (caps: Parameters<typeof delegateOf>[1] = {}, payer = consumer()) =>
  delegateOf(payer, caps, null, { approval_above: `${USDC}` });

/** The code of a refusal and its extras. */
const refusal = async (work: Promise<unknown>): Promise<Record<string, unknown>> => {
  try {
    return { code: `none: ${JSON.stringify(await work)}` };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return { code: error.code, ...error.extras };
  }
};
const required = (approval_id: unknown = expect.stringMatching(/^apr_/)) => ({
  code: 'approval_required',
  money_moved: 'no',
  safe_action: 'await_approval',
  approval_id,
});

/** Asks for the approval of a payment. */
const ask = async (delegate: DelegateKey, q = quote(2n * USDC), attempt: string = newId('evt')) => {
  const asked = await refusal(pay(delegate, q, attempt));
  expect(asked).toEqual(required());
  return { approval_id: asked.approval_id as string, q, attempt };
};
const get = (caller: Principal, approval_id: string) => callAs<Shown>(caller, 'getApproval', { approval_id });
const list = async (caller: Principal, query: object = {}) =>
  (await callAs<{ data: Shown[] }>(caller, 'listApprovals', query)).data;
const deny = (caller: { account_id: string }, approval_id: string) =>
  callAs<Shown>(owner(caller), 'denyApproval', { approval_id });
/** What identity records after it has checked a passkey. */
const approve = ({ account_id }: { account_id: string }, approval_id: string) =>
  recordApproval(deps)({ account_id, approval_id, passkey_id: 'pk_1' });
/** Pays an approved attempt until it is confirmed. */
const payApproved = async (delegate: DelegateKey, { q, attempt }: Awaited<ReturnType<typeof ask>>) => {
  const { settlementId, answer } = await underWay(delegate, q, attempt);
  await publishProgress(settlementId, 'confirmed');
  await answer;
  return settlementId;
};
/** Moves the end of an approval into the past, as time does. */
const expire = (approval_id: string) =>
  admin.query("update approvals set expires_at = app_now() - interval '1 second' where approval_id = $1", [
    approval_id,
  ]);
const countRows = async (delegate: DelegateKey) => {
  const { rows } = await admin.query('select count(*)::int as n from approvals where delegate_id = $1', [
    delegate.delegate_id,
  ]);
  return rows[0].n as number;
};

describe('a payment above the amount', () => {
  test('waits for the owner, holds nothing, and goes through with the same attempt after the approval', async () => {
    const delegate = await askingDelegate();
    const asked = await ask(delegate);
    expect(await get(delegate, asked.approval_id)).toEqual({
      approval_id: asked.approval_id,
      status: 'awaiting_approval',
      delegate_id: delegate.delegate_id,
      payment_attempt_id: asked.attempt,
      rail: 'quittance',
      amount: '2000000',
      payees: [{ address: PAYOUT, amount: '2000000' }],
      service_id: vendor.service_id,
      service_name: 'Weather',
      quote_id: asked.q.quote_id,
      resource: null,
      created_at: expect.any(String),
      expires_at: expect.any(String),
      decided_at: null,
      settlement_id: null,
    });
    expect(await held(delegate)).toBe(0n);
    expect((await spendingOf(delegate)).usage.total).toMatchObject({ held: '0', spent: '0' });
    expect(await refusal(pay(delegate, asked.q, asked.attempt))).toEqual(required(asked.approval_id));

    expect((await approve(delegate, asked.approval_id)).status).toBe('approved');
    expect(await held(delegate)).toBe(0n);
    const settlement_id = await payApproved(delegate, asked);
    expect(await get(delegate, asked.approval_id)).toMatchObject({ status: 'approved', settlement_id });
    // Used once: its attempt is the settlement from now on, also after the approval's end.
    await expire(asked.approval_id);
    expect(await pay(delegate, asked.q, asked.attempt)).toMatchObject({ status: 'confirmed', settlement_id });
    expect((await get(delegate, asked.approval_id)).status).toBe('approved');
    await until(
      async () => approvalEvents.filter(({ approval_id }) => approval_id === asked.approval_id),
      (events) => events.length === 2,
    );
    expect(
      approvalEvents
        .filter(({ approval_id }) => approval_id === asked.approval_id)
        .map(({ event, status }) => `${event} ${status}`),
    ).toEqual(['approvalRequested awaiting_approval', 'approvalDecided approved']);
  });

  test('64 calls of one attempt request one approval, and publish it once', async () => {
    const delegate = await askingDelegate();
    const q = quote(2n * USDC);
    const answers = await atOnce(64, () => refusal(pay(delegate, q, 'one')));
    expect(tally(answers.map(({ code }) => code as string))).toEqual({ approval_required: 64 });
    expect(new Set(answers.map((answer) => answer.approval_id)).size).toBe(1);
    expect(await countRows(delegate)).toBe(1);
    const { approval_id } = answers[0]!;
    await until(
      async () => approvalEvents.filter((each) => each.approval_id === approval_id).length,
      (n) => n === 1,
    );
  });

  test('the amount itself needs none, nor does a sign-in, nor a delegate without the setting', async () => {
    const payer = consumer();
    const delegate = await askingDelegate({}, payer);
    await underWay(delegate, quote(USDC));
    await underWay(await delegateOf(payer), quote(5n * USDC));
    await underWay(payer, quote(5n * USDC));
    expect(await list(owner(payer))).toEqual([]);
  });

  test('limits and balance are evaluated first, and again when the payment is made', async () => {
    const short = await askingDelegate({}, consumer(USDC));
    expect(await outcome(pay(short, quote(2n * USDC)))).toBe('insufficient_funds');
    const delegate = await askingDelegate({ total: 3n * USDC });
    expect(await outcome(pay(delegate, quote(4n * USDC)))).toBe('limit_exceeded');
    expect(await countRows(short)).toBe(0);
    const asked = await ask(delegate);
    await approve(delegate, asked.approval_id);
    const { version, usage: _usage, ...rights } = await spendingOf(delegate);
    await upsertDelegate(deps)({
      ...{ ...rights, account_id: delegate.account_id, expected_version: version },
      limits: { ...rights.limits, total: '1000000' },
    });
    expect(await refusal(pay(delegate, asked.q, asked.attempt))).toMatchObject({
      code: 'limit_exceeded',
      safe_action: 'raise_limit',
    });
    expect((await get(delegate, asked.approval_id)).settlement_id).toBeNull();
  });

  test('a delegate has at most 10 payments that wait', async () => {
    const delegate = await askingDelegate();
    const codes = await atOnce(14, () => outcome(pay(delegate, quote(2n * USDC))));
    expect(tally(codes)).toEqual({ approval_required: 10, limit_exceeded: 4 });
    const [first] = await list(delegate);
    await deny(delegate, first!.approval_id);
    expect(await outcome(pay(delegate, quote(2n * USDC)))).toBe('approval_required');
  });
});

describe('an approval is for one payment of one delegate', () => {
  test('another quote, amount or payee with the attempt of an approval is a conflict', async () => {
    const delegate = await askingDelegate();
    const asked = await ask(delegate);
    await approve(delegate, asked.approval_id);
    expect(await outcome(pay(delegate, quote(2n * USDC), asked.attempt))).toBe('conflict');
    expect(await outcome(pay(delegate, quote(9n * USDC), asked.attempt))).toBe('conflict');
    const request = {
      accountId: delegate.account_id,
      delegateId: delegate.delegate_id,
      paymentAttemptId: newId('evt'),
      rail: 'x402_out',
      quoteId: null,
      amountMicro: 2n * USDC,
      payees: [{ address: PAYOUT, amount: '2000000' }],
      serviceId: null,
      serviceName: 'api.example.com',
      resource: 'https://api.example.com/a',
      expiresAt: new Date(base.clock.now() + 600_000).toISOString(),
    } as const;
    const again = (change: object) => outcome(requestApproval(deps, { ...request, ...change }));
    expect(await again({})).toBe('approval_required');
    expect(await again({})).toBe('approval_required');
    for (const change of [
      { amountMicro: 3n * USDC },
      { payees: [{ address: delegate.account_id, amount: '2000000' }] },
      { payees: [{ address: PAYOUT, amount: '1' }] },
      { resource: 'https://api.example.com/b' },
      { rail: 'quittance', quoteId: asked.q.quote_id, serviceId: vendor.service_id },
      { delegateId: newId('del') },
    ]) {
      expect(await again(change)).toBe('conflict');
    }
  });

  test('an approved row of other terms does not admit the payment', async () => {
    for (const change of [
      'amount = amount + 1',
      `payees = jsonb_set(payees, '{0,address}', '"Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u"')`,
      `payees = jsonb_set(payees, '{0,amount}', '"1999999"')`,
      `payees = payees || '[{"address": "Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u", "amount": "1"}]'`,
      "quote_id = 'q_00000000000000000000000000'",
      "delegate_id = 'del_00000000000000000000000000'",
      "payment_attempt_id = payment_attempt_id || 'x'",
      "account_id = 'acct_00000000000000000000000000'",
      'expires_at = app_now()',
      'approved = false',
      'approved = null, decided_at = null',
    ]) {
      const delegate = await askingDelegate();
      const asked = await ask(delegate);
      await approve(delegate, asked.approval_id);
      await admin.query(`update approvals set ${change} where approval_id = $1`, [asked.approval_id]);
      expect(await outcome(pay(delegate, asked.q, asked.attempt))).not.toBe('ok');
      expect(await held(delegate)).toBe(0n);
    }
  });

  test('another delegate of the account cannot use it and does not see it', async () => {
    const payer = consumer();
    const delegate = await askingDelegate({}, payer);
    const other = await askingDelegate({}, payer);
    const asked = await ask(delegate);
    await approve(delegate, asked.approval_id);
    expect(await outcome(pay(other, asked.q, asked.attempt))).toBe('conflict');
    expect(await outcome(get(other, asked.approval_id))).toBe('not_found');
    expect(await list(other)).toEqual([]);
    expect(await outcome(get(owner(consumer()), asked.approval_id))).toBe('not_found');
    expect((await list(owner(payer))).map(({ approval_id }) => approval_id)).toEqual([asked.approval_id]);
    expect(await outcome(deny(consumer(), asked.approval_id))).toBe('not_found');
    expect(await outcome(approve(consumer(), asked.approval_id))).toBe('not_found');
  });
});

describe('decisions', () => {
  test('a denied payment stays denied, also after its quote has expired', async () => {
    const delegate = await askingDelegate();
    const asked = await ask(delegate);
    expect((await deny(delegate, asked.approval_id)).status).toBe('denied');
    const denied = {
      code: 'approval_denied',
      money_moved: 'no',
      safe_action: 'stop',
      approval_id: asked.approval_id,
    };
    expect(await refusal(pay(delegate, asked.q, asked.attempt))).toEqual(denied);
    expect(await outcome(approve(delegate, asked.approval_id))).toBe('conflict');
    expect((await deny(delegate, asked.approval_id)).status).toBe('denied');
    await database.shiftClock('11 minutes');
    expect(await refusal(pay(delegate, asked.q, asked.attempt))).toEqual(denied);
    await database.shiftClock('0 seconds');
  });

  test('an approval lapses with its quote, whether it was given or not', async () => {
    const delegate = await askingDelegate();
    const [open, approved] = [await ask(delegate), await ask(delegate)];
    await approve(delegate, approved.approval_id);
    await database.shiftClock('11 minutes');
    for (const { approval_id, q, attempt } of [open, approved]) {
      expect(await refusal(pay(delegate, q, attempt))).toEqual({
        code: 'approval_expired',
        money_moved: 'no',
        safe_action: 'new_quote',
        approval_id,
      });
      expect((await get(delegate, approval_id)).status).toBe('expired');
    }
    expect(await outcome(approve(delegate, open.approval_id))).toBe('conflict');
    expect(await outcome(pay(delegate, open.q))).toBe('quote_expired');
    expect((await list(delegate, { status: 'expired' })).length).toBe(2);
    expect(await list(delegate, { status: 'awaiting_approval' })).toEqual([]);
    await database.shiftClock('0 seconds');
  });

  test('a denial after the approval and before the payment wins; one after the payment is refused', async () => {
    const delegate = await askingDelegate();
    const asked = await ask(delegate);
    await approve(delegate, asked.approval_id);
    await deny(delegate, asked.approval_id);
    expect(await outcome(pay(delegate, asked.q, asked.attempt))).toBe('approval_denied');
    const used = await ask(delegate);
    await approve(delegate, used.approval_id);
    const settlement_id = await payApproved(delegate, used);
    expect(await refusal(deny(delegate, used.approval_id))).toEqual({ code: 'conflict', settlement_id });
    expect((await approve(delegate, used.approval_id)).settlement_id).toBe(settlement_id);
  });

  test('of a denial and a payment at the same time, exactly one happens', async () => {
    const outcomes = new Set<string>();
    const delegate = await askingDelegate({}, consumer(1000n * USDC));
    for (let round = 0; round < 30; round += 1) {
      const asked = await ask(delegate);
      await approve(delegate, asked.approval_id);
      let refused = '';
      const paying = outcome(pay(delegate, asked.q, asked.attempt)).then((code) => {
        if (code !== 'ok') refused = code;
      });
      const denied = await outcome(deny(delegate, asked.approval_id));
      const { rows } = await until(
        () => admin.query('select settlement_id from settlements where quote_id = $1', [asked.q.quote_id]),
        ({ rowCount }) => rowCount! > 0 || refused !== '',
      );
      const isPaid = rows.length > 0;
      expect({ denied, isPaid }).toEqual({ denied: isPaid ? 'conflict' : 'ok', isPaid });
      outcomes.add(isPaid ? 'paid' : 'denied');
      if (isPaid) await publishProgress(rows[0].settlement_id, 'confirmed');
      await paying;
    }
    expect([...outcomes]).toEqual(expect.arrayContaining(['denied']));
  });

  test('a payment that waits for a denial to commit is refused', async () => {
    const delegate = await askingDelegate();
    const asked = await ask(delegate);
    await approve(delegate, asked.approval_id);
    const client = await admin.connect();
    await client.query('begin');
    await client.query(
      'update approvals set approved = false, decided_at = app_now() where approval_id = $1',
      [asked.approval_id],
    );
    const paying = outcome(pay(delegate, asked.q, asked.attempt));
    await until(
      () => admin.query('select from pg_locks where not granted'),
      ({ rowCount }) => rowCount! > 0,
    );
    await client.query('commit');
    client.release();
    expect(await paying).toBe('approval_denied');
  });

  test('of 16 approvals and 16 denials at the same time the last state is denied, and each decision is published once', async () => {
    const delegate = await askingDelegate();
    const asked = await ask(delegate);
    const codes = await atOnce(32, (i) =>
      outcome(i % 2 === 0 ? approve(delegate, asked.approval_id) : deny(delegate, asked.approval_id)),
    );
    expect(codes.filter((_, i) => i % 2 === 1)).toEqual(Array.from({ length: 16 }, () => 'ok'));
    expect((await get(delegate, asked.approval_id)).status).toBe('denied');
    const decided = await until(
      async () =>
        approvalEvents.filter(
          ({ approval_id, event }) => approval_id === asked.approval_id && event === 'approvalDecided',
        ),
      (events) => events.at(-1)?.status === 'denied',
    );
    expect(decided.map(({ status }) => status)).toEqual(
      decided.length === 1 ? ['denied'] : ['approved', 'denied'],
    );
  });

  test('when the owner removes the setting, the payment is made, and nothing is left to decide', async () => {
    const delegate = await askingDelegate();
    const asked = await ask(delegate);
    await admin.query('update delegates set approval_above = null where delegate_id = $1', [
      delegate.delegate_id,
    ]);
    const settlement_id = await payApproved(delegate, asked);
    expect(await get(delegate, asked.approval_id)).toMatchObject({ status: 'expired', settlement_id });
    expect(await outcome(approve(delegate, asked.approval_id))).toBe('conflict');
    expect(await outcome(deny(delegate, asked.approval_id))).toBe('conflict');
  });
});
