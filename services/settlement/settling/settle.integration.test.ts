import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Principal } from '../../../shared/contract/principal.ts';
import { newId } from '../../../shared/lib/id.ts';
import {
  admin,
  callAs,
  database,
  deps,
  HASH,
  held,
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
  chainCondition,
  consumer,
  snapshots,
  wallets,
} from '../../../test/support/fixtures/settlement/settlement-peers.ts';
import { PAYOUT } from '../../../test/support/fixtures/settlement/settlement-quotes.ts';
import { atOnce, tally } from '../../../test/support/servers/stack.ts';
import { recordSigned } from '../record/store/record-progress.ts';
import { resumeSettlements } from './resume-settlements.ts';
import { settle } from './settle.ts';

beforeAll(startFixture);
afterAll(stopFixture);

describe('accepting an attempt', () => {
  test('rule 1: one attempt per account and payment_attempt_id: 64 concurrent calls give one row and equal answers', async () => {
    const payer = consumer();
    const q = quote();
    // The wait is long because a busy machine needs seconds to evaluate all of them.
    const replicas = [1, 2].map(() => settle({ ...deps, settleWaitMs: 20_000 }));
    const input = { quote_token: q.quote_token, payment_attempt_id: 'one' };
    const answers = atOnce(64, (i) => replicas[i % 2]!(input, payer));
    const { settlementId } = await underWay(payer, q, 'one');
    await publishProgress(settlementId, 'confirmed');
    const settled = await answers;
    expect(new Set(settled.map(({ settlement_id }) => settlement_id)).size).toBe(1);
    expect(tally(settled.map(({ status }) => status))).toEqual({ confirmed: 64 });
    expect(await outcome(pay(payer, quote(), 'one'))).toBe('conflict');
    // The same id of another account is independent.
    expect((await paid(consumer(), quote(), 'one')).answer.status).toBe('confirmed');
  });

  test('while the chain cannot be read, a new attempt is refused and not recorded, and an accepted one waits', async () => {
    const payer = consumer();
    const accepted = await underWay(payer);
    chainCondition.readable = false;
    try {
      const q = quote();
      expect(await outcome(pay(payer, q, 'chain-down'))).toBe('service_unavailable');
      expect(await held(payer)).toBe(1_000_000n);
      chainCondition.readable = true;
      const { settlementId, answer } = await underWay(payer, q, 'chain-down');
      chainCondition.readable = false;
      const repeat = pay(payer, q, 'chain-down');
      await publishProgress(settlementId, 'confirmed');
      expect((await repeat).status).toBe('confirmed');
      await answer;
      await publishProgress(accepted.settlementId, 'confirmed');
      expect((await accepted.answer).status).toBe('confirmed');
    } finally {
      chainCondition.readable = true;
    }
  });

  test('without a lamport budget, a new attempt is refused until midnight and not recorded, and repeats are answered', async () => {
    const payer = consumer();
    const q = quote();
    await paid(payer, q, 'paid-before');
    chainCondition.budgetRefillsInSeconds = 4000;
    try {
      const refused = await pay(payer, quote(), 'no-budget').catch((error: unknown) => error);
      expect(refused).toMatchObject({
        code: 'service_unavailable',
        extras: { safe_action: 'retry_same_attempt', retryAfterSeconds: 4000 },
      });
      expect(await held(payer)).toBe(0n);
      expect((await pay(payer, q, 'paid-before')).status).toBe('confirmed');
    } finally {
      chainCondition.budgetRefillsInSeconds = null;
    }
  });

  test('rule 2: 64 attempts on one quote give one settlement', async () => {
    const q = quote();
    const answers = atOnce(64, () => outcome(pay(consumer(), q)));
    const { rows } = await until(
      () => admin.query('select settlement_id from settlements where quote_id = $1', [q.quote_id]),
      ({ rows: found }) => found.length > 0,
    );
    await publishProgress(rows[0].settlement_id, 'confirmed');
    expect(tally(await answers)).toEqual({ ok: 1, quote_already_settled: 63 });
  });

  test('rule 3: a repeat is answered before expiry, status or limits are evaluated', async () => {
    const payer = consumer(1_000_000n);
    const q = quote();
    const { answer } = await paid(payer, q, 'repeat');
    snapshots.set(payer.owner, { balance: 0n, allowance: 0n, slot: 200 });
    await database.withClock('11 minutes', async () => {
      expect(await outcome(pay(payer, quote(1_000_000n), 'new'))).toBe('quote_expired');
      expect(await pay(payer, q, 'repeat')).toEqual(answer);
      await callAs(serviceKey, 'redeem', {
        settlement_id: answer.settlement_id,
        settlement_token: answer.settlement_token,
      });
      expect(await pay(payer, q, 'repeat')).toEqual(answer);
      expect(await outcome(pay(consumer(), q))).toBe('quote_already_settled');
    });
  });

  test('rule 4: attempt, hold, settlement and outbox commit in one transaction or not at all', async () => {
    const payer = consumer();
    const { answer } = await underWay(payer);
    expect(await held(payer)).toBe(1_000_000n);
    await answer;
    await admin.query('alter table outbox rename to outbox_gone');
    const q = quote();
    try {
      expect(await outcome(pay(payer, q))).toBe('internal_error');
    } finally {
      await admin.query('alter table outbox_gone rename to outbox');
    }
    expect((await admin.query('select from settlements where quote_id = $1', [q.quote_id])).rowCount).toBe(0);
    expect(await held(payer)).toBe(1_000_000n);
  });

  test('rule 3: a repeat is answered even if its wallet no longer exists', async () => {
    const payer = consumer();
    const q = quote();
    const { answer } = await paid(payer, q, 'no-wallet');
    const linked = wallets.get(payer.account_id)!;
    wallets.delete(payer.account_id);
    try {
      expect(await pay(payer, q, 'no-wallet')).toEqual(answer);
      expect(await outcome(pay(payer, quote()))).toBe('delegation_inactive');
    } finally {
      wallets.set(payer.account_id, linked);
    }
  });

  test('rule 5: the amounts of one batch are held in order, and one that does not fit leaves room for a smaller one', async () => {
    const payer = consumer(10_000_000n);
    // The payer has a snapshot, so one statement evaluates all of them.
    const first = await paid(payer, quote(1_000_000n));
    const amounts = [6_020_000n, 20_020_000n, 6_020_000n, 3_020_000n, 20_001n];
    const answers = await Promise.all(amounts.map((amount) => outcome(pay(payer, quote(amount)))));
    const sum = amounts.reduce((all, amount, index) => (answers[index] === 'ok' ? all + amount : all), 0n);
    expect(await held(payer)).toBe(sum);
    expect(sum).toBeLessThanOrEqual(9_000_000n);
    // In any order, no amount that would fit is refused.
    for (const [index, amount] of amounts.entries())
      expect(answers[index]).toBe(
        answers[index] === 'ok' || amount <= 9_000_000n - sum ? 'ok' : 'insufficient_funds',
      );
    expect(answers[4]).toBe('ok');
    expect(first.answer.status).toBe('confirmed');
  });

  test('rule 5: two replicas that evaluate batches of the same wallets hold what each wallet can pay', async () => {
    const payers = Array.from({ length: 4 }, () => consumer(3_000_000n));
    for (const payer of payers) await paid(payer);
    const replicas = [settle(deps), settle(deps)];
    const answers = await atOnce(80, (index) => {
      const payer = payers[index % payers.length]!;
      const { quote_token } = quote();
      const call = replicas[index % 3 === 0 ? 0 : 1]!;
      return outcome(call({ quote_token, payment_attempt_id: newId('evt') }, payer));
    });
    expect(tally(answers)).toEqual({ ok: 8, insufficient_funds: 72 });
    for (const payer of payers) expect(await held(payer)).toBe(2_000_000n);
  });

  test('rule 5: 64 settles of a wallet that can pay 10 hold exactly 10', async () => {
    const payer = consumer(10_000_000n);
    const answers = await atOnce(64, () => outcome(pay(payer, quote())));
    expect(tally(answers)).toEqual({ ok: 10, insufficient_funds: 54 });
    expect(await held(payer)).toBe(10_000_000n);
  });

  test('rule 5: the allowance limits payments as the balance does, and the next attempt sees a new balance', async () => {
    const payer = consumer(10_000_000n, 1_000_000n);
    await paid(payer);
    expect(await outcome(pay(payer, quote()))).toBe('delegation_inactive');
    snapshots.set(payer.owner, { balance: 9_000_000n, allowance: 5_000_000n, slot: 150 });
    expect((await paid(payer)).answer.status).toBe('confirmed');
  });

  test('rule 5: a snapshot of a node that lags, from before a confirmation, does not restore the amount', async () => {
    const payer = consumer(1_000_000n);
    const first = snapshots.get(payer.owner)!;
    const { settlementId } = await underWay(payer);
    await publishProgress(settlementId, 'confirmed', { slot: first.slot + 20 });
    await until(
      () => held(payer),
      (micro) => micro === 0n,
    );
    snapshots.set(payer.owner, { ...first, slot: first.slot + 19 });
    expect(await outcome(pay(payer, quote()))).toBe('insufficient_funds');
    snapshots.set(payer.owner, { ...first, slot: first.slot + 20 });
    expect((await paid(payer)).answer.status).toBe('confirmed');
  });

  test('rule 6: the job carries account, attempt, dispatch count and generation; another dispatch has a new message id', async () => {
    const payer = consumer();
    const { settlementId } = await underWay(payer, quote(), 'dispatched');
    const ids: string[] = [];
    const dispatch = (rows: readonly { msg_id: string }[]) => ids.push(...rows.map(({ msg_id }) => msg_id));
    const relay = { ...deps.relay, dispatch };
    await database.withClock('16 seconds', () => resumeSettlements({ ...deps, relay })());
    expect(ids).toContain(`chain-submitter.settle:${payer.account_id}:dispatched:2`);
    expect((await row(settlementId)).dispatch_count).toBe(2);
    await admin.query('delete from outbox');
    await publishProgress(settlementId, 'signed', { generation: 3, slot: null });
    await until(
      () => row(settlementId),
      ({ tx_hash }) => tx_hash !== null,
    );
    const generations: unknown[] = [];
    const collect = (rows: readonly { payload: unknown }[]) =>
      generations.push(...rows.map(({ payload }) => (payload as { generation: number }).generation));
    await database.withClock('16 seconds', () =>
      resumeSettlements({ ...deps, relay: { ...deps.relay, dispatch: collect } })(),
    );
    expect(generations).toContain(3);
    await admin.query('delete from outbox');
  });

  test('no wallet, a payment to oneself and an altered token are refused and not recorded', async () => {
    const walletless: Principal = { kind: 'jwt', account_id: newId('acct'), session_id: 's', auth_time: 0 };
    expect(await outcome(pay(walletless, quote()))).toBe('delegation_inactive');
    const self = consumer();
    wallets.set(self.account_id, { wallet_id: newId('wal'), owner: PAYOUT });
    expect(await outcome(pay(self, quote()))).toBe('conflict');
    expect(await outcome(pay(consumer(), { quote_token: `${quote().quote_token}A` }))).toBe(
      'validation_error',
    );
  });

  test('a valid quote of another mint is refused and not recorded', async () => {
    const payer = consumer();
    const foreign = quote(1_000_000n, { mint: 'SysvarRent111111111111111111111111111111111' });
    await expect(pay(payer, foreign)).rejects.toMatchObject({
      code: 'validation_error',
      extras: {
        money_moved: 'no',
        details: [{ path: 'quote_token', message: 'is not a quote of this network' }],
      },
    });
    const { rowCount } = await admin.query('select from settlements where quote_id = $1', [foreign.quote_id]);
    expect([rowCount, await held(payer)]).toEqual([0, 0n]);
  });
});

describe('waiting for the outcome', () => {
  test('a batch of signed payments: each gets its own hash, unless it is confirmed or signed again by now', async () => {
    const [first, again, done] = [await underWay(consumer()), await underWay(consumer()), await paid()];
    const signed = (payment: { settlementId: string }, generation: number, tx_hash: string) => ({
      object_id: payment.settlementId,
      generation,
      tx_hash,
    });
    const hashes = async () => {
      const rows = await Promise.all([first, again, done].map(({ settlementId }) => row(settlementId)));
      return rows.map(({ tx_hash }) => tx_hash);
    };
    await recordSigned(deps.pool, [signed(done, 1, 'x'), signed(again, 1, 'b1'), signed(first, 1, 'a1')]);
    expect(await hashes()).toEqual(['a1', 'b1', HASH[0]]);
    await recordSigned(deps.pool, [signed(again, 2, 'b2')]);
    // The event of the first bytes is delivered once more.
    await recordSigned(deps.pool, [signed(first, 1, 'x'), signed(again, 1, 'x')]);
    expect(await hashes()).toEqual(['a1', 'b2', HASH[0]]);
  });

  test('without an event in time the answer is pending, with the hash once signed and without a token', async () => {
    const payer = consumer();
    const q = quote();
    const { settlementId, answer } = await underWay(payer, q, 'slow');
    await publishProgress(settlementId, 'signed');
    expect(await answer).toEqual({ settlement_id: settlementId, status: 'pending', tx_hash: HASH[0] });
    await publishProgress(settlementId, 'confirmed');
    await until(
      () => row(settlementId),
      ({ status }) => status === 'issued',
    );
    expect(await pay(payer, q, 'slow')).toMatchObject({ settlement_id: settlementId, status: 'confirmed' });
  });

  test('a proven failure stays with its id, releases the hold, and leaves the quote to another attempt', async () => {
    const payer = consumer();
    const q = quote();
    const { settlementId, answer } = await underWay(payer, q, 'fails');
    await publishProgress(settlementId, 'failed', {
      generation: 0,
      tx_hash: null,
      slot: null,
      failure: { code: 'insufficient_funds', message: 'too little' },
    });
    expect(await outcome(answer)).toBe('insufficient_funds');
    expect(await outcome(pay(payer, q, 'fails'))).toBe('insufficient_funds');
    expect(await held(payer)).toBe(0n);
    expect((await paid(payer, q, 'again')).answer.status).toBe('confirmed');
  });
});
