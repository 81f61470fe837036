import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { createCloseAccountInstruction } from '@solana/spl-token';
import { Keypair, type PublicKey } from '@solana/web3.js';
import { call } from '../../../shared/bus/call.ts';
import { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import { ServiceError } from '../../../shared/contract/errors.ts';
import { newId } from '../../../shared/lib/id.ts';
import { staysFor } from '../../../test/support/base/wait.ts';
import { signChanged } from '../../../test/support/fixtures/chain-submitter/prepared.ts';
import {
  keypairOf,
  type Payer,
  type SubmitterFixture,
  startSubmitterFixture,
  until,
} from '../../../test/support/fixtures/chain-submitter/submitter.ts';
import { codeOf, transfersOver } from '../../../test/support/fixtures/chain-submitter/transfers.ts';

/** What the fee payer may spend in a day, and what happens to requests that exceed it. */
const RENT = 2_039_280n;
const TEN_ACCOUNTS = String(10n * RENT);

let fixture: SubmitterFixture;
let stopping: (() => Promise<unknown>) | undefined;
beforeAll(async () => {
  fixture = await startSubmitterFixture();
});
afterEach(async () => {
  await fixture.chain.call('chain_clock', { paused: false });
  await stopping?.();
  stopping = undefined;
});
afterAll(() => fixture.stop());

/** Each test starts a new day, on which nothing is reserved. */
const start = async (env: Record<string, string> = {}) => {
  await fixture.admin.query('delete from spending').catch(() => {});
  stopping = (await fixture.start(env)).stop;
};
const { prepare, submit } = transfersOver(() => fixture);
const refusalOf = (work: Promise<unknown>): Promise<ServiceError> =>
  work.then(
    () => {
      throw new Error('the call was not refused');
    },
    (error: unknown) => {
      if (error instanceof ServiceError) return error;
      throw error;
    },
  );

const promise = async (account_id: string, owner: PublicKey, untilMs = 700_000) =>
  call(await fixture.quoteBus(), chainSubmitter, 'reserveTokenAccount', {
    ...{ account_id, owner: owner.toBase58(), until: new Date(Date.now() + untilMs).toISOString() },
  });
const reserved = async (scope: string): Promise<bigint> => {
  const { rows } = await fixture.admin.query<{ reserved: string }>(
    "select reserved from spending where scope = $1 and period = date_trunc('day', public.app_now(), 'UTC')",
    [scope],
  );
  return BigInt(rows[0]?.reserved ?? 0);
};
const delegationOf = async ({ owner, account_id }: Payer, allowance: string | null) => {
  const preparation_id = newId('prep');
  const { transaction } = await call(fixture.walletBus, chainSubmitter, 'prepareDelegation', {
    ...{ preparation_id, account_id, owner: owner.publicKey.toBase58(), allowance },
  });
  return { preparation_id, transaction: signChanged(transaction, owner) };
};
const submitDelegation = (prepared: { preparation_id: string; transaction: string }) =>
  call(fixture.walletBus, chainSubmitter, 'submitPrepared', prepared);
/** Prepares and submits, and waits until the delegation is confirmed. */
const delegate = async (payer: Payer, allowance: string | null) => {
  const prepared = await delegationOf(payer, allowance);
  await submitDelegation(prepared);
  await fixture.events.wait(prepared.preparation_id, 'confirmed');
};

test('token-account grants of quotes are limited by the rent budget of the day, and a settle consumes its grant', async () => {
  await start({ SETTLE_RENT_LAMPORTS_PER_DAY: TEN_ACCOUNTS });
  const asked = await Promise.all(
    Array.from({ length: 15 }, async () => {
      const [vendor, payout] = [newId('acct'), Keypair.generate().publicKey];
      return { vendor, payout, ...(await promise(vendor, payout)) };
    }),
  );
  const granted = asked.filter(({ status }) => status === 'granted');
  expect(granted).toHaveLength(10);
  const refused = asked.find(({ status }) => status === 'refused')!;
  expect(refused.retry_after_seconds).toBeGreaterThan(0);
  expect(refused.retry_after_seconds).toBeLessThanOrEqual(86_400);
  // A later quote of the same vendor and address uses the same grant.
  expect((await promise(granted[0]!.vendor, granted[0]!.payout)).status).toBe('granted');
  expect(await reserved('rent_settle')).toBe(10n * RENT);

  const payer = await fixture.payer(20_000_000n);
  for (const { vendor, payout } of granted.slice(0, 2)) {
    const job = await fixture.settle(payer, fixture.quote({ vendor, payout }));
    await fixture.events.wait(job.settlement_id, 'confirmed');
  }
  expect(await reserved('rent_settle')).toBe(10n * RENT);
  // This address has no grant and the budget is used up, so the payment waits and is not signed.
  const unpromised = await fixture.settle(payer, fixture.quote());
  const known = await fixture.settle(payer, fixture.quote({ payout: granted[0]!.payout }));
  await fixture.events.wait(known.settlement_id, 'confirmed');
  expect(fixture.events.of(unpromised.settlement_id)).toEqual([]);
  await fixture.admin.query("delete from intents where status = 'accepted'");
});

test('an expired grant releases its rent but keeps its permit, and the rent of a created account stays spent', async () => {
  await start({ SETTLE_RENT_LAMPORTS_PER_DAY: TEN_ACCOUNTS });
  const payer = await fixture.payer(20_000_000n);
  const [vendor, paid] = [newId('acct'), Keypair.generate().publicKey];
  expect((await promise(vendor, paid, 3000)).status).toBe('granted');
  const job = await fixture.settle(payer, fixture.quote({ vendor, payout: paid }));
  await fixture.events.wait(job.settlement_id, 'confirmed');
  const [other, lapsing] = [newId('acct'), Keypair.generate().publicKey];
  expect((await promise(other, lapsing, 1000)).status).toBe('granted');
  expect(await reserved('rent_settle')).toBe(2n * RENT);
  await until(
    () => reserved('rent_settle'),
    (lamports) => lamports === RENT,
  );
  expect(await reserved(`rent_settle/account/${other}`)).toBe(0n);
  const { rows } = await fixture.admin.query('select from grants where account_id = $1', [other]);
  expect(rows).toHaveLength(1);
  expect((await promise(other, lapsing)).status).toBe('granted');
  expect(await reserved('rent_settle')).toBe(2n * RENT);
});

test('one account uses at most a tenth of an environment’s rent budget', async () => {
  await start({ SETTLE_RENT_LAMPORTS_PER_DAY: TEN_ACCOUNTS });
  const vendor = newId('acct');
  const fresh = () => Keypair.generate().publicKey;
  expect((await promise(vendor, fresh())).status).toBe('granted');
  expect(await promise(vendor, fresh())).toMatchObject({
    status: 'refused',
    retry_after_seconds: expect.any(Number),
  });
  expect((await promise(newId('acct'), fresh())).status).toBe('granted');
});

test('a co-signature over the daily limit is refused before anything is signed, and revokes have a separate limit', async () => {
  await start({ COSIGNATURES_PER_DAY: '3', REVOKES_PER_DAY: '2' });
  const payer = await fixture.payer(5_000_000n);
  await delegate(payer, '1');
  await delegate(payer, '2');
  // Two transactions are prepared while one co-signature is left. The second submission is refused,
  // and can be repeated on the next day.
  const to = (await fixture.payer(0n)).owner.publicKey;
  const [one, two] = [await prepare(payer, to, 1n), await prepare(payer, to, 1n)];
  await submit(one);
  const refused = await refusalOf(submit(two));
  expect(refused).toMatchObject({ code: 'rate_limited', extras: { money_moved: 'no' } });
  expect(refused.extras.retryAfterSeconds).toBeGreaterThan(0);
  expect(refused.extras.retryAfterSeconds).toBeLessThanOrEqual(86_400);
  expect(await codeOf(delegationOf(payer, '3'))).toBe('rate_limited');
  const { rows } = await fixture.admin.query('select status from preparations where preparation_id = $1', [
    two.id,
  ]);
  expect(rows).toEqual([{ status: 'open' }]);
  const { rowCount } = await fixture.admin.query('select from intents where object_id = $1', [two.id]);
  expect(rowCount).toBe(0);

  await delegate(payer, null);
  await delegate(payer, null);
  expect(await codeOf(delegationOf(payer, null))).toBe('rate_limited');
  // Another account is not affected.
  await delegate(await fixture.payer(5_000_000n), '1');

  // An operator raises both limits for this account.
  const operator = await fixture.operatorBus();
  const raised = await call(operator, chainSubmitter, 'setCosigningFactor', {
    ...{ account_id: payer.account_id, factor: 2, reason: 'ticket 1042' },
  });
  expect(raised).toMatchObject({
    changed: true,
    cosigning: { factor: 2, cosignatures: { used: 3, per_day: 6 }, revokes: { used: 2, per_day: 4 } },
  });
  await submit(two);
  await fixture.events.wait(two.id, 'confirmed');
});

test('20 concurrent submissions never exceed the limit', async () => {
  await start({ COSIGNATURES_PER_DAY: '5' });
  const payer = await fixture.payer(5_000_000n);
  const to = (await fixture.payer(0n)).owner.publicKey;
  const prepared = [];
  for (let each = 0; each < 12; each += 1) prepared.push(await prepare(payer, to, BigInt(each + 1)));
  const codes = await Promise.all(prepared.map((one) => codeOf(submit(one))));
  expect(codes.filter((code) => code === 'ok')).toHaveLength(5);
  expect(codes.filter((code) => code === 'rate_limited')).toHaveLength(7);
  expect(await reserved(`fees_user/account/${payer.account_id}`)).toBe(50_000n);
});

test('each settlement pays for one refund regardless of the vendor’s limit, and further refunds count against it', async () => {
  await start({ COSIGNATURES_PER_DAY: '1' });
  const [buyer, vendor] = [await fixture.payer(5_000_000n), await fixture.payer(5_000_000n)];
  await delegate(vendor, '1');
  const refund = async (settlement_id: string) =>
    submit(
      await prepare(vendor, buyer.owner.publicKey, 1n, {
        ...{ transfer: 'refund', object_id: newId('ref'), settlement_id },
        ...{ account_id: buyer.account_id, budget_account_id: vendor.account_id },
      }),
    );
  const [first, second] = [newId('stl'), newId('stl')];
  expect(await codeOf(refund(first))).toBe('ok');
  expect(await codeOf(refund(first))).toBe('rate_limited');
  expect(await codeOf(refund(second))).toBe('ok');
  // The refund does not use the buyer’s co-signatures.
  await delegate(buyer, '1');
});

test('settles and user-signed transactions have separate budgets, and the first revoke of a day is never refused', async () => {
  const least = TEN_ACCOUNTS;
  await start({ USER_FEES_LAMPORTS_PER_DAY: least, REVOKE_FEES_LAMPORTS_PER_DAY: least });
  const payer = await fixture.payer(5_000_000n);
  const payout = (await fixture.payer(0n)).owner.publicKey;
  await fixture.admin.query(
    `insert into spending (scope, period, reserved)
     select scope, date_trunc('day', public.app_now(), 'UTC'), $1 from unnest('{fees_user,fees_revoke}'::text[]) scope`,
    [least],
  );
  const refused = await refusalOf(delegationOf(payer, '1'));
  expect(refused).toMatchObject({ code: 'service_unavailable', extras: { money_moved: 'no' } });
  expect(refused.extras.retryAfterSeconds).toBeGreaterThan(60);
  await delegate(payer, null);
  expect(await codeOf(delegationOf(payer, null))).toBe('service_unavailable');
  // The wallet's allowance is revoked, so another wallet pays.
  const job = await fixture.settle(await fixture.payer(5_000_000n), fixture.quote({ payout }));
  await fixture.events.wait(job.settlement_id, 'confirmed');
});

test('a settle reserves its fee and one refund from the payer’s, the vendor’s and the environment’s budget, and settlement learns when a budget is used up', async () => {
  const cap = 10n * RENT;
  await start({ SETTLE_FEES_LAMPORTS_PER_DAY: String(cap) });
  const observe = () => call(fixture.settlementBus, chainSubmitter, 'observeChain', {});
  expect(await observe()).toEqual({ readable: true, budget_refills_in_seconds: null });
  const payer = await fixture.payer(5_000_000n);
  const payout = (await fixture.payer(0n)).owner.publicKey;
  const vendor = newId('acct');
  const job = await fixture.settle(payer, fixture.quote({ payout, vendor }));
  await fixture.events.wait(job.settlement_id, 'confirmed');
  expect(await reserved(`fees_settle/account/${payer.account_id}`)).toBe(20_000n);
  // The first allotment of a process is what it needs.
  expect(await reserved('fees_settle')).toBe(20_000n);
  expect(await reserved(`fees_settle/vendor/${vendor}`)).toBe(20_000n);

  await fixture.admin.query("update spending set reserved = $1 where scope = 'fees_settle'", [cap]);
  const observed = await observe();
  expect(observed.budget_refills_in_seconds).toBeGreaterThan(0);
  // Settles do not use up the budget of users.
  await delegate(payer, '1');
});

test('a payer’s second payment reserves several in advance, and two replicas never exceed the payer’s tenth', async () => {
  const cap = 10_000_000_000n;
  await start({ SETTLE_FEES_LAMPORTS_PER_DAY: String(cap) });
  const payer = await fixture.payer(50_000_000n);
  const payout = (await fixture.payer(0n)).owner.publicKey;
  const scope = `fees_settle/account/${payer.account_id}`;
  const pay = async () => (await fixture.settle(payer, fixture.quote({ payout }))).settlement_id;
  const paid = async () => void (await fixture.events.wait(await pay(), 'confirmed'));
  await paid();
  expect(await reserved(scope)).toBe(20_000n);
  const ahead = cap / 10n / 1000n;
  for (let times = 0; times < 3; times += 1) await paid();
  expect(await reserved(scope)).toBe(20_000n + ahead);
  // What another process has reserved in advance is not available to this one.
  await stopping?.();
  stopping = (await fixture.start({ SETTLE_FEES_LAMPORTS_PER_DAY: String(cap) })).stop;
  await paid();
  expect(await reserved(scope)).toBe(40_000n + ahead);

  // The budget is too small to reserve in advance: exact amounts are reserved, and then payments
  // wait.
  await fixture.admin.query('update spending set reserved = $2 where scope = $1', [
    scope,
    cap / 10n - 59_999n,
  ]);
  const second = await fixture.start({ SETTLE_FEES_LAMPORTS_PER_DAY: String(cap) });
  try {
    const ids = await Promise.all(Array.from({ length: 6 }, pay));
    const confirmed = () => ids.filter((id) => fixture.events.names(id).includes('settleProgressed')).length;
    await until(
      async () => confirmed(),
      (count) => count >= 2,
    );
    await staysFor(500, confirmed, (count) => count === 2);
    expect(await reserved(scope)).toBe(cap / 10n - 19_999n);
  } finally {
    await second.stop();
  }
  await fixture.admin.query("delete from intents where status = 'accepted'");
});

test('when a payer’s or a vendor’s tenth is used up, the payment waits unsigned and the vendor gets no more quotes', async () => {
  const cap = 10n * RENT;
  await start({ SETTLE_FEES_LAMPORTS_PER_DAY: String(cap) });
  const [payer, other] = [await fixture.payer(5_000_000n), await fixture.payer(5_000_000n)];
  const payout = (await fixture.payer(0n)).owner.publicKey;
  const vendor = newId('acct');
  const fill = (scope: string) =>
    fixture.admin.query("insert into spending values ($1, date_trunc('day', public.app_now(), 'UTC'), $2)", [
      scope,
      cap / 10n - 19_999n,
    ]);
  await fill(`fees_settle/account/${payer.account_id}`);
  await fill(`fees_settle/vendor/${vendor}`);
  const waits = [
    await fixture.settle(payer, fixture.quote({ payout })),
    await fixture.settle(other, fixture.quote({ payout, vendor })),
  ];
  const paid = await fixture.settle(other, fixture.quote({ payout }));
  await fixture.events.wait(paid.settlement_id, 'confirmed');
  for (const { settlement_id } of waits) expect(fixture.events.of(settlement_id)).toEqual([]);
  expect(await refusalOf(promise(vendor, payout))).toMatchObject({ code: 'rate_limited' });
  expect((await promise(newId('acct'), payout)).status).toBe('exists');
  await fixture.admin.query("delete from intents where status = 'accepted'");
});

test('the platform creates the token account of an address once, even if more transfers were prepared or the account was closed', async () => {
  await start();
  const { include, keys, outside } = fixture;
  const payer = await fixture.payer(5_000_000n);
  const fresh = Keypair.generate();
  const [one, two, other] = [
    await prepare(payer, fresh.publicKey, 1n),
    await prepare(payer, fresh.publicKey, 1n),
    await prepare({ ...payer, account_id: newId('acct') }, fresh.publicKey, 1n),
  ];
  await submit(one);
  await fixture.events.wait(one.id, 'confirmed');
  const account = outside.tokenAccount(fresh.publicKey);
  const minter = keypairOf(keys.mintAuthority.secretKey);
  const back = await prepare({ ...payer, owner: fresh }, payer.owner.publicKey, 1n);
  await submit(back);
  await fixture.events.wait(back.id, 'confirmed');
  await include([createCloseAccountInstruction(account, minter.publicKey, fresh.publicKey)], [minter, fresh]);
  expect(await codeOf(submit(two))).toBe('conflict');
  expect(await codeOf(submit(other))).toBe('conflict');
  expect(await outside.connection.getAccountInfo(account)).toBeNull();
});

test('of concurrent payments to a new vendor, one creates the token account and the others wait for it', async () => {
  await start();
  const payers = await Promise.all(Array.from({ length: 4 }, () => fixture.payer(5_000_000n)));
  const { payout } = fixture.quote();
  await fixture.chain.call('chain_clock', { paused: true });
  const jobs = await Promise.all(payers.map((payer) => fixture.settle(payer, fixture.quote({ payout }))));
  const creations = async () => {
    const { rows } = await fixture.admin.query<{ n: number }>(
      'select count(*)::int as n from transactions where creates = $1',
      [payout.toBase58()],
    );
    return rows[0]!.n;
  };
  await until(creations, (n) => n > 0);
  await new Promise((resolve) => setTimeout(resolve, 2500));
  expect(await creations()).toBe(1);
  await fixture.chain.call('chain_clock', { paused: false });
  for (const { settlement_id } of jobs) await fixture.events.wait(settlement_id, 'confirmed');
  expect(await creations()).toBe(1);
});
