import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { ServiceError } from '../../../shared/contract/errors.ts';
import type { Principal } from '../../../shared/contract/principal.ts';
import { failpoints } from '../../../shared/lib/failpoint.ts';
import { newId } from '../../../shared/lib/id.ts';
import {
  admin,
  delegateOf,
  deps,
  outcome,
  paid,
  pay,
  publishProgress,
  quote,
  row,
  startFixture,
  stopFixture,
  underWay,
  until,
} from '../../../test/support/settlement.ts';
import { chainCondition, consumer, frozen, payments } from '../../../test/support/settlement-peers.ts';
import { PAYOUT, vendor } from '../../../test/support/settlement-quotes.ts';
import { atOnce, tally } from '../../../test/support/stack.ts';
import { WRONG_DELEGATES } from '../../../test/support/wrong-delegates.ts';
import { settle } from './settle.ts';

beforeAll(startFixture, 60_000);
afterAll(stopFixture);

type Said = { code: string; money_moved?: string; safe_action?: string; settlement_id?: string };

/** What a refusal says besides its words. */
const said = async (work: Promise<unknown>): Promise<Said> => {
  try {
    return { code: `none: ${JSON.stringify(await work)}` };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const { details: _fields, retryAfterSeconds: _seconds, ...extras } = error.extras;
    return { code: error.code, ...extras };
  }
};
const paidAs = (code: string, settlement_id: string): Said => ({
  code,
  money_moved: 'yes',
  safe_action: 'read_settlement',
  settlement_id,
});
const payingAs = (code: string, settlement_id: string): Said => ({
  ...paidAs(code, settlement_id),
  money_moved: 'unknown',
});
/** With parts of the service standing otherwise. */
const payWith = (
  changed: Partial<typeof deps>,
  payer: Principal,
  { quote_token }: { quote_token: string },
  payment_attempt_id: string = newId('evt'),
) => settle({ ...deps, ...changed })({ quote_token, payment_attempt_id }, payer as never);

describe('one attempt, asked 64 times at two replicas, that can be paid once', () => {
  const RACERS = 64;
  const PRICE = 1_000_000n;
  const asked64 = async (payer: Principal & { account_id: string }) => {
    const q = quote(PRICE);
    const replicas = [1, 2].map(() => settle({ ...deps, settleWaitMs: 20_000 }));
    const input = { quote_token: q.quote_token, payment_attempt_id: 'once' };
    const answers = atOnce(RACERS, (i) =>
      replicas[i % 2]!(input, payer as never).then(
        ({ settlement_id, status }) => `${settlement_id} ${status}`,
        (error: ServiceError) => `${error.code} ${error.extras.money_moved}`,
      ),
    );
    const { rows } = await until(
      () => admin.query('select settlement_id from settlements where quote_id = $1', [q.quote_id]),
      ({ rows: found }) => found.length > 0,
    );
    await publishProgress(rows[0].settlement_id, 'confirmed');
    expect(tally(await answers)).toEqual({ [`${rows[0].settlement_id} confirmed`]: RACERS });
  };

  test.each(Array.from({ length: 5 }, (_, i) => i + 1))(
    'by a delegate whose limit is the price, round %i',
    async () => {
      const payer = consumer();
      const delegate = await delegateOf(payer, { total: PRICE });
      await paid(payer, quote());
      await asked64(delegate);
    },
  );

  test.each(Array.from({ length: 5 }, (_, i) => i + 1))(
    'by a wallet that has paid never and has the price, round %i',
    () => asked64(consumer(PRICE)),
  );
});

describe('a quote that the account has paid is refused by naming its settlement', () => {
  test('another attempt id: while it is being paid, when it is paid, redeemed, expired', async () => {
    const payer = consumer();
    const q = quote();
    const { settlementId, answer } = await underWay(payer, q);
    expect(await said(pay(payer, q))).toEqual(payingAs('quote_already_settled', settlementId));
    await publishProgress(settlementId, 'confirmed');
    await answer;
    expect(await said(pay(payer, q))).toEqual(paidAs('quote_already_settled', settlementId));
    for (const change of [
      "status = 'redeemed', redeemed_at = app_now()",
      "status = 'expired', redeemed_at = null",
    ]) {
      await admin.query(`update settlements set ${change} where settlement_id = $1`, [settlementId]);
      expect(await said(pay(payer, q))).toEqual(paidAs('quote_already_settled', settlementId));
    }
    // Another account is told of no settlement.
    expect(await said(pay(consumer(), q))).toEqual({
      code: 'quote_already_settled',
      money_moved: 'no',
      safe_action: 'new_quote',
    });
  });

  test('forked away or reversed for good: nobody says that it was paid, or that it was not', async () => {
    const { settlementId, payer } = await paid(consumer(), quote());
    const quoteOf = async () => (await row(settlementId)) as unknown as { quote_token: string };
    await publishProgress(settlementId, 'reopened');
    for (;;) if ((await row(settlementId)).chain_status === 'pending') break;
    expect(await said(pay(payer, await quoteOf()))).toEqual(payingAs('quote_already_settled', settlementId));
  });

  test('whatever else is wrong: expired, over a limit, short, paused, frozen, chain or wallet away', async () => {
    const payer = consumer(3_000_000n);
    const delegate = await delegateOf(payer, { total: 1_000_000n });
    const q = quote(1_000_000n, { expiresInMs: 1500 });
    const { settlementId } = await paid(delegate, q);
    const named = paidAs('quote_already_settled', settlementId);
    expect(await said(pay(delegate, q))).toEqual(named);
    expect(await said(pay(await delegateOf(payer, { per_payment: 1n }), q))).toEqual(named);
    const unknown = { ...delegate, delegate_id: newId('del') };
    expect(await said(pay(unknown, q))).toEqual(named);
    expect(await said(payWith({ isPaused: async () => true }, payer, q))).toEqual(named);
    expect(await said(payWith({ isFrozen: async () => true }, payer, q))).toEqual(named);
    expect(await said(payWith({ isChainReadable: async () => false }, payer, q))).toEqual(named);
    expect(await said(payWith({ findWallet: async () => null }, payer, q))).toEqual(named);
    expect(await said(pay({ ...payer, frozen: true } as Principal, q))).toEqual(named);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(await said(pay(payer, q))).toEqual(named);
  });

  test('a token that is refused now: another mint, a signing key that was taken out', async () => {
    const payer = consumer();
    const q = quote();
    const { settlementId, answer } = await paid(payer, q, 'by-old-key');
    const named = paidAs('validation_error', settlementId);
    const elsewhere = { publicKeys: new Map() };
    expect(await said(payWith({ mint: PAYOUT }, payer, q))).toEqual(named);
    expect(await said(payWith(elsewhere, payer, q))).toEqual(named);
    // The attempt itself is answered: its quote was verified when it was accepted.
    expect(await payWith(elsewhere, payer, q, 'by-old-key')).toEqual(answer);
    expect(await payWith({ mint: PAYOUT }, payer, q, 'by-old-key')).toEqual(answer);
    expect(await said(payWith(elsewhere, payer, quote(), 'by-old-key'))).toEqual(named);
    expect(await said(payWith(elsewhere, payer, quote()))).toEqual({
      code: 'validation_error',
      money_moved: 'no',
      safe_action: 'stop',
    });
  });
});

describe('an attempt id that is taken is refused by its own state', () => {
  test('by another delegate, and with another quote', async () => {
    const payer = consumer();
    const [first, second] = [await delegateOf(payer), await delegateOf(payer)];
    const q = quote();
    const { settlementId, answer } = await underWay(first, q, 'theirs');
    expect(await said(pay(second, q, 'theirs'))).toEqual(payingAs('conflict', settlementId));
    expect(await said(pay(payer, quote(), 'theirs'))).toEqual(payingAs('conflict', settlementId));
    await publishProgress(settlementId, 'confirmed');
    expect(await pay(payer, q, 'theirs')).toEqual(await answer);
    expect(await said(pay(second, q, 'theirs'))).toEqual(paidAs('conflict', settlementId));
    expect(await said(pay(payer, quote(), 'theirs'))).toEqual(paidAs('conflict', settlementId));
    // The quote that was asked about has a settlement of its own.
    const other = await paid(payer, quote());
    const otherQuote = (await row(other.settlementId)) as unknown as { quote_token: string };
    expect(await said(pay(payer, otherQuote, 'theirs'))).toEqual(paidAs('conflict', other.settlementId));
  });

  test('a failed one says no, until its quote is paid by another', async () => {
    const payer = consumer();
    const q = quote();
    const { settlementId, answer } = await underWay(payer, q, 'failed');
    const failure = { code: 'insufficient_funds', message: 'too little' } as const;
    await publishProgress(settlementId, 'failed', { failure, slot: null });
    const stored = { code: 'insufficient_funds', money_moved: 'no', safe_action: 'top_up' };
    expect(await said(answer)).toEqual(stored);
    expect(await said(pay(payer, q, 'failed'))).toEqual(stored);
    expect(await said(pay(payer, quote(), 'failed'))).toEqual({
      code: 'conflict',
      money_moved: 'no',
      safe_action: 'stop',
    });
    const second = await paid(payer, q);
    expect(await said(pay(payer, q, 'failed'))).toEqual(paidAs('insufficient_funds', second.settlementId));
  });
});

describe('after a restore', () => {
  const lost = { code: 'service_unavailable', money_moved: 'unknown', safe_action: 'retry_same_attempt' };
  /** As tools/backup does: what was recorded in this time is lost. */
  const restore = (takenAgo: string, restoredAgo: string) =>
    admin.query(
      `insert into restores (taken_at, restored_at)
       values (app_now() - $1::interval, app_now() - $2::interval)`,
      [takenAgo, restoredAgo],
    );
  const expired = () => quote(1_000_000n, { expiresInMs: -1 });
  const refused = { code: 'quote_expired', money_moved: 'no', safe_action: 'new_quote' };
  afterEach(() => admin.query('delete from restores'));

  test('a quote of before it whose payment is on the chain is adopted, whatever refuses it now', async () => {
    const payer = consumer();
    const delegate = await delegateOf(payer, { total: 1n });
    const [q, limited] = [expired(), quote()];
    payments.set(q.quote_token, { paid: true, owner: payer.owner });
    payments.set(limited.quote_token, { paid: true, owner: payer.owner });
    await restore('30 minutes', '-1 minutes');
    const adopted = await paid(payer, q, 'lost');
    expect(adopted.answer.status).toBe('confirmed');
    expect(await pay(payer, q, 'lost')).toEqual(adopted.answer);
    expect(await said(pay(payer, q))).toEqual(paidAs('quote_already_settled', adopted.settlementId));
    expect((await paid(delegate, limited)).answer.status).toBe('confirmed');
    expect((await admin.query(WRONG_DELEGATES)).rows).toEqual([]);
  });

  test('one whose payment cannot be looked for, or is of a wallet that is not known: nobody says no', async () => {
    const payer = consumer();
    const [q, whilePaused] = [expired(), quote()];
    await restore('30 minutes', '-1 minutes');
    const away = async () => {
      throw new ServiceError('service_unavailable', 'the chain cannot be read right now');
    };
    expect(await said(payWith({ findPayment: away }, payer, q))).toEqual(lost);
    expect(await said(payWith({ isPaused: async () => true }, payer, whilePaused))).toEqual(lost);
    payments.set(q.quote_token, { paid: true, owner: null });
    expect(await said(pay(payer, q))).toEqual(lost);
    expect(await said(payWith({ publicKeys: new Map(), findPayment: away }, payer, q))).toEqual(lost);
    payments.delete(q.quote_token);
    expect(await said(pay(payer, q))).toEqual(refused);
  });

  test('a quote of after it, or that had expired long before the backup, is refused as ever', async () => {
    await restore('3 minutes', '2 minutes');
    const away = async () => {
      throw new Error('nobody is asked');
    };
    expect(await said(payWith({ findPayment: away }, consumer(), expired()))).toEqual(refused);
    await admin.query('delete from restores');
    await restore('1 minute', '0 minutes');
    const old = quote(1_000_000n, { expiresInMs: -20 * 60_000 });
    expect(await said(payWith({ findPayment: away }, consumer(), old))).toEqual(refused);
  });
});

test('a call that was held up until nobody waits for it accepts nothing: its repeat may have been refused', async () => {
  const payer = consumer();
  const q = quote();
  const { 'settlement.beforeAccept': nothing } = failpoints;
  const now = performance.now.bind(performance);
  failpoints['settlement.beforeAccept'] = async () => {
    performance.now = () => now() + 20_000;
  };
  try {
    expect(await said(payWith({}, payer, q, 'late'))).toEqual({
      code: 'service_unavailable',
      money_moved: 'unknown',
      safe_action: 'retry_same_attempt',
    });
  } finally {
    failpoints['settlement.beforeAccept'] = nothing;
    performance.now = now;
  }
  expect((await admin.query('select from settlements where quote_id = $1', [q.quote_id])).rowCount).toBe(0);
  expect((await paid(payer, q, 'late')).answer.status).toBe('confirmed');
});

test('what is refused and known nowhere says no, each with its action', async () => {
  const payer = consumer(500_000n);
  const no = (code: string, safe_action: string) => ({ code, money_moved: 'no', safe_action });
  expect(await said(pay(payer, quote()))).toEqual(no('insufficient_funds', 'top_up'));
  expect(await said(pay(consumer(5_000_000n, 1n), quote()))).toEqual(
    no('delegation_inactive', 'raise_limit'),
  );
  expect(await said(pay(payer, quote(1_000_000n, { expiresInMs: -1 })))).toEqual(
    no('quote_expired', 'new_quote'),
  );
  frozen.add(vendor.account_id);
  expect(await said(pay(payer, quote()))).toEqual(no('conflict', 'stop'));
  frozen.clear();
  chainCondition.readable = false;
  expect(await said(pay(payer, quote()))).toEqual(no('service_unavailable', 'retry_same_attempt'));
  chainCondition.readable = true;
  expect(await outcome(pay(payer, { quote_token: 'a.b' }))).toBe('validation_error');
});
