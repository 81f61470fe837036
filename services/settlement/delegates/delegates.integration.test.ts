import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ServiceError } from '../../../shared/contract/errors.ts';
import { newId } from '../../../shared/lib/id.ts';
import {
  admin,
  consumer,
  type DelegateKey,
  database,
  delegateOf,
  deps,
  HASH,
  held,
  limitsOf,
  outcome,
  paid,
  pay,
  quote,
  say,
  sights,
  spendingOf,
  startFixture,
  stopFixture,
  underWay,
  until,
  vendor,
  wallets,
} from '../../../test/support/settlement.ts';
import { atOnce, tally } from '../../../test/support/stack.ts';
import { WRONG_DELEGATES } from '../../../test/support/wrong-delegates.ts';
import { upsertDelegate } from './upsert-delegate.ts';

beforeAll(startFixture);
afterAll(async () => {
  await expectCountersToAddUp();
  await stopFixture();
});

const USDC = 1_000_000n;
const YEARS_MS = 3 * 365 * 24 * 3600_000;
/** Good at any moment that a test moves the clock to. */
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
  say(settlementId, 'failed', {
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
    'rule 4: 64 settles at once of a delegate whose %s limit leaves 10 hold exactly 10',
    async (name) => {
      const delegate = await delegateOf(consumer(), { [name]: 12n * USDC });
      await paid(delegate, quote(2n * USDC));
      const answers = await atOnce(64, () => refusalOf(pay(delegate, quote())));
      expect(tally(answers)).toEqual({ ok: 10, [`limit_exceeded: ${name}`]: 54 });
      expect(await used(delegate)).toEqual(everywhere('10000000/2000000'));
      expect((await spendingOf(delegate)).usage[name].remaining).toBe('0');
    },
  );

  test('at every instant held and spent are within the limit, while payments land, fail and fork', async () => {
    const cap = 10n * USDC;
    const delegate = await delegateOf(consumer(), { total: cap, daily: cap });
    // Noted by the database with each change: looks from outside would miss what stood for an instant.
    await admin.query(`
      create table uses (used bigint);
      create function note_use() returns trigger language plpgsql as $$ begin
        insert into uses values (greatest(new.total_held + new.total_spent, new.day_held + new.day_spent));
        return null;
      end $$;
      grant insert on uses to public;
      create trigger note_use after update on delegates for each row
        when (new.delegate_id = '${delegate.delegate_id}') execute function note_use()`);
    const drive = async (i: number) => {
      await sleep(Math.floor(i / 4) * 20);
      const q = quote();
      const answer = outcome(pay(delegate, q));
      const find = () =>
        admin.query<{ settlement_id: string }>('select settlement_id from settlements where quote_id = $1', [
          q.quote_id,
        ]);
      let answered = false;
      void answer.then(() => {
        answered = true;
      });
      let id: string | undefined;
      while (id === undefined && !answered) {
        await sleep(10);
        id = (await find()).rows[0]?.settlement_id;
      }
      if (id === undefined) return answer;
      if (i % 3 === 0) await fail(id);
      else {
        await say(id, 'confirmed');
        if (i % 3 === 1) await say(id, 'reopened');
        if (i % 3 === 1) await say(id, 'confirmed', { generation: 2, tx_hash: HASH[1] });
      }
      return answer;
    };
    const answers = await atOnce(64, drive);
    await sleep(300);
    await admin.query('drop trigger note_use on delegates');
    const { rows } = await admin.query<{ highest: string }>('select max(used)::text as highest from uses');
    expect(rows[0]!.highest).toBe(`${cap}`);
    // On a machine that is too busy some calls end undecided; what they took is counted all the same.
    const decided = new Set(answers.filter((answer) => answer !== 'service_unavailable'));
    expect(decided).toEqual(new Set(['limit_exceeded', 'ok', 'payment_failed']));
    await expectCountersToAddUp();
  });

  test('64 delegates of one wallet are bounded by its allowance together', async () => {
    const payer = consumer(100n * USDC, 10n * USDC);
    const delegates = await atOnce(64, () => delegateOf(payer, { daily: 5n * USDC }));
    const answers = await atOnce(64, (i) => outcome(pay(delegates[i]!, quote())));
    expect(tally(answers)).toEqual({ ok: 10, delegation_inactive: 54 });
    expect(await held(payer)).toBe(10n * USDC);
    const sum = (await Promise.all(delegates.map(used))).filter(({ total }) => total === '1000000/0');
    expect(sum.length).toBe(10);
  });

  test('one payment above per_payment, a service that is not allowed, a delegate that is not known', async () => {
    const payer = consumer();
    const small = await delegateOf(payer, { per_payment: USDC });
    expect(await refusalOf(pay(small, quote(USDC + 1n)))).toBe('limit_exceeded: per_payment');
    expect(await outcome(pay(small, quote(USDC)))).toBe('ok');
    const elsewhere = await delegateOf(payer, {}, [crypto.randomUUID()]);
    expect(await outcome(pay(elsewhere, quote()))).toBe('forbidden');
    const here = await delegateOf(payer, {}, [crypto.randomUUID(), vendor.service_id]);
    expect(await outcome(pay(here, quote()))).toBe('ok');
    expect(await outcome(pay({ ...here, delegate_id: newId('del') }, quote()))).toBe('forbidden');
    // A delegate of another account is as unknown.
    const stranger = consumer();
    const theirs = { ...here, account_id: stranger.account_id };
    expect(await outcome(pay(theirs, quote()))).toBe('forbidden');
    expect(await used(here)).toEqual(everywhere('1000000/0'));
  });

  test('the limit is asked before the wallet; a refusal records nothing, and the id is free', async () => {
    const payer = consumer(0n);
    const delegate = await delegateOf(payer, { daily: USDC });
    const q = quote(2n * USDC);
    expect(await outcome(pay(delegate, q, 'too-much'))).toBe('limit_exceeded');
    expect(await used(delegate)).toEqual(everywhere('0/0'));
    sights.set(payer.owner, { balance: 100n * USDC, allowance: 100n * USDC, slot: 150 });
    const { version, allowed_service_ids } = await spendingOf(delegate);
    await upsertDelegate(deps)({
      ...delegate,
      allowed_service_ids,
      limits: limitsOf({ daily: 2n * USDC }),
      expected_version: version,
    });
    expect((await paid(delegate, q, 'too-much')).answer.status).toBe('confirmed');
  });

  test('rule 3: a repeat is answered after the limit is used up, by its own delegate alone', async () => {
    const payer = consumer();
    const delegate = await delegateOf(payer, { total: USDC });
    const q = quote();
    const { answer } = await paid(delegate, q, 'mine');
    expect(await outcome(pay(delegate, quote()))).toBe('limit_exceeded');
    expect(await pay(delegate, q, 'mine')).toEqual(answer);
    expect(await pay(payer, q, 'mine')).toEqual(answer);
    expect(await outcome(pay(await delegateOf(payer), q, 'mine'))).toBe('conflict');
  });

  test('its own wallet pays, not the account’s default', async () => {
    const payer = consumer();
    const delegate = await delegateOf(payer);
    const second = { wallet_id: newId('wal'), owner: `${payer.owner}2` };
    wallets.set(payer.account_id, second);
    sights.set(second.owner, { balance: 0n, allowance: 0n, slot: 100 });
    const { settlementId } = await paid(delegate);
    const { rows } = await admin.query('select wallet_id from settlements where settlement_id = $1', [
      settlementId,
    ]);
    expect(rows).toEqual([{ wallet_id: delegate.wallet_id }]);
  });
});

describe('counters', () => {
  test('held until confirmed, then spent; finalized changes nothing; a repeated fact counts once', async () => {
    const delegate = await delegateOf(consumer(), { daily: 5n * USDC });
    const { settlementId, answer } = await underWay(delegate);
    expect(await used(delegate)).toEqual(everywhere('1000000/0'));
    await say(settlementId, 'confirmed');
    await say(settlementId, 'confirmed');
    await answer;
    expect(await used(delegate)).toEqual(everywhere('0/1000000'));
    await say(settlementId, 'finalized');
    await sleep(100);
    expect(await used(delegate)).toEqual(everywhere('0/1000000'));
    expect((await spendingOf(delegate)).usage.daily.remaining).toBe('4000000');
  });

  test('given back on proven failure alone; a fork holds again; a reversal for good gives back', async () => {
    const delegate = await delegateOf(consumer(), { total: 5n * USDC });
    const first = await underWay(delegate);
    await say(first.settlementId, 'signed');
    expect(await used(delegate)).toEqual(everywhere('1000000/0'));
    await fail(first.settlementId);
    await untilUsed(delegate, '0/0');
    await first.answer.catch(() => {});

    const { settlementId } = await paid(delegate);
    await say(settlementId, 'reopened');
    await untilUsed(delegate, '1000000/0');
    await say(settlementId, 'confirmed', { generation: 2, tx_hash: HASH[1] });
    await untilUsed(delegate, '0/1000000');
    await say(settlementId, 'reopened', { generation: 2 });
    await untilUsed(delegate, '1000000/0');
    await fail(settlementId, 2);
    await untilUsed(delegate, '0/0');
    await fail(settlementId, 2);

    // Reversed without a word of the fork before.
    const other = await paid(delegate);
    await fail(other.settlementId);
    expect(await untilUsed(delegate, '0/0')).toEqual(everywhere('0/0'));
  });

  test('a lowered cap leaves 0 and undoes nothing; what was in flight goes on', async () => {
    const delegate = await delegateOf(consumer(), { daily: 5n * USDC });
    await paid(delegate, quote(2n * USDC));
    const flying = await underWay(delegate, quote(2n * USDC));
    const change = { ...delegate, allowed_service_ids: null };
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
    await say(flying.settlementId, 'confirmed');
    expect((await flying.answer).status).toBe('confirmed');
    expect(await used(delegate)).toEqual(everywhere('0/4000000'));
    // Another that has seen the old version changes nothing.
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
      // The payment of the day before lands now: it counts in its own day, which is over, and in the month.
      await say(late.settlementId, 'confirmed');
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

  test('a failure of an earlier day gives back what still counts, and nothing of today', async () => {
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

  test('a statement whose clock is still before midnight does not set the day back', async () => {
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
