import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { ServiceError } from '../../../shared/contract/errors.ts';
import type { Principal } from '../../../shared/contract/principal.ts';
import { failpoints } from '../../../shared/lib/failpoint.ts';
import { newId } from '../../../shared/lib/id.ts';
import {
  admin,
  database,
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
  untilChainStatus,
} from '../../../test/support/fixtures/settlement/settlement.ts';
import {
  chainCondition,
  consumer,
  frozen,
  payments,
} from '../../../test/support/fixtures/settlement/settlement-peers.ts';
import { PAYOUT, publicKeys, vendor } from '../../../test/support/fixtures/settlement/settlement-quotes.ts';
import { WRONG_DELEGATES } from '../../../test/support/fixtures/settlement/wrong-delegates.ts';
import { atOnce, tally } from '../../../test/support/servers/stack.ts';
import { settle } from './settle.ts';

beforeAll(startFixture);
afterAll(stopFixture);

type Refusal = { code: string; money_moved?: string; safe_action?: string; settlement_id?: string };

/** A refusal without its message. */
const refusal = async (work: Promise<unknown>): Promise<Refusal> => {
  try {
    return { code: `none: ${JSON.stringify(await work)}` };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const { details: _fields, retryAfterSeconds: _seconds, limit: _figures, ...extras } = error.extras;
    return { code: error.code, ...extras };
  }
};
const paidAs = (code: string, settlement_id: string): Refusal => ({
  code,
  money_moved: 'yes',
  safe_action: 'read_settlement',
  settlement_id,
});
const payingAs = (code: string, settlement_id: string): Refusal => ({
  ...paidAs(code, settlement_id),
  money_moved: 'unknown',
});
/** Pays with some dependencies of the service replaced. */
const payWith = (
  changed: Partial<typeof deps>,
  payer: Principal,
  { quote_token }: { quote_token: string },
  payment_attempt_id: string = newId('evt'),
) => settle({ ...deps, ...changed })({ quote_token, payment_attempt_id }, payer as never);

describe('64 concurrent calls of one attempt at two replicas, of which one can be paid', () => {
  const RACERS = 64;
  const PRICE = 1_000_000n;
  const callAll = async (payer: Principal & { account_id: string }) => {
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
    'of a delegate whose limit is the price, round %i',
    async () => {
      const payer = consumer();
      const delegate = await delegateOf(payer, { total: PRICE });
      await paid(payer, quote());
      await callAll(delegate);
    },
  );

  test.each(Array.from({ length: 5 }, (_, i) => i + 1))(
    'of a wallet without a snapshot whose balance is the price, round %i',
    () => callAll(consumer(PRICE)),
  );
});

test('a quote with a term of another version is neither paid nor called wrong', async () => {
  const payer = consumer();
  const later = quote(1_000_000n, { later: 'half the price' } as object);
  expect(await refusal(pay(payer, later))).toEqual({
    code: 'service_unavailable',
    money_moved: 'unknown',
    safe_action: 'retry_same_attempt',
  });
  const { rows } = await admin.query('select from settlements where quote_id = $1', [later.quote_id]);
  expect(rows).toEqual([]);
});

describe('a quote that the account has paid is refused by naming its settlement', () => {
  test('by another attempt id: while the quote is being paid, and once it is paid, redeemed or expired', async () => {
    const payer = consumer();
    const q = quote();
    const { settlementId, answer } = await underWay(payer, q);
    expect(await refusal(pay(payer, q))).toEqual(payingAs('quote_already_settled', settlementId));
    await publishProgress(settlementId, 'confirmed');
    await answer;
    expect(await refusal(pay(payer, q))).toEqual(paidAs('quote_already_settled', settlementId));
    for (const change of [
      "status = 'redeemed', redeemed_at = app_now(), expires_from = null",
      "status = 'expired', redeemed_at = null",
    ]) {
      await admin.query(`update settlements set ${change} where settlement_id = $1`, [settlementId]);
      expect(await refusal(pay(payer, q))).toEqual(paidAs('quote_already_settled', settlementId));
    }
    // Another account gets no settlement id.
    expect(await refusal(pay(consumer(), q))).toEqual({
      code: 'quote_already_settled',
      money_moved: 'no',
      safe_action: 'new_quote',
    });
  });

  test('a payment that a fork removed or that was reversed for good has money_moved unknown', async () => {
    const { settlementId, payer } = await paid(consumer(), quote());
    const quoteOf = () => row(settlementId);
    await publishProgress(settlementId, 'reopened');
    await untilChainStatus(settlementId, 'pending');
    expect(await refusal(pay(payer, await quoteOf()))).toEqual(
      payingAs('quote_already_settled', settlementId),
    );
  });

  test('a paid quote takes precedence over expiry, limits, balance, pause, freeze, an unreadable chain and a missing wallet', async () => {
    const payer = consumer(3_000_000n);
    const delegate = await delegateOf(payer, { total: 1_000_000n });
    const q = quote(1_000_000n);
    const { settlementId } = await paid(delegate, q);
    const named = paidAs('quote_already_settled', settlementId);
    expect(await refusal(pay(delegate, q))).toEqual(named);
    expect(await refusal(pay(await delegateOf(payer, { per_payment: 1n }), q))).toEqual(named);
    const unknown = { ...delegate, delegate_id: newId('del') };
    expect(await refusal(pay(unknown, q))).toEqual(named);
    expect(await refusal(payWith({ isPaused: async () => true }, payer, q))).toEqual(named);
    expect(await refusal(payWith({ isFrozen: async () => true }, payer, q))).toEqual(named);
    expect(await refusal(payWith({ isChainReadable: async () => false }, payer, q))).toEqual(named);
    expect(await refusal(payWith({ findWallet: async () => null }, payer, q))).toEqual(named);
    expect(await refusal(pay({ ...payer, frozen: true } as Principal, q))).toEqual(named);
    await database.withClock('11 minutes', async () => {
      expect(await refusal(pay(payer, q))).toEqual(named);
    });
  });

  test('a quote of a key that has ended is refused, and one that was paid before is answered', async () => {
    const payer = consumer();
    const q = quote();
    const { settlementId, answer } = await paid(payer, q, 'before-the-end');
    const stolen = new Map([...publicKeys].map(([kid, key]) => [kid, { ...key, compromisedAt: 0 }]));
    const retired = new Map([...publicKeys].map(([kid, key]) => [kid, { ...key, retiredAt: 0 }]));
    for (const keys of [stolen, retired]) {
      expect(await refusal(payWith({ publicKeys: keys }, payer, quote()))).toEqual({
        code: 'validation_error',
        money_moved: 'no',
        safe_action: 'stop',
      });
      expect(await refusal(payWith({ publicKeys: keys }, payer, q))).toEqual(
        paidAs('validation_error', settlementId),
      );
      expect(await payWith({ publicKeys: keys }, payer, q, 'before-the-end')).toEqual(answer);
    }
  });

  test('a paid quote takes precedence over a token that became invalid: another mint, a removed signing key', async () => {
    const payer = consumer();
    const q = quote();
    const { settlementId, answer } = await paid(payer, q, 'by-old-key');
    const named = paidAs('validation_error', settlementId);
    const elsewhere = { publicKeys: new Map() };
    expect(await refusal(payWith({ mint: PAYOUT }, payer, q))).toEqual(named);
    expect(await refusal(payWith(elsewhere, payer, q))).toEqual(named);
    // The attempt is answered, because its quote was verified when it was accepted.
    expect(await payWith(elsewhere, payer, q, 'by-old-key')).toEqual(answer);
    expect(await payWith({ mint: PAYOUT }, payer, q, 'by-old-key')).toEqual(answer);
    expect(await refusal(payWith(elsewhere, payer, quote(), 'by-old-key'))).toEqual(named);
    expect(await refusal(payWith(elsewhere, payer, quote()))).toEqual({
      code: 'validation_error',
      money_moved: 'no',
      safe_action: 'stop',
    });
  });
});

describe('an attempt id that was used is refused by its state', () => {
  test('the refusal of another delegate and of another quote names the existing settlement', async () => {
    const payer = consumer();
    const [first, second] = [await delegateOf(payer), await delegateOf(payer)];
    const q = quote();
    const { settlementId, answer } = await underWay(first, q, 'theirs');
    expect(await refusal(pay(second, q, 'theirs'))).toEqual(payingAs('conflict', settlementId));
    expect(await refusal(pay(payer, quote(), 'theirs'))).toEqual(payingAs('conflict', settlementId));
    await publishProgress(settlementId, 'confirmed');
    expect(await pay(payer, q, 'theirs')).toEqual(await answer);
    expect(await refusal(pay(second, q, 'theirs'))).toEqual(paidAs('conflict', settlementId));
    expect(await refusal(pay(payer, quote(), 'theirs'))).toEqual(paidAs('conflict', settlementId));
    // The quote of this call has its own settlement.
    const other = await paid(payer, quote());
    const otherQuote = await row(other.settlementId);
    expect(await refusal(pay(payer, otherQuote, 'theirs'))).toEqual(paidAs('conflict', other.settlementId));
  });

  test('a failed attempt has money_moved no, until another attempt pays its quote', async () => {
    const payer = consumer();
    const q = quote();
    const { settlementId, answer } = await underWay(payer, q, 'failed');
    const failure = { code: 'insufficient_funds', message: 'too little' } as const;
    await publishProgress(settlementId, 'failed', { failure, slot: null });
    const stored = { code: 'insufficient_funds', money_moved: 'no', safe_action: 'top_up' };
    expect(await refusal(answer)).toEqual(stored);
    expect(await refusal(pay(payer, q, 'failed'))).toEqual(stored);
    expect(await refusal(pay(payer, quote(), 'failed'))).toEqual({
      code: 'conflict',
      money_moved: 'no',
      safe_action: 'stop',
    });
    const second = await paid(payer, q);
    expect(await refusal(pay(payer, q, 'failed'))).toEqual(paidAs('insufficient_funds', second.settlementId));
  });
});

describe('after a restore', () => {
  const lost = { code: 'service_unavailable', money_moved: 'unknown', safe_action: 'retry_same_attempt' };
  /** Marks a restore as tools/backup does: the records of this time are lost. */
  const restore = (takenAgo: string, restoredAgo: string) =>
    admin.query(
      `insert into restores (taken_at, restored_at)
       values (app_now() - $1::interval, app_now() - $2::interval)`,
      [takenAgo, restoredAgo],
    );
  const expired = () => quote(1_000_000n, { expiresInMs: -1 });
  const refused = { code: 'quote_expired', money_moved: 'no', safe_action: 'new_quote' };
  afterEach(() => admin.query('delete from restores'));

  test('the payment of an older quote that is on the chain is adopted before any refusal applies', async () => {
    const payer = consumer();
    const delegate = await delegateOf(payer, { total: 1n });
    const [q, limited] = [expired(), quote()];
    payments.set(q.quote_token, { paid: true, owner: payer.owner });
    payments.set(limited.quote_token, { paid: true, owner: payer.owner });
    await restore('30 minutes', '-1 minutes');
    const adopted = await paid(payer, q, 'lost');
    expect(adopted.answer.status).toBe('confirmed');
    expect(await pay(payer, q, 'lost')).toEqual(adopted.answer);
    expect(await refusal(pay(payer, q))).toEqual(paidAs('quote_already_settled', adopted.settlementId));
    expect((await paid(delegate, limited)).answer.status).toBe('confirmed');
    expect((await admin.query(WRONG_DELEGATES)).rows).toEqual([]);
  });

  test('money_moved is unknown if the chain cannot be searched or the payment belongs to an unknown wallet', async () => {
    const payer = consumer();
    const [q, whilePaused] = [expired(), quote()];
    await restore('30 minutes', '-1 minutes');
    const unavailable = async () => {
      throw new ServiceError('service_unavailable', 'the chain cannot be read right now');
    };
    expect(await refusal(payWith({ findPayment: unavailable }, payer, q))).toEqual(lost);
    expect(await refusal(payWith({ isPaused: async () => true }, payer, whilePaused))).toEqual(lost);
    payments.set(q.quote_token, { paid: true, owner: null });
    expect(await refusal(pay(payer, q))).toEqual(lost);
    expect(await refusal(payWith({ publicKeys: new Map(), findPayment: unavailable }, payer, q))).toEqual(
      lost,
    );
    payments.delete(q.quote_token);
    expect(await refusal(pay(payer, q))).toEqual(refused);
  });

  test('a quote from after the restore, or expired long before the backup, is refused as usual', async () => {
    await restore('3 minutes', '2 minutes');
    const unavailable = async () => {
      throw new Error('the chain must not be queried');
    };
    expect(await refusal(payWith({ findPayment: unavailable }, consumer(), expired()))).toEqual(refused);
    await admin.query('delete from restores');
    await restore('1 minute', '0 minutes');
    const old = quote(1_000_000n, { expiresInMs: -20 * 60_000 });
    expect(await refusal(payWith({ findPayment: unavailable }, consumer(), old))).toEqual(refused);
  });
});

test('a call that was delayed until the gateway has answered accepts nothing, because its repeat may have been refused', async () => {
  const payer = consumer();
  const q = quote();
  const { 'settlement.beforeAccept': nothing } = failpoints;
  const now = performance.now.bind(performance);
  failpoints['settlement.beforeAccept'] = async () => {
    performance.now = () => now() + 20_000;
  };
  try {
    expect(await refusal(payWith({}, payer, q, 'late'))).toEqual({
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

test('a refusal of an attempt without records has money_moved no and the action of its reason', async () => {
  const payer = consumer(500_000n);
  const no = (code: string, safe_action: string) => ({ code, money_moved: 'no', safe_action });
  expect(await refusal(pay(payer, quote()))).toEqual(no('insufficient_funds', 'top_up'));
  expect(await refusal(pay(consumer(5_000_000n, 1n), quote()))).toEqual(
    no('delegation_inactive', 'raise_limit'),
  );
  expect(await refusal(pay(payer, quote(1_000_000n, { expiresInMs: -1 })))).toEqual(
    no('quote_expired', 'new_quote'),
  );
  frozen.add(vendor.account_id);
  expect(await refusal(pay(payer, quote()))).toEqual(no('conflict', 'stop'));
  frozen.clear();
  chainCondition.readable = false;
  expect(await refusal(pay(payer, quote()))).toEqual(no('service_unavailable', 'retry_same_attempt'));
  chainCondition.readable = true;
  expect(await outcome(pay(payer, { quote_token: 'a.b' }))).toBe('validation_error');
});
