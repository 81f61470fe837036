import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { call } from '../../../shared/bus/call.ts';
import type { Bus } from '../../../shared/bus/connect.ts';
import type { ServiceError } from '../../../shared/contract/errors.ts';
import { chainSubmitter } from '../../../shared/contract/index.ts';
import type { Decision } from '../../../shared/contract/operator.ts';
import {
  type SubmitterFixture,
  startSubmitterFixture,
  until,
} from '../../../test/support/fixtures/chain-submitter/submitter.ts';

/**
 * Settle jobs that could not be parsed: what an operator may decide, and what the chain must prove
 * first.
 */
let fixture: SubmitterFixture;
let operator: Bus;
beforeAll(async () => {
  fixture = await startSubmitterFixture();
  operator = await fixture.operatorBus();
  await fixture.start();
});
afterAll(() => fixture.stop());

const signed = { reason: 'ticket 1042' };
/** How the record names the change: with the name of the operator's connection. */
const by = { actor: 'jane', ...signed };
const decide = (quarantine_id: number, decision: Decision) =>
  call(
    operator,
    chainSubmitter,
    'decideQuarantined',
    { quarantine_id, decision, ...signed },
    { timeoutMs: 20_000 },
  );
const refusal = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'the call was not refused',
    (error: ServiceError) => `${error.code}: ${error.message}`,
  );
const detailsOf = async (quarantine_id: number) =>
  (await call(operator, chainSubmitter, 'findQuarantined', { quarantine_id }))!.details as {
    attempt: { outcome: string; reason: string; transactions: unknown[] };
  } | null;

/**
 * Publishes a job with a time that this release cannot parse. Returns its quarantine id.
 */
const setAside = async (job: object): Promise<number> => {
  await fixture.send(fixture.settlementBus, 'settle', { ...job, accepted_at: 'later' });
  const attempt = (job as { payment_attempt_id: string }).payment_attempt_id;
  const { rows } = await until(
    () =>
      fixture.admin.query(
        "select quarantine_id::int as id from quarantine where convert_from(body, 'UTF8') like '%' || $1 || '%'",
        [attempt],
      ),
    (found) => found.rows.length > 0,
  );
  return rows[0].id;
};

/** Builds a job for a new payer as settlement would send it, without sending it. */
const jobFor = async (quote: { quote_token: string }) => {
  const payer = await fixture.payer(5_000_000n);
  return { payer, job: fixture.jobOf(payer, quote) };
};
/** A signature that belongs to no transaction. */
const UNSEEN = '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW';
const MINUTES_12 = 12 * 60_000;

test('the resolution failed is refused while a lost payment could still be included, and a job that arrives later is paid', async () => {
  const { payer, job } = await jobFor(fixture.quote());
  const id = await setAside(job);
  expect(await refusal(decide(id, 'failed'))).toMatch(/^conflict: .*could be included until/);
  expect(await refusal(decide(id, 'included'))).toMatch(/^conflict/);
  expect(await detailsOf(id)).toMatchObject({ attempt: { outcome: 'open', transactions: [] } });
  await fixture.send(fixture.settlementBus, 'settle', job);
  await fixture.events.wait(job.settlement_id, 'finalized');
  expect(await fixture.outside.balance(payer.owner.publicKey)).toBe(4_000_000n);
  // The record and the chain now show the payment as included, so only that resolution is accepted.
  expect(await refusal(decide(id, 'failed'))).toMatch(/^conflict: .*is final on every provider/);
  expect(await detailsOf(id)).toMatchObject({
    attempt: { outcome: 'included', transactions: [expect.anything()] },
  });
  const published = fixture.events.of(job.settlement_id).length;
  await decide(id, 'included');
  // The resolution publishes the event again, for a settlement service that missed it.
  const all = await until(
    async () => fixture.events.of(job.settlement_id),
    ({ length }) => length > published,
  );
  expect(all.at(-1)).toMatchObject({ status: 'finalized' });
  expect(await fixture.outside.balance(payer.owner.publicKey)).toBe(4_000_000n);
});

test('failed is accepted once nothing can be included: settlement gets the event, and a later job pays nothing', async () => {
  const { payer, job } = await jobFor(fixture.quote({ expiresInMs: -MINUTES_12 }));
  const id = await setAside(job);
  expect(await detailsOf(id)).toMatchObject({ attempt: { outcome: 'excluded' } });
  expect(await refusal(decide(id, 'included'))).toMatch(/^conflict/);
  await decide(id, 'failed');
  expect(await fixture.events.wait(job.settlement_id, 'failed')).toMatchObject({
    tx_hash: null,
    failure: { code: 'payment_failed' },
  });
  await fixture.send(fixture.settlementBus, 'settle', job);
  await fixture.events.wait(job.settlement_id, 'failed', 2);
  expect(await fixture.outside.balance(payer.owner.publicKey)).toBe(5_000_000n);
  const [last] = await call(operator, chainSubmitter, 'listOperatorActions', { limit: 1 });
  expect(last).toMatchObject({ ...by, after: { decision: 'failed', proof: { outcome: 'excluded' } } });
});

test('a forged job cannot fail the settlement of another attempt', async () => {
  const { job: victim } = await jobFor(fixture.quote());
  await fixture.send(fixture.settlementBus, 'settle', victim);
  await fixture.events.wait(victim.settlement_id, 'confirmed');
  const { job } = await jobFor(fixture.quote({ expiresInMs: -MINUTES_12 }));
  const id = await setAside({ ...job, settlement_id: victim.settlement_id });
  expect(await refusal(decide(id, 'failed'))).toMatch(/^conflict: .*another attempt/);
  expect(fixture.events.of(victim.settlement_id).map(({ status }) => status)).not.toContain('failed');
  const list = await call(operator, chainSubmitter, 'listQuarantined', { decided: false, limit: 200 });
  expect(list.map(({ quarantine_id }) => quarantine_id)).toContain(id);
});

test('bytes that may still be included are never declared failed, whatever their record states', async () => {
  const { payer, job } = await jobFor(fixture.quote());
  await fixture.send(fixture.settlementBus, 'settle', job);
  await fixture.events.wait(job.settlement_id, 'finalized');
  const id = await setAside(job);
  // The database was restored, and the record states that the payment failed.
  await fixture.admin.query(
    `update intents set status = 'failed', failure_code = 'payment_failed', failure_message = 'test'
     where object_id = $1`,
    [job.settlement_id],
  );
  expect(await refusal(decide(id, 'failed'))).toMatch(/^conflict: .*is final on every provider/);
  // No provider knows this transaction, but its last valid block has not passed, so it may still be
  // included.
  const { job: other } = await jobFor(fixture.quote());
  const second = await setAside(other);
  await fixture.admin.query(
    `with i as (
       insert into intents (intent_id, kind, object_id, request, status, generation, failure_code, next_at)
       values ('settle:' || $1 || ':' || $2, 'settle', $3, $4::jsonb, 'failed', 1, 'payment_failed', public.app_now()))
     insert into transactions (signature, intent_id, generation, wire, last_valid_block_height, status)
     values ($5, 'settle:' || $1 || ':' || $2, 1, '', 1000000000, 'failed')`,
    [other.account_id, other.payment_attempt_id, other.settlement_id, JSON.stringify(other), UNSEEN],
  );
  expect(await refusal(decide(second, 'failed'))).toMatch(/^conflict: .*may be included until/);
  // Its last valid block has passed.
  await fixture.admin.query('update transactions set last_valid_block_height = 0 where signature = $1', [
    UNSEEN,
  ]);
  expect(await detailsOf(second)).toMatchObject({ attempt: { outcome: 'excluded' } });
  expect(await fixture.outside.balance(payer.owner.publicKey)).toBe(4_000_000n);
});

test('retry and dismiss: a job that can be parsed now is paid once, and one that still cannot be parsed stays in quarantine', async () => {
  const { payer, job } = await jobFor(fixture.quote());
  const id = await setAside(job);
  expect(await refusal(decide(id, 'retry'))).toMatch(/^conflict: .*cannot be parsed/);
  // This update simulates the release that can parse the job.
  await fixture.admin.query("update quarantine set body = convert_to($1, 'UTF8') where quarantine_id = $2", [
    JSON.stringify(job),
    id,
  ]);
  await decide(id, 'retry');
  await fixture.events.wait(job.settlement_id, 'finalized');
  expect(await fixture.outside.balance(payer.owner.publicKey)).toBe(4_000_000n);
  const { rows } = await fixture.admin.query(
    "insert into quarantine (subject, body, reason) values ('job.chain-submitter.fund', 'x', 'test') returning quarantine_id::int as id",
  );
  for (const decision of ['included', 'failed'] as const)
    expect(await refusal(decide(rows[0].id, decision))).toMatch(/^conflict: .*names no attempt/);
  expect(await decide(rows[0].id, 'dismiss')).toMatchObject({ decision: 'dismiss' });
});

test('a job that an older build could not parse is paid by itself', async () => {
  const { payer, job } = await jobFor(fixture.quote());
  const id = await setAside(job);
  await fixture.admin.query(
    "update quarantine set body = convert_to($1, 'UTF8'), unreadable_by = '0.0.9+older' where quarantine_id = $2",
    [JSON.stringify(job), id],
  );
  const next = await fixture.start();
  await fixture.events.wait(job.settlement_id, 'finalized');
  expect(await fixture.outside.balance(payer.owner.publicKey)).toBe(4_000_000n);
  const { rows } = await until(
    () => fixture.admin.query('select decision from quarantine where quarantine_id = $1', [id]),
    (found) => found.rows[0].decision !== null,
  );
  expect(rows[0].decision).toMatch(/^read by /);
  await next.stop();
});

test('a payment whose record was lost is never declared failed: retry adopts it from the chain and pays nothing twice', async () => {
  const { payer, job } = await jobFor(fixture.quote());
  await fixture.send(fixture.settlementBus, 'settle', job);
  const { tx_hash } = await fixture.events.wait(job.settlement_id, 'finalized');
  await fixture.admin.query('delete from transactions where signature = $1', [tx_hash]);
  await fixture.admin.query('delete from intents where object_id = $1', [job.settlement_id]);
  const id = await setAside(job);
  await fixture.database.withClock('25 minutes', async () => {
    // Long after the deadline, by the clock that the service reads every second.
    const { attempt } = (await until(
      () => detailsOf(id),
      (details) => details?.attempt.reason.includes('could be included until') === false,
    ))!;
    expect(attempt).toMatchObject({ outcome: 'open', reason: expect.stringContaining(tx_hash!) });
    expect(await refusal(decide(id, 'failed'))).toMatch(/^conflict: .*names the quote on the chain/);
    expect(await refusal(decide(id, 'included'))).toMatch(/^conflict/);
  });
  await fixture.admin.query("update quarantine set body = convert_to($1, 'UTF8') where quarantine_id = $2", [
    JSON.stringify({ ...job, accepted_at: new Date(Date.now() - 60_000).toISOString() }),
    id,
  ]);
  await decide(id, 'retry');
  expect(await fixture.events.wait(job.settlement_id, 'finalized', 2)).toMatchObject({ tx_hash });
  expect(await fixture.outside.balance(payer.owner.publicKey)).toBe(4_000_000n);
});
