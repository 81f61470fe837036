import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createApproveCheckedInstruction } from '@solana/spl-token';
import { Keypair, PublicKey } from '@solana/web3.js';
import { newId } from '../../../shared/lib/id.ts';
import { staysFor } from '../../../test/support/base/wait.ts';
import {
  keypairOf,
  type Quote,
  RETIRED_KID,
  type SubmitterFixture,
  startSubmitterFixture,
  until,
} from '../../../test/support/fixtures/chain-submitter/submitter.ts';
import { referenceOf } from '../ledger/reference.ts';
import { quoteHashOf } from '../ledger/store/final-request.ts';

let fixture: SubmitterFixture;
beforeAll(async () => {
  fixture = await startSubmitterFixture();
  await fixture.start();
});
afterAll(() => fixture.stop());

test('rule 13, rule 12: the first settle creates the vendor’s account, the next has two instructions, and both are found by reference', async () => {
  const { outside, events, keys } = fixture;
  const payer = await fixture.payer(10_000_000n);
  const feeBefore = await outside.balance(keys.feeWallet.address);
  const first = fixture.quote({ amount: 2_500_000n, fee: 12_500n });
  const job = await fixture.settle(payer, first);
  const confirmed = await events.wait(job.settlement_id, 'confirmed');
  expect(await outside.instructions(confirmed.tx_hash!)).toEqual([
    'spl-associated-token-account:createIdempotent',
    'spl-token:transferChecked',
    'spl-token:transferChecked',
  ]);
  const feeAfter = await outside.balance(keys.feeWallet.address);
  expect([
    await outside.balance(first.payout),
    feeAfter - feeBefore,
    await outside.balance(payer.owner.publicKey),
  ]).toEqual([2_487_500n, 12_500n, 7_500_000n]);
  const under = await fixture.chain.call<{ signature: string }[]>(
    'getSignaturesForAddress',
    referenceOf('test', first.quote_id),
    { commitment: 'confirmed' },
  );
  expect(under.map(({ signature }) => signature)).toEqual([confirmed.tx_hash]);

  const second = await fixture.settle(payer, fixture.quote({ payout: first.payout }));
  const next = await events.wait(second.settlement_id, 'confirmed');
  expect(await outside.instructions(next.tx_hash!)).toEqual([
    'spl-token:transferChecked',
    'spl-token:transferChecked',
  ]);
  await events.wait(job.settlement_id, 'finalized');
  expect(events.of(job.settlement_id).map(({ status }) => status)).toEqual(['confirmed', 'finalized']);
});

test('a confirmation that could not be written is observed and written again', async () => {
  const { admin, events } = fixture;
  // A rollback does not return the values of a sequence.
  await admin.query(`
    create sequence refusals;
    create function refuse() returns trigger language plpgsql security definer as $$ begin
      if nextval('chain_submitter.refusals') <= 2 then raise exception 'refused'; end if;
      return new;
    end $$;
    create trigger refuse before update on intents for each row when (new.status = 'confirmed')
      execute function refuse()`);
  try {
    const job = await fixture.settle(await fixture.payer(10_000_000n), fixture.quote());
    await events.wait(job.settlement_id, 'finalized');
    expect(events.of(job.settlement_id).map(({ status }) => status)).toEqual(['confirmed', 'finalized']);
    const { rows } = await admin.query<{ refused: string }>('select last_value as refused from refusals');
    expect(Number(rows[0]!.refused)).toBeGreaterThan(2);
  } finally {
    await admin.query('drop trigger refuse on intents; drop function refuse; drop sequence refusals');
  }
});

test.each([['confirmed'], ['finalized']] as const)(
  'an attempt that is %s and returns under another settlement pays nothing again and fails in bounded time',
  async (status) => {
    const { outside, events } = fixture;
    const payer = await fixture.payer(10_000_000n);
    const quote = fixture.quote();
    const { settlement_id, payment_attempt_id } = await fixture.settle(payer, quote);
    const paid = await events.wait(settlement_id, status);
    // settlement's database was restored to an earlier state, and the client repeated its call.
    const again = await fixture.settle(payer, quote, { payment_attempt_id });
    expect(await events.wait(again.settlement_id, status)).toMatchObject({ tx_hash: paid.tx_hash });
    const other = await fixture.settle(payer, fixture.quote(), { payment_attempt_id });
    expect(await events.wait(other.settlement_id, 'failed')).toMatchObject({
      tx_hash: null,
      failure: { code: 'payment_failed' },
    });
    expect(await outside.balance(payer.owner.publicKey)).toBe(9_000_000n);
  },
);

test('a final payment keeps a hash of its quote token, and no bytes', async () => {
  const { admin, events } = fixture;
  const job = await fixture.settle(await fixture.payer(10_000_000n), fixture.quote());
  await events.wait(job.settlement_id, 'finalized');
  const { rows } = await admin.query(
    `select request, signature, array(select length(wire) from transactions t where t.intent_id = i.intent_id) as bytes
     from intents i where object_id = $1`,
    [job.settlement_id],
  );
  const { accepted_at, payer, quote_token } = job;
  expect(rows).toEqual([
    {
      request: { accepted_at, payer, quote_hash: quoteHashOf({ quote_token }) },
      signature: expect.any(String),
      bytes: [0],
    },
  ]);
});

test('rule 13: 32 concurrent first settles to one new vendor are all included', async () => {
  const { events, outside } = fixture;
  const payers = await Promise.all(Array.from({ length: 8 }, () => fixture.payer(10_000_000n)));
  const { payout } = fixture.quote();
  const vendor = { payout, vendor: newId('acct') };
  const jobs = await Promise.all(
    Array.from({ length: 32 }, (_, index) => fixture.settle(payers[index % 8]!, fixture.quote(vendor))),
  );
  const changes = await Promise.all(jobs.map(({ settlement_id }) => events.wait(settlement_id, 'confirmed')));
  expect(new Set(changes.map(({ tx_hash }) => tx_hash)).size).toBe(32);
  expect(await outside.balance(payout)).toBe(32n * 990_000n);
});

test('rule 12: two settles of one payer to one vendor over one amount are two transfers', async () => {
  const { events, outside } = fixture;
  const payer = await fixture.payer(10_000_000n);
  const { payout } = fixture.quote();
  const jobs = await Promise.all([0, 1].map(() => fixture.settle(payer, fixture.quote({ payout }))));
  const [one, two] = await Promise.all(
    jobs.map(({ settlement_id }) => events.wait(settlement_id, 'confirmed')),
  );
  expect(one!.tx_hash).not.toBe(two!.tx_hash);
  expect(await outside.balance(payer.owner.publicKey)).toBe(8_000_000n);
});

test('rule 6: the same job sent 20 times is one transaction, and each later repeat publishes the current state again', async () => {
  const { events, outside } = fixture;
  const payer = await fixture.payer(10_000_000n);
  const quote = fixture.quote();
  const job = await fixture.settle(payer, quote);
  await Promise.all(Array.from({ length: 20 }, () => fixture.settle(payer, quote, job)));
  await events.wait(job.settlement_id, 'finalized');
  const published = events.of(job.settlement_id).length;
  await fixture.settle(payer, quote, job);
  await until(
    async () => events.of(job.settlement_id),
    (all) => all.length > published,
  );
  expect(events.of(job.settlement_id).at(-1)).toMatchObject({ status: 'finalized', generation: 1 });
  expect(new Set(events.of(job.settlement_id).map(({ tx_hash }) => tx_hash)).size).toBe(1);
  expect(await outside.balance(payer.owner.publicKey)).toBe(9_000_000n);
  const { rows } = await fixture.admin.query(
    'select count(*)::int as signed from transactions where intent_id = $1',
    [`settle:${job.account_id}:${job.payment_attempt_id}`],
  );
  expect(rows[0].signed).toBe(1);
});

const nothingSigned = async (objectId: string) => {
  const { rows } = await fixture.admin.query(
    'select count(*)::int as signed from transactions join intents using (intent_id) where object_id = $1',
    [objectId],
  );
  expect(rows[0].signed).toBe(0);
};

test.each([
  ['balance too small', 999_999n, 5_000_000n, 'insufficient_funds'],
  ['no token account to pay from', 0n, 0n, 'insufficient_funds'],
  ['allowance too small', 5_000_000n, 999_999n, 'delegation_inactive'],
  ['no allowance', 5_000_000n, 0n, 'delegation_inactive'],
])('rule 15: a payment with %s fails before anything is signed', async (_name, balance, allowance, code) => {
  const payer = await fixture.payer(balance, allowance);
  const job = await fixture.settle(payer, fixture.quote());
  const failed = await fixture.events.wait(job.settlement_id, 'failed');
  expect(failed).toMatchObject({ generation: 0, tx_hash: null, failure: { code } });
  await nothingSigned(job.settlement_id);
});

test('rule 15: another delegate on the wallet makes the delegation inactive', async () => {
  const payer = await fixture.payer(5_000_000n);
  const { outside } = fixture;
  const other = Keypair.generate().publicKey;
  const account = outside.tokenAccount(payer.owner.publicKey);
  await fixture.include(
    [createApproveCheckedInstruction(account, outside.mint, other, payer.owner.publicKey, 9n, 6)],
    [keypairOf(fixture.keys.mintAuthority.secretKey), payer.owner],
  );
  const job = await fixture.settle(payer, fixture.quote());
  expect((await fixture.events.wait(job.settlement_id, 'failed')).failure?.code).toBe('delegation_inactive');
});

/**
 * Replaces the last character. It holds the last two bits of a base64url text of 86, so four values
 * occur.
 */
const altered = (token: string): string => `${token.slice(0, -1)}${token.endsWith('A') ? 'Q' : 'A'}`;

test.each([
  ['a quote of a key that was retired before', () => fixture.quote({ kid: RETIRED_KID })],
  ['an altered token', () => ({ quote_token: altered(fixture.quote().quote_token) })],
  ['another mint', () => fixture.quote({ mint: Keypair.generate().publicKey.toBase58() })],
  ['a fee as large as the amount', () => fixture.quote({ amount: 10n, fee: 10n })],
  ['a quote that expired more than 60 s ago', () => fixture.quote({ expiresInMs: -61_000 })],
  [
    'a payout to the fee wallet',
    () => fixture.quote({ payout: new PublicKey(fixture.keys.feeWallet.address) }),
  ],
])('rule 7: a job with %s is refused', async (_name, quoteOf) => {
  const payer = await fixture.payer(5_000_000n);
  const job = await fixture.settle(payer, quoteOf() as Quote);
  expect((await fixture.events.wait(job.settlement_id, 'failed')).failure?.code).toBe('payment_failed');
  await nothingSigned(job.settlement_id);
});

test('rule 7: the operator’s pause delays payments and loses none', async () => {
  const { admin, events } = fixture;
  const payer = await fixture.payer(5_000_000n);
  await admin.query('update settings set paused = true');
  const job = await fixture.settle(payer, fixture.quote());
  await staysFor(
    500,
    () => events.of(job.settlement_id).length,
    (count) => count === 0,
  );
  await admin.query('update settings set paused = false');
  await events.wait(job.settlement_id, 'confirmed');
});

test('rule 11: bytes that never reach the chain get a successor after the proof of their expiry', async () => {
  const { chain, events, outside } = fixture;
  const payer = await fixture.payer(5_000_000n);
  await chain.call('chain_clock', { paused: true });
  await chain.call('chain_fault', { method: 'sendTransaction', kind: 'drop' });
  try {
    const job = await fixture.settle(payer, fixture.quote());
    const first = await events.wait(job.settlement_id, 'signed');
    // The bytes have expired at every node, but the proof needs the finalized chain to reach that
    // block. A cached blockhash may be some slots old, so the test waits no longer than needed.
    await chain.call('chain_advance', 152);
    await staysFor(
      2500,
      () => events.of(job.settlement_id).length,
      (count) => count === 1,
    );
    await chain.call('chain_fault');
    await chain.call('chain_advance', 30);
    await chain.call('chain_clock', { paused: false });
    const confirmed = await events.wait(job.settlement_id, 'confirmed');
    expect(confirmed.generation).toBe(2);
    expect(confirmed.tx_hash).not.toBe(first.tx_hash);
    expect(await outside.balance(payer.owner.publicKey)).toBe(4_000_000n);
  } finally {
    await chain.call('chain_fault');
    await chain.call('chain_clock', { paused: false });
  }
});

test('rule 14: a settle that a fork removes is reopened and included again for the same settlement', async () => {
  const { chain, events, outside } = fixture;
  const payer = await fixture.payer(5_000_000n);
  await chain.call('chain_clock', { paused: true });
  // The wallet itself must survive the fork.
  await chain.call('chain_advance', 3);
  try {
    const job = await fixture.executes(() => fixture.settle(payer, fixture.quote()));
    await chain.call('chain_advance', 2);
    const { tx_hash } = await events.wait(job.settlement_id, 'confirmed');
    await chain.call('chain_fork', 3);
    await chain.call('chain_advance', 3);
    await events.wait(job.settlement_id, 'reopened');
    await chain.call('chain_clock', { paused: false });
    const again = await events.wait(job.settlement_id, 'confirmed', 2);
    await events.wait(job.settlement_id, 'finalized');
    expect(again.tx_hash).toBe(tx_hash);
    expect(await outside.balance(payer.owner.publicKey)).toBe(4_000_000n);
  } finally {
    await chain.call('chain_clock', { paused: false });
  }
});

test('rule 12: a payment that is on the chain and not in the database is adopted, not paid again', async () => {
  const { admin, events, outside } = fixture;
  const payer = await fixture.payer(5_000_000n);
  const quote = fixture.quote();
  const job = await fixture.settle(payer, quote);
  const { tx_hash } = await events.wait(job.settlement_id, 'finalized');
  const deleteRecord = async (objectId: string) => {
    await admin.query(
      'delete from transactions where intent_id in (select intent_id from intents where object_id = $1)',
      [objectId],
    );
    await admin.query('delete from intents where object_id = $1', [objectId]);
  };
  await deleteRecord(job.settlement_id);
  await fixture.settle(payer, quote, job);
  await events.wait(job.settlement_id, 'finalized', 2);
  expect(new Set(events.of(job.settlement_id).map((event) => event.tx_hash))).toEqual(new Set([tx_hash]));
  expect(await outside.balance(payer.owner.publicKey)).toBe(4_000_000n);
  // Settlement may have received more generations than the new record contains, and it ignores
  // events of older ones.
  await deleteRecord(job.settlement_id);
  await fixture.settle(payer, quote, { ...job, generation: 4 });
  expect(await events.wait(job.settlement_id, 'finalized', 3)).toMatchObject({ tx_hash, generation: 5 });
  await fixture.settle(payer, quote, { ...job, generation: 9 });
  expect(await events.wait(job.settlement_id, 'finalized', 4)).toMatchObject({ tx_hash, generation: 9 });
});
