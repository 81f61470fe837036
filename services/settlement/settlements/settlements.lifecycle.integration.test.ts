import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Progress } from '../../../shared/contract/chain-submitter.ts';
import type { Principal } from '../../../shared/contract/principal.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { newId, newServiceId } from '../../../shared/lib/id.ts';
import { signToken } from '../../../shared/lib/tokens/compact-token.ts';
import {
  admin,
  callAs,
  database,
  delegateOf,
  deps,
  HASH,
  held,
  issuedEvents,
  outcome,
  paid,
  pay,
  publishProgress,
  quote,
  reversedEvents,
  row,
  type SettleAnswer,
  serviceKey,
  startFixture,
  stopFixture,
  storedSnapshot,
  underWay,
  until,
  untilChainStatus,
  untilEventsHandled,
} from '../../../test/support/fixtures/settlement/settlement.ts';
import { consumer, wallets } from '../../../test/support/fixtures/settlement/settlement-peers.ts';
import { vendor } from '../../../test/support/fixtures/settlement/settlement-quotes.ts';
import { atOnce, tally } from '../../../test/support/servers/stack.ts';
import { expireSettlements } from '../delivering/expire-settlements.ts';
import { type ChainStatus, type Event, next, type Status } from '../record/model/status.ts';
import { resumeSettlements } from '../settling/resume-settlements.ts';
import { onSettleProgressed } from './on-chain-submitter-settle-progressed.ts';

beforeAll(startFixture);
afterAll(stopFixture);

describe('rule 14: confirmed, finalized, forked', () => {
  test('a confirmed payment is subtracted from the snapshot once, and its hold is released', async () => {
    const payer = consumer(3_000_000n);
    const { settlementId } = await paid(payer);
    expect(await held(payer)).toBe(0n);
    expect(await storedSnapshot(payer)).toEqual({ balance: '2000000', allowance: '2000000' });
    for (const status of ['confirmed', 'finalized', 'confirmed', 'finalized'] as const)
      await publishProgress(settlementId, status);
    await untilEventsHandled();
    expect((await row(settlementId)).chain_status).toBe('finalized');
    expect(await storedSnapshot(payer)).toEqual({ balance: '2000000', allowance: '2000000' });
  });

  test.each(['a sign-in', 'a delegate'])(
    'the payment of %s is published as issued once, however often it is confirmed',
    async (who) => {
      const account = consumer();
      const payer = who === 'a sign-in' ? account : await delegateOf(account);
      const q = quote(2_500_000n);
      const { settlementId } = await paid(payer, q);
      for (const status of ['confirmed', 'reopened', 'confirmed', 'finalized'] as const)
        await publishProgress(settlementId, status);
      await untilChainStatus(settlementId, 'finalized');
      const { rows } = await admin.query('select issued_at from settlements where settlement_id = $1', [
        settlementId,
      ]);
      expect(issuedEvents.filter(({ settlement_id }) => settlement_id === settlementId)).toEqual([
        {
          event: 'issued',
          settlement_id: settlementId,
          rail: 'quittance',
          payees: null,
          item: null,
          payer_address: null,
          quote_id: q.quote_id,
          scope: null,
          tx_hash: HASH[0],
          account_id: account.account_id,
          delegate_id: payer.kind === 'delegate_key' ? payer.delegate_id : null,
          wallet_id: wallets.get(account.account_id)!.wallet_id,
          service_id: vendor.service_id,
          vendor_account_id: vendor.account_id,
          quote_amount: '2500000',
          fee_amount: '10000',
          issued_at: rows[0].issued_at.toISOString(),
        },
      ]);
    },
  );

  test('a snapshot that is newer than the confirmation already contains the payment', async () => {
    const payer = consumer(3_000_000n);
    const { settlementId, answer } = await underWay(payer);
    await admin.query('update payers set as_of_slot = 500, balance = 2000000 where account_id = $1', [
      payer.account_id,
    ]);
    await publishProgress(settlementId, 'confirmed', { slot: 400 });
    await answer;
    expect(await storedSnapshot(payer)).toEqual({ balance: '2000000', allowance: '3000000' });
  });

  test('a payment that a fork removes is executed again on the same settlement, and its old hash becomes a superseded one', async () => {
    const payer = consumer();
    const q = quote();
    const { settlementId, answer } = await paid(payer, q, 'forked');
    await publishProgress(settlementId, 'reopened');
    await untilChainStatus(settlementId, 'pending');
    expect(await held(payer)).toBe(1_000_000n);
    const token = { settlement_id: settlementId, settlement_token: answer.settlement_token };
    expect(await outcome(callAs(serviceKey, 'redeem', token))).toBe('conflict');
    await publishProgress(settlementId, 'confirmed', { generation: 2, tx_hash: HASH[1], slot: 140 });
    await untilChainStatus(settlementId, 'confirmed');
    expect(await pay(payer, q, 'forked')).toEqual({
      ...answer,
      tx_hash: HASH[1],
      superseded_tx_hashes: [HASH[0]],
    });
    expect(await held(payer)).toBe(0n);
    expect(await callAs(serviceKey, 'redeem', token)).toMatchObject({ status: 'redeemed', replayed: false });
  });

  test('a payment reversed for good: a settlement that was not redeemed fails, a redeemed one stays redeemed', async () => {
    const lost = await paid();
    await publishProgress(lost.settlementId, 'reopened');
    await publishProgress(lost.settlementId, 'failed', {
      failure: { code: 'payment_failed', message: 'reversed' },
    });
    await until(
      () => row(lost.settlementId),
      ({ status }) => status === 'failed',
    );
    const served = await paid();
    const redeemed = { settlement_id: served.settlementId, settlement_token: served.answer.settlement_token };
    await callAs(serviceKey, 'redeem', redeemed);
    await publishProgress(served.settlementId, 'reopened');
    await publishProgress(served.settlementId, 'failed', {
      failure: { code: 'payment_failed', message: 'reversed' },
    });
    await untilChainStatus(served.settlementId, 'failed');
    expect(await callAs(serviceKey, 'verify', { settlement_id: served.settlementId })).toMatchObject({
      status: 'redeemed',
      chain_status: 'failed',
    });
    expect(await callAs(serviceKey, 'redeem', redeemed)).toMatchObject({
      status: 'redeemed',
      replayed: true,
    });
    await until(
      async () => reversedEvents.length,
      (count) => count === 2,
    );
    expect(reversedEvents.map(({ settlement_id, redeemed }) => [settlement_id, redeemed])).toEqual([
      [lost.settlementId, false],
      [served.settlementId, true],
    ]);
    const dead = { settlement_id: lost.settlementId, settlement_token: lost.answer.settlement_token };
    expect(await outcome(callAs(serviceKey, 'redeem', dead))).toBe('conflict');
  });

  test('an event of a finalized payment that had failed leaves the answer as it is and is quarantined for an operator', async () => {
    const payer = consumer();
    const { settlementId, answer } = await underWay(payer);
    const firstAnswer = outcome(answer);
    await publishProgress(settlementId, 'failed', {
      failure: { code: 'payment_failed', message: 'not in time' },
    });
    expect(await firstAnswer).toBe('payment_failed');
    const quarantined = async () =>
      (await admin.query('select convert_from(body, $1) as body, reason from quarantine', ['utf8'])).rows;
    // The event may be from before a fork that led to the failure, so it proves no contradiction
    // yet.
    await publishProgress(settlementId, 'confirmed');
    await publishProgress(settlementId, 'finalized');
    const [entry, more] = await until(quarantined, ({ length }) => length > 0);
    expect(JSON.parse(entry.body)).toMatchObject({ object_id: settlementId, status: 'finalized' });
    expect(entry.reason).toMatch(/failed.*finalized/);
    expect(more).toBeUndefined();
    expect(await row(settlementId)).toMatchObject({ status: 'failed', chain_status: 'failed' });
    expect(await held(payer)).toBe(0n);
    await admin.query('delete from quarantine');
  });

  test('an event of a failed payment that was finalized leaves the payment as it is and is quarantined', async () => {
    const { settlementId } = await paid();
    await publishProgress(settlementId, 'finalized');
    await untilChainStatus(settlementId, 'finalized');
    await publishProgress(settlementId, 'failed', {
      failure: { code: 'payment_failed', message: 'not in time' },
    });
    const quarantined = async () => (await admin.query('select reason from quarantine')).rows;
    const [entry] = await until(quarantined, ({ length }) => length > 0);
    expect(entry.reason).toMatch(/finalized.*failed/);
    expect(await row(settlementId)).toMatchObject({ status: 'issued', chain_status: 'finalized' });
    await admin.query('delete from quarantine');
  });

  test('an event of a settlement that this database does not have is dropped, not retried', async () => {
    const unknown = { object_id: newId('stl'), generation: 1, tx_hash: HASH[0], slot: 101, failure: null };
    for (const status of ['signed', 'confirmed', 'finalized', 'reopened', 'failed'] as const)
      await expect(onSettleProgressed(deps)({ ...unknown, status })).resolves.toBeUndefined();
  });

  const states = [
    'pending/pending',
    'issued/confirmed',
    'issued/pending',
    'issued/finalized',
    'redeemed/confirmed',
    'redeemed/pending',
    'redeemed/finalized',
    'redeemed/failed',
    'expired/confirmed',
    'expired/finalized',
    'failed/failed',
  ];
  const events: Event[] = ['signed', 'confirmed', 'finalized', 'reopened', 'failed', 'redeem', 'consume'];
  test.each(states)('the SQL has the transitions of the table, from %s', async (from) => {
    const [status, chain_status] = from.split('/') as [Status, ChainStatus];
    for (const event of events) {
      const { settlementId, answer } = await paid(consumer(), quote(1_000_000n, { scope: { units: 5 } }));
      const redeemedAt = status === 'redeemed' ? 'public.app_now()' : 'null';
      const failure = status === 'failed' || chain_status === 'failed' ? "'payment_failed'" : 'null';
      await admin.query(
        `update settlements set status = $2, chain_status = $3, holding = false, redeemed_at = ${redeemedAt},
           under_way_since = case when $3 in ('pending', 'confirmed') then created_at end,
           expires_from = case when $2 in ('pending', 'issued') then created_at end, failure_code = ${failure} where settlement_id = $1`,
        [settlementId, status, chain_status],
      );
      const token = { settlement_id: settlementId, settlement_token: answer.settlement_token };
      if (event === 'redeem') await outcome(callAs(serviceKey, 'redeem', token));
      else if (event === 'consume') {
        await outcome(callAs(serviceKey, 'consume', { ...token, units: 1, request_id: 'r' }));
      } else {
        const failed =
          event === 'failed' ? { failure: { code: 'payment_failed' as const, message: 'x' } } : {};
        await onSettleProgressed(deps)({
          object_id: settlementId,
          status: event as Progress['status'],
          generation: 1,
          tx_hash: HASH[0],
          slot: 102,
          failure: null,
          ...failed,
        });
      }
      const expected = next({ status, chain: chain_status }, event) ?? { status, chain: chain_status };
      const after = await row(settlementId);
      expect([event, after.status, after.chain_status]).toEqual([event, expected.status, expected.chain]);
    }
  });
});

describe('redeem and expiry', () => {
  const token = (p: { settlementId: string; answer: SettleAnswer }) => ({
    settlement_id: p.settlementId,
    settlement_token: p.answer.settlement_token,
  });

  test('64 concurrent redeems give one redeemed_at, and one answer is not a replay', async () => {
    const p = await paid();
    type Redeemed = { redeemed_at: string; replayed: boolean; redeem_id: string };
    const answers = await atOnce(64, (i) =>
      callAs<Redeemed>(serviceKey, 'redeem', { ...token(p), redeem_id: `r${i}` }),
    );
    expect(tally(answers.map(({ replayed }) => replayed))).toEqual({ false: 1, true: 63 });
    expect(new Set(answers.map(({ redeemed_at, redeem_id }) => `${redeemed_at} ${redeem_id}`)).size).toBe(1);
  });

  test('after the window redeem answers 410, before and after the expiry job; of a concurrent redeem and expiry one wins', async () => {
    const p = await paid(consumer(), quote(1_000_000n, { window: 30 }));
    const racing = await atOnce(8, () => paid(consumer(), quote(1_000_000n, { window: 30 })));
    await database.withClock('31 seconds', async () => {
      expect(await outcome(callAs(serviceKey, 'redeem', token(p)))).toBe('settlement_expired');
      expect(await callAs(serviceKey, 'verify', { settlement_id: p.settlementId })).toMatchObject({
        status: 'expired',
      });
      await expireSettlements(deps)();
      expect((await row(p.settlementId)).status).toBe('expired');
      expect(await outcome(callAs(serviceKey, 'redeem', token(p)))).toBe('settlement_expired');
    });
    // The windows end within some milliseconds of each other, so that redeems come before and after
    // the end.
    await admin.query(
      `update settlements set status = 'issued', redeem_expires_at = clock_timestamp() + ord * interval '8 ms',
         expires_from = created_at
       from unnest($1::text[]) with ordinality as input(id, ord) where settlement_id = id`,
      [racing.map((r) => r.settlementId)],
    );
    const won = await Promise.all(
      racing.map(async (r) => {
        const [answer] = await Promise.all([
          outcome(callAs(serviceKey, 'redeem', token(r))),
          expireSettlements(deps)(),
        ]);
        return [answer, (await row(r.settlementId)).status];
      }),
    );
    for (const [answer, status] of won) {
      if (answer === 'ok') expect(status).toBe('redeemed');
      else expect(answer).toBe('settlement_expired');
    }
  });

  test('an unconfirmed payment or a token of another settlement is not redeemed; another service gets 404', async () => {
    const payer = consumer();
    const { settlementId, answer } = await underWay(payer);
    const other = await paid();
    const forged = { settlement_id: settlementId, settlement_token: other.answer.settlement_token };
    expect(await outcome(callAs(serviceKey, 'redeem', forged))).toBe('validation_error');
    const stranger: Principal = {
      kind: 'service_key',
      key_id: 'k',
      account_id: newId('acct'),
      service_id: newServiceId(),
    };
    expect(await outcome(callAs(stranger, 'redeem', token(other)))).toBe('not_found');
    expect(await outcome(callAs(stranger, 'verify', { settlement_id: other.settlementId }))).toBe(
      'not_found',
    );
    await answer;
  });

  test('a validly signed token that was never issued answers 400, and the settlement stays issued', async () => {
    const p = await paid();
    const [payload] = p.answer.settlement_token!.split('.');
    const claims = JSON.parse(Buffer.from(payload!, 'base64url').toString());
    const stolen = signToken('settlement', { ...claims, issued_at: isoTime(0) }, deps.signingKey);
    const forged = { settlement_id: p.settlementId, settlement_token: stolen };
    expect(await outcome(callAs(serviceKey, 'redeem', forged))).toBe('validation_error');
    expect((await row(p.settlementId)).status).toBe('issued');
    expect(await callAs(serviceKey, 'redeem', token(p))).toMatchObject({ replayed: false });
    expect(await outcome(callAs(serviceKey, 'redeem', forged))).toBe('validation_error');
  });
});

describe('rule 16: no payment stalls', () => {
  beforeEach(() =>
    admin.query("update settlements set progressed_at = public.app_now() + interval '1 hour'"),
  );

  test('a payment without progress for 15 s is dispatched again by one of two replicas, and not earlier', async () => {
    const payer = consumer();
    const { settlementId } = await underWay(payer);
    await resumeSettlements(deps)();
    expect((await row(settlementId)).dispatch_count).toBe(1);
    await database.withClock('16 seconds', async () => {
      await Promise.all([resumeSettlements(deps)(), resumeSettlements(deps)()]);
    });
    expect((await row(settlementId)).dispatch_count).toBe(2);
  });
});
