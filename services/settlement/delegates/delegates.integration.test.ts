import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ServiceError } from '../../../shared/contract/errors.ts';
import { newId } from '../../../shared/lib/id.ts';
import {
  admin,
  type DelegateKey,
  database,
  delegateOf,
  deps,
  HASH,
  held,
  limitsOf,
  NO_RIGHTS,
  outcome,
  paid,
  pay,
  publishProgress,
  quote,
  spendingOf,
  startFixture,
  stopFixture,
  underWay,
  until,
  untilChainStatus,
  untilEventsHandled,
} from '../../../test/support/fixtures/settlement/settlement.ts';
import { consumer, snapshots, wallets } from '../../../test/support/fixtures/settlement/settlement-peers.ts';
import { vendor } from '../../../test/support/fixtures/settlement/settlement-quotes.ts';
import { WRONG_DELEGATES } from '../../../test/support/fixtures/settlement/wrong-delegates.ts';
import { atOnce, tally } from '../../../test/support/servers/stack.ts';
import { settle } from '../settling/settle.ts';
import { upsertDelegate } from './upsert-delegate.ts';

beforeAll(startFixture);
afterAll(async () => {
  await expectCountersToAddUp();
  await stopFixture();
});

const USDC = 1_000_000n;
const YEARS_MS = 3 * 365 * 24 * 3600_000;
/** A time that is later than any to which a test sets the clock. */
const lastingQuote = (amount = USDC) => quote(amount, { expiresInMs: YEARS_MS });

const used = async (delegate: DelegateKey) => {
  const { usage } = await spendingOf(delegate);
  const of = ({ held, spent }: { held: string; spent: string }) => `${held}/${spent}`;
  return { daily: of(usage.daily), monthly: of(usage.monthly), total: of(usage.total) };
};
const everywhere = (text: string) => ({ daily: text, monthly: text, total: text });
const untilUsed = (delegate: DelegateKey, text: string) =>
  until(
    () => used(delegate),
    ({ total }) => total === text,
  );
const fail = (settlementId: string, generation = 1) =>
  publishProgress(settlementId, 'failed', {
    generation,
    tx_hash: null,
    slot: null,
    failure: { code: 'payment_failed', message: 'proven' },
  });
const refusalOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'ok',
    (error: unknown) =>
      error instanceof ServiceError ? `${error.code}: ${error.message.split(':')[0]}` : String(error),
  );

const expectCountersToAddUp = async (): Promise<void> => {
  expect((await admin.query(WRONG_DELEGATES)).rows).toEqual([]);
};

describe('a delegate pays within its limits', () => {
  test.each(['daily', 'monthly', 'total'] as const)(
    'rule 4: 64 concurrent settles of a delegate whose %s limit leaves 10 hold exactly 10',
    async (name) => {
      const delegate = await delegateOf(consumer(), { [name]: 12n * USDC });
      await paid(delegate, quote(2n * USDC));
      const answers = await atOnce(64, () => refusalOf(pay(delegate, quote())));
      expect(tally(answers)).toEqual({ ok: 10, [`limit_exceeded: ${name}`]: 54 });
      expect(await used(delegate)).toEqual(everywhere('10000000/2000000'));
      expect((await spendingOf(delegate)).usage[name].remaining).toBe('0');
    },
  );

  test('held and spent never exceed the limit while payments are confirmed, fail and fork', async () => {
    const cap = 10n * USDC;
    const delegate = await delegateOf(consumer(), { total: cap, daily: cap });
    // A trigger records every change. Reads from outside would miss a short excess.
    await admin.query(`
      create table counted (used bigint);
      create function record_use() returns trigger language plpgsql as $$ begin
        insert into counted values (greatest(new.total_held + new.total_spent, new.day_held + new.day_spent));
        return null;
      end $$;
      grant insert on counted to public;
      create trigger record_use after update on delegates for each row
        when (new.delegate_id = '${delegate.delegate_id}') execute function record_use()`);
    // The call waits for the outcome, so that a busy machine does not fail the test.
    const settleAndWait = settle({ ...deps, settleWaitMs: 600_000 });
    const attempt = async (number: number): Promise<string> => {
      const q = quote();
      const input = { quote_token: q.quote_token, payment_attempt_id: newId('evt') };
      const answer = outcome(settleAndWait(input, delegate));
      let isAnswered = false;
      void answer.then(() => {
        isAnswered = true;
      });
      const { rows } = await until(
        () =>
          admin.query<{ settlement_id: string }>(
            'select settlement_id from settlements where quote_id = $1',
            [q.quote_id],
          ),
        ({ rowCount }) => rowCount === 1 || isAnswered,
      );
      const id = rows[0]?.settlement_id;
      if (id === undefined) return answer;
      if (number % 3 === 0) await fail(id);
      else await publishProgress(id, 'confirmed');
      if (number % 3 === 1) {
        await publishProgress(id, 'reopened');
        await publishProgress(id, 'confirmed', { generation: 2, tx_hash: HASH[1] });
      }
      return answer;
    };
    const outcomes = new Set<string>();
    await atOnce(8, async (caller) => {
      for (let call = 0; call < 8; call += 1) outcomes.add(await attempt(8 * caller + call));
    });
    await untilEventsHandled();
    await admin.query('drop trigger record_use on delegates');
    const { rows } = await admin.query<{ highest: string }>('select max(used)::text as highest from counted');
    expect(rows[0]!.highest).toBe(`${cap}`);
    expect([...outcomes]).toEqual(expect.arrayContaining(['limit_exceeded', 'ok', 'payment_failed']));
    await expectCountersToAddUp();
  });

  test('the allowance of a wallet limits the sum of its 64 delegates', async () => {
    const payer = consumer(100n * USDC, 10n * USDC);
    const delegates = await atOnce(64, () => delegateOf(payer, { daily: 5n * USDC }));
    const answers = await atOnce(64, (i) => outcome(pay(delegates[i]!, quote())));
    expect(tally(answers)).toEqual({ ok: 10, delegation_inactive: 54 });
    expect(await held(payer)).toBe(10n * USDC);
    const sum = (await Promise.all(delegates.map(used))).filter(({ total }) => total === '1000000/0');
    expect(sum.length).toBe(10);
  });

  test('a payment above per_payment, a service that is not allowed and an unknown delegate are refused', async () => {
    const payer = consumer();
    const small = await delegateOf(payer, { per_payment: USDC });
    expect(await refusalOf(pay(small, quote(USDC + 1n)))).toBe('limit_exceeded: per_payment');
    expect(await outcome(pay(small, quote(USDC)))).toBe('ok');
    const elsewhere = await delegateOf(payer, {}, [crypto.randomUUID()]);
    expect(await outcome(pay(elsewhere, quote()))).toBe('forbidden');
    const here = await delegateOf(payer, {}, [crypto.randomUUID(), vendor.service_id]);
    expect(await outcome(pay(here, quote()))).toBe('ok');
    expect(await outcome(pay({ ...here, delegate_id: newId('del') }, quote()))).toBe('forbidden');
    // A delegate of another account counts as unknown.
    const stranger = consumer();
    const theirs = { ...here, account_id: stranger.account_id };
    expect(await outcome(pay(theirs, quote()))).toBe('forbidden');
    expect(await used(here)).toEqual(everywhere('1000000/0'));
  });

  test('the limit is evaluated before the wallet; a refusal records nothing, and its attempt id can be used again', async () => {
    const payer = consumer(0n);
    const delegate = await delegateOf(payer, { daily: USDC });
    const q = quote(2n * USDC);
    expect(await outcome(pay(delegate, q, 'too-much'))).toBe('limit_exceeded');
    expect(await used(delegate)).toEqual(everywhere('0/0'));
    snapshots.set(payer.owner, { balance: 100n * USDC, allowance: 100n * USDC, slot: 150 });
    const { version, allowed_service_ids } = await spendingOf(delegate);
    await upsertDelegate(deps)({
      ...delegate,
      ...NO_RIGHTS,
      allowed_service_ids,
      limits: limitsOf({ daily: 2n * USDC }),
      expected_version: version,
    });
    expect((await paid(delegate, q, 'too-much')).answer.status).toBe('confirmed');
  });

  test('rule 3: a repeat by the same delegate is answered after the limit is used up', async () => {
    const payer = consumer();
    const delegate = await delegateOf(payer, { total: USDC });
    const q = quote();
    const { answer } = await paid(delegate, q, 'mine');
    expect(await outcome(pay(delegate, quote()))).toBe('limit_exceeded');
    expect(await pay(delegate, q, 'mine')).toEqual(answer);
    expect(await pay(payer, q, 'mine')).toEqual(answer);
    expect(await outcome(pay(await delegateOf(payer), q, 'mine'))).toBe('conflict');
  });

  test('a delegate pays from its own wallet, not from the account’s default one', async () => {
    const payer = consumer();
    const delegate = await delegateOf(payer);
    const second = { wallet_id: newId('wal'), owner: `${payer.owner}2` };
    wallets.set(payer.account_id, second);
    snapshots.set(second.owner, { balance: 0n, allowance: 0n, slot: 100 });
    const { settlementId } = await paid(delegate);
    const { rows } = await admin.query('select wallet_id from settlements where settlement_id = $1', [
      settlementId,
    ]);
    expect(rows).toEqual([{ wallet_id: delegate.wallet_id }]);
  });
});

describe('counters', () => {
  test('an amount is held until confirmed, then spent; finalized changes nothing; a repeated event counts once', async () => {
    const delegate = await delegateOf(consumer(), { daily: 5n * USDC });
    const { settlementId, answer } = await underWay(delegate);
    expect(await used(delegate)).toEqual(everywhere('1000000/0'));
    await publishProgress(settlementId, 'confirmed');
    await publishProgress(settlementId, 'confirmed');
    await answer;
    expect(await used(delegate)).toEqual(everywhere('0/1000000'));
    await publishProgress(settlementId, 'finalized');
    await untilChainStatus(settlementId, 'finalized');
    expect(await used(delegate)).toEqual(everywhere('0/1000000'));
    expect((await spendingOf(delegate)).usage.daily.remaining).toBe('4000000');
  });

  test('only a proven failure or reversal releases the amount; a fork holds it again', async () => {
    const delegate = await delegateOf(consumer(), { total: 5n * USDC });
    const first = await underWay(delegate);
    await publishProgress(first.settlementId, 'signed');
    expect(await used(delegate)).toEqual(everywhere('1000000/0'));
    await fail(first.settlementId);
    await untilUsed(delegate, '0/0');
    await first.answer.catch(() => {});

    const { settlementId } = await paid(delegate);
    await publishProgress(settlementId, 'reopened');
    await untilUsed(delegate, '1000000/0');
    await publishProgress(settlementId, 'confirmed', { generation: 2, tx_hash: HASH[1] });
    await untilUsed(delegate, '0/1000000');
    await publishProgress(settlementId, 'reopened', { generation: 2 });
    await untilUsed(delegate, '1000000/0');
    await fail(settlementId, 2);
    await untilUsed(delegate, '0/0');
    await fail(settlementId, 2);

    // Reversed without an earlier event of the fork.
    const other = await paid(delegate);
    await fail(other.settlementId);
    expect(await untilUsed(delegate, '0/0')).toEqual(everywhere('0/0'));
  });

  test('a lowered cap leaves 0 and reverses no payment; a payment under way continues', async () => {
    const delegate = await delegateOf(consumer(), { daily: 5n * USDC });
    await paid(delegate, quote(2n * USDC));
    const pending = await underWay(delegate, quote(2n * USDC));
    const change = { ...NO_RIGHTS, ...delegate, allowed_service_ids: null };
    const lowered = await upsertDelegate(deps)({
      ...change,
      limits: limitsOf({ daily: USDC }),
      expected_version: 1,
    });
    expect(lowered).toMatchObject({
      version: 2,
      usage: { daily: { remaining: '0', held: '2000000', spent: '2000000' } },
    });
    expect(await outcome(pay(delegate, quote(10_001n)))).toBe('limit_exceeded');
    await publishProgress(pending.settlementId, 'confirmed');
    expect((await pending.answer).status).toBe('confirmed');
    expect(await used(delegate)).toEqual(everywhere('0/4000000'));
    // A change from an old version is refused.
    const stale = { ...change, limits: limitsOf({}), expected_version: 1 };
    expect(await upsertDelegate(deps)(stale)).toBeNull();
    expect(await upsertDelegate(deps)({ ...stale, expected_version: 0 })).toBeNull();
    expect((await spendingOf(delegate)).limits.daily).toBe('1000000');
  });
});

describe('days and months are UTC, by the database’s clock', () => {
  const at = async <T>(time: string, work: () => Promise<T>): Promise<T> =>
    database.withClock(`${Date.parse(time) - Date.now()} milliseconds`, work);
  const nextYear = new Date().getUTCFullYear() + 1;
  const on = (rest: string) => `${nextYear}-${rest}Z`;

  test('the last second of a day and the first of the next', async () => {
    const delegate = await delegateOf(consumer(), { daily: USDC, monthly: 2n * USDC });
    const late = await at(on('05-10T23:59:30'), async () => {
      const attempt = await underWay(delegate, lastingQuote());
      expect((await spendingOf(delegate)).usage).toMatchObject({
        daily: { remaining: '0', resets_at: `${nextYear}-05-11T00:00:00.000Z` },
        monthly: { remaining: '1000000', resets_at: `${nextYear}-06-01T00:00:00.000Z` },
        total: { remaining: null, resets_at: null },
      });
      expect(await refusalOf(pay(delegate, lastingQuote()))).toBe('limit_exceeded: daily');
      return attempt;
    });
    await at(on('05-11T00:00:01'), async () => {
      expect(await used(delegate)).toEqual({ daily: '0/0', monthly: '1000000/0', total: '1000000/0' });
      await paid(delegate, lastingQuote());
      // The payment of the day before is confirmed now. It counts in its own day, which is over,
      // and in the month.
      await publishProgress(late.settlementId, 'confirmed');
      await untilUsed(delegate, '0/2000000');
      expect(await used(delegate)).toEqual({ daily: '0/1000000', monthly: '0/2000000', total: '0/2000000' });
      expect(await refusalOf(pay(delegate, lastingQuote()))).toBe('limit_exceeded: daily');
    });
    await at(on('05-12T00:00:01'), async () => {
      expect(await refusalOf(pay(delegate, lastingQuote()))).toBe('limit_exceeded: monthly');
    });
    await late.answer.catch(() => {});
  });

  test('the end of a month and of a year', async () => {
    const delegate = await delegateOf(consumer(), { monthly: USDC, total: 3n * USDC });
    await at(on('11-30T23:59:30'), () => paid(delegate, lastingQuote()));
    await at(on('12-01T00:00:01'), async () => {
      expect((await spendingOf(delegate)).usage.monthly).toMatchObject({ spent: '0', remaining: '1000000' });
      await paid(delegate, lastingQuote());
    });
    await at(on('12-31T23:59:30'), async () => {
      expect(await refusalOf(pay(delegate, lastingQuote()))).toBe('limit_exceeded: monthly');
      expect((await spendingOf(delegate)).usage.monthly.resets_at).toBe(
        `${nextYear + 1}-01-01T00:00:00.000Z`,
      );
    });
    await at(`${nextYear + 1}-01-01T00:00:01Z`, async () => {
      await paid(delegate, lastingQuote());
      expect(await used(delegate)).toEqual({ daily: '0/1000000', monthly: '0/1000000', total: '0/3000000' });
    });
    await at(`${nextYear + 1}-02-01T00:00:01Z`, async () => {
      expect(await refusalOf(pay(delegate, lastingQuote()))).toBe('limit_exceeded: total');
    });
  });

  test('a failure of an earlier day releases what still counts, and nothing of today', async () => {
    const delegate = await delegateOf(consumer());
    const early = await at(on('07-30T12:00:00'), () => underWay(delegate, lastingQuote()));
    const answered = outcome(early.answer);
    await at(on('07-31T12:00:00'), async () => {
      await paid(delegate, lastingQuote(3n * USDC));
      await fail(early.settlementId);
      await untilUsed(delegate, '0/3000000');
      expect(await used(delegate)).toEqual(everywhere('0/3000000'));
    });
    await answered;
  });

  test('a statement whose clock is still before midnight does not reset the day', async () => {
    const delegate = await delegateOf(consumer(), { daily: 2n * USDC });
    await at(on('08-02T00:00:00.5'), () => paid(delegate, lastingQuote()));
    await at(on('08-01T23:59:59.5'), async () => {
      await paid(delegate, lastingQuote());
      expect(await refusalOf(pay(delegate, lastingQuote()))).toBe('limit_exceeded: daily');
    });
    const { rows } = await admin.query('select day::text from delegates where delegate_id = $1', [
      delegate.delegate_id,
    ]);
    expect(rows).toEqual([{ day: `${nextYear}-08-02` }]);
  });
});
