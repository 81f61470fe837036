import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { call } from '../../../shared/bus/call.ts';
import type { ServiceError } from '../../../shared/contract/errors.ts';
import { settlement } from '../../../shared/contract/index.ts';
import type { Decision } from '../../../shared/contract/operator.ts';
import { authorize, voidIt } from '../../../test/support/fixtures/settlement/authorizations.ts';
import {
  admin,
  base,
  callAs,
  held,
  operator,
  outcome,
  paid,
  pay,
  publishProgress,
  quote,
  row,
  serviceKey,
  startFixture,
  stopFixture,
  underWay,
  until,
} from '../../../test/support/fixtures/settlement/settlement.ts';
import {
  attemptReport,
  consumer,
  frozen,
} from '../../../test/support/fixtures/settlement/settlement-peers.ts';
import { vendor } from '../../../test/support/fixtures/settlement/settlement-quotes.ts';
import { collectIntake } from './gauges.ts';

/** Tests the operators' changes, and the parts of a settle that they must not affect. */
beforeAll(startFixture);
afterAll(stopFixture);
afterEach(() => frozen.clear());

const signed = { reason: 'ticket 1042' };
/** How the record names the change: with the name of the operator's connection. */
const by = { actor: 'jane', ...signed };
const setPaused = (paused: boolean) => call(operator, settlement, 'setPaymentsPaused', { paused, ...signed });
const actions = () => call(operator, settlement, 'listOperatorActions', { limit: 200 });
const refusal = (work: Promise<unknown>): Promise<ServiceError> =>
  work.then(
    () => {
      throw new Error('the call was not refused');
    },
    (error: ServiceError) => error,
  );
const recorded = async (quoteId: string) =>
  (await admin.query('select from settlements where quote_id = $1', [quoteId])).rowCount;

describe('paused payments', () => {
  afterEach(() => setPaused(false));

  test('a new attempt answers 503 with Retry-After and is not recorded, and the same id pays after the pause', async () => {
    const payer = consumer();
    const q = quote();
    expect(await setPaused(true)).toMatchObject({
      changed: true,
      intake: { paused_at: expect.any(String) },
    });
    const { code, extras } = await refusal(pay(payer, q, 'paused'));
    expect({ code, ...extras }).toEqual({
      code: 'service_unavailable',
      money_moved: 'no',
      safe_action: 'retry_same_attempt',
      retryAfterSeconds: 30,
    });
    expect([await recorded(q.quote_id), await held(payer)]).toEqual([0, 0n]);
    await setPaused(false);
    expect((await paid(payer, q, 'paused')).answer.status).toBe('confirmed');
  });

  test('rule 3: accepted payments continue, and repeats of existing attempts are answered', async () => {
    const payer = consumer();
    const q = quote();
    const { settlementId, answer } = await underWay(payer, q, 'before');
    expect(await setPaused(true)).toMatchObject({ intake: { under_way: expect.any(Number) } });
    await publishProgress(settlementId, 'confirmed');
    const first = await answer;
    expect(first.status).toBe('confirmed');
    expect(await pay(payer, q, 'before')).toEqual(first);
  });

  test('an open authorization is counted separately, because a drain cannot wait for it', async () => {
    const intake = () => call(operator, settlement, 'getIntake', {});
    const before = await intake();
    const { id } = await authorize();
    expect(await intake()).toEqual({ ...before, authorized: before.authorized + 1 });
    await voidIt({ id });
    expect(await intake()).toEqual(before);
  });

  test('a gauge shows the seconds since the pause began', async () => {
    const seconds = async () => (await collectIntake(base.pool).collect())[0]!.value;
    expect(await seconds()).toBe(0);
    await setPaused(true);
    await admin.query("update intake set paused_at = paused_at - interval '1 hour'");
    expect(await seconds()).toBeGreaterThanOrEqual(3600);
  });

  test('a pause is recorded once with actor and reason; a repeated pause is not', async () => {
    const before = (await actions()).length;
    await setPaused(true);
    expect(await setPaused(true)).toMatchObject({ changed: false });
    const [last, ...rest] = await actions();
    expect(rest.length).toBe(before);
    expect(last).toMatchObject({
      ...by,
      action: 'intake.pause',
      before: { paused_at: null },
      after: { paused_at: expect.any(String) },
    });
    await setPaused(false);
    expect((await actions())[0]).toMatchObject({ action: 'intake.resume', after: { paused_at: null } });
  });
});

describe('frozen accounts', () => {
  test('a frozen payer starts no payment, and a repeat of an existing attempt is answered (rule 3)', async () => {
    const payer = consumer();
    const q = quote();
    const { answer } = await paid(payer, q, 'before');
    const frozenPayer = { ...payer, frozen: true } as const;
    expect(await pay(frozenPayer, q, 'before')).toEqual(answer);
    const next = quote();
    const { code, message, extras } = await refusal(pay(frozenPayer, next, 'after'));
    expect({ code, ...extras }).toEqual({ code: 'forbidden', money_moved: 'no', safe_action: 'stop' });
    expect(message).toMatch(/frozen/);
    expect([await recorded(next.quote_id), await held(payer)]).toEqual([0, 0n]);
  });

  test('a quote of a frozen vendor answers 409 and is not recorded; accepted payments continue', async () => {
    const payer = consumer();
    const { settlementId, answer } = await underWay(payer);
    frozen.add(vendor.account_id);
    const q = quote();
    const { code, extras } = await refusal(pay(payer, q, 'to-frozen'));
    expect({ code, ...extras }).toEqual({ code: 'conflict', money_moved: 'no', safe_action: 'stop' });
    expect(await recorded(q.quote_id)).toBe(0);
    await publishProgress(settlementId, 'confirmed');
    expect((await answer).status).toBe('confirmed');
    frozen.clear();
    expect((await paid(payer, q, 'to-frozen')).answer.status).toBe('confirmed');
  });

  test('a frozen vendor still redeems paid settlements', async () => {
    const { settlementId: settlement_id, answer } = await paid();
    const input = { settlement_id, settlement_token: answer.settlement_token };
    expect(await outcome(callAs({ ...serviceKey, frozen: true } as never, 'redeem', input))).toBe('ok');
  });
});

describe('quarantined messages', () => {
  const list = (decided = false) => call(operator, settlement, 'listQuarantined', { decided, limit: 200 });
  const decide = (quarantine_id: number, decision: Decision) =>
    call(operator, settlement, 'decideQuarantined', { quarantine_id, decision, ...signed });
  const quarantine = async (body: object | string, subject = 'evt.chain-submitter.settleProgressed') => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const { rows } = await admin.query(
      "insert into quarantine (subject, body, reason) values ($1, convert_to($2, 'UTF8'), 'test') returning quarantine_id::int as id",
      [subject, text],
    );
    return rows[0].id as number;
  };
  const progress = (object_id: string, rest: object = {}) => ({
    object_id,
    status: 'confirmed',
    generation: 1,
    tx_hash: '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW',
    slot: 101,
    failure: null,
    ...rest,
  });

  test('a retry handles the message again; the decision is recorded with actor and reason', async () => {
    const { settlementId, answer } = await underWay(consumer());
    const id = await quarantine(progress(settlementId));
    expect((await list()).map(({ quarantine_id }) => quarantine_id)).toContain(id);
    expect(await decide(id, 'retry')).toMatchObject({ decision: 'retry', decided_at: expect.any(String) });
    expect((await answer).status).toBe('confirmed');
    expect((await list()).map(({ quarantine_id }) => quarantine_id)).not.toContain(id);
    expect((await list(true)).map(({ quarantine_id }) => quarantine_id)).toContain(id);
    const [last] = await actions();
    expect(last).toMatchObject({ ...by, action: 'quarantine.decide', after: { decision: 'retry' } });
    expect(last!.target).toMatch(new RegExp(`^quarantine/${id} evt`));
    expect(await refusal(decide(id, 'dismiss'))).toMatchObject({ code: 'conflict' });
  });

  test('a retry of a message that cannot be parsed or has no subscriber is refused, and stays undecided', async () => {
    const unparsable = await quarantine('{"object_id": 7}');
    const unsubscribed = await quarantine({}, 'evt.somebody.something');
    for (const id of [unparsable, unsubscribed])
      expect(await refusal(decide(id, 'retry'))).toMatchObject({ code: 'conflict' });
    for (const decision of ['included', 'failed'] as const)
      expect(await refusal(decide(unsubscribed, decision))).toMatchObject({ code: 'conflict' });
    expect((await list()).map(({ quarantine_id }) => quarantine_id)).toEqual(
      expect.arrayContaining([unparsable, unsubscribed]),
    );
    for (const id of [unparsable, unsubscribed]) await decide(id, 'dismiss');
    expect(await refusal(decide(1_000_000, 'dismiss'))).toMatchObject({ code: 'not_found' });
  });

  test('an event that contradicts the record: only a resolution that the chain proves is accepted, and the record stays', async () => {
    const { settlementId, answer } = await underWay(consumer());
    await publishProgress(settlementId, 'failed', {
      failure: { code: 'payment_failed', message: 'not in time' },
    });
    expect(await outcome(answer)).toBe('payment_failed');
    await publishProgress(settlementId, 'finalized');
    const [one] = await until(
      async () => (await list()).filter(({ reason }) => /failed.*finalized/.test(reason)),
      ({ length }) => length > 0,
    );
    const shown = await call(operator, settlement, 'findQuarantined', { quarantine_id: one!.quarantine_id });
    expect(shown).toMatchObject({
      body: expect.stringContaining(settlementId),
      details: {
        settlement: { settlement_id: settlementId, status: 'failed' },
        attempt: { outcome: 'open' },
      },
    });
    expect(JSON.stringify(shown)).not.toContain('settlement_token');
    for (const [outcome, refused] of [
      ['open', ['included', 'failed']],
      ['included', ['failed']],
      ['excluded', ['included']],
    ] as const) {
      Object.assign(attemptReport, { outcome, reason: `it is ${outcome}` });
      for (const decision of refused)
        expect(await refusal(decide(one!.quarantine_id, decision))).toMatchObject({
          code: 'conflict',
          message: expect.stringContaining(`it is ${outcome}`),
        });
    }
    Object.assign(attemptReport, { outcome: 'included', reason: 'final' });
    await decide(one!.quarantine_id, 'included');
    expect((await actions())[0]).toMatchObject({
      after: { decision: 'included', proof: { outcome: 'included', reason: 'final' } },
    });
    expect(await row(settlementId)).toMatchObject({ status: 'failed', chain_status: 'failed' });
  });
});
