import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createRevokeInstruction } from '@solana/spl-token';
import { Keypair, PublicKey, SystemProgram, Transaction } from '@solana/web3.js';
import { createPortPicker } from '../../../deploy/local/servers/ports.ts';
import { call } from '../../../shared/bus/call.ts';
import { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import { newId } from '../../../shared/lib/id.ts';
import { INVENTED_SLOT } from '../../../test/faults/lies.ts';
import { type SecondProvider, startSecondProvider } from '../../../test/faults/second-provider.ts';
import { staysFor } from '../../../test/support/base/wait.ts';
import {
  keypairOf,
  type SubmitterFixture,
  startSubmitterFixture,
  until,
} from '../../../test/support/fixtures/chain-submitter/submitter.ts';
import { scrape } from '../../../test/support/servers/scrape.ts';
import type { ServiceProcess } from '../../../test/support/servers/service-process.ts';
import { referenceOf } from '../ledger/reference.ts';

/**
 * Two providers of one chain. The first one queried omits or invents answers when a test requests
 * it.
 */
let fixture: SubmitterFixture;
let first: SecondProvider;
let metrics: string;
let service: ServiceProcess;
beforeAll(async () => {
  fixture = await startSubmitterFixture();
  first = await startSecondProvider();
  metrics = `http://127.0.0.1:${await createPortPicker().any()}/metrics`;
  await start();
});
const start = async () => {
  service = await fixture.start({
    SOLANA_RPC_URLS: `${first.urlOf(fixture.chain.url)},${fixture.chain.url}`,
    OTEL_METRICS_EXPORTER: 'prometheus',
    OTEL_EXPORTER_PROMETHEUS_HOST: '127.0.0.1',
    OTEL_EXPORTER_PROMETHEUS_PORT: new URL(metrics).port,
  });
};
/** The alarms of earlier tests. */
let earlier: Record<string, number>;
beforeEach(async () => {
  const kinds = ['providers_disagree', 'expired_included'];
  earlier = Object.fromEntries(await Promise.all(kinds.map(async (kind) => [kind, await alarms(kind)])));
});
afterEach(async () => {
  first.behave('honest');
  await fixture.chain.call('chain_fault');
  await fixture.chain.call('chain_clock', { paused: false });
});
afterAll(async () => {
  await fixture.stop();
  first.stop();
});

const GROSS = 1_000_000n;
const states = (id: string) => fixture.events.of(id).map(({ status }) => status);
/**
 * Waits until bytes may have been included, and a while longer. Meanwhile no other event is
 * published.
 */
const untilSigned = async (id: string): Promise<void> => {
  await until(
    async () => states(id),
    (all) => all.length > 0,
  );
  await staysFor(
    2000,
    () => states(id),
    (all) => all.join() === 'signed',
  );
};
/** Returns how often the current process raised an alarm of this kind. */
const alarms = async (kind: string): Promise<number> =>
  (await scrape(metrics)).value('quittance_anomalies_total', { kind }) ?? 0;
const alarm = (kind: string) =>
  until(
    () => alarms(kind),
    (count) => count > earlier[kind]!,
  );

test('rule 14: an error that one provider invents fails nothing, raises an alarm, and the payment waits', async () => {
  const { events, outside } = fixture;
  const payer = await fixture.payer(5_000_000n);
  first.behave({ lies: 'error' });
  const job = await fixture.settle(payer, fixture.quote());
  await untilSigned(job.settlement_id);
  await alarm('providers_disagree');
  first.behave('honest');
  expect((await events.wait(job.settlement_id, 'finalized')).generation).toBe(1);
  expect(await outside.balance(payer.owner.publicKey)).toBe(5_000_000n - GROSS);
});

test('rule 14: an error that every provider reports as final fails the payment', async () => {
  const { chain, events, outside } = fixture;
  const payer = await fixture.payer(5_000_000n);
  await chain.call('chain_fault', { method: 'sendTransaction', kind: 'drop' });
  const job = await fixture.settle(payer, fixture.quote());
  await events.wait(job.settlement_id, 'signed');
  await service.stop();
  await chain.call('chain_fault');
  const account = outside.tokenAccount(payer.owner.publicKey);
  const feePayer = keypairOf(fixture.keys.mintAuthority.secretKey);
  await fixture.include([createRevokeInstruction(account, payer.owner.publicKey)], [feePayer, payer.owner]);
  await start();
  const { failure, slot } = await events.wait(job.settlement_id, 'failed');
  expect(failure?.code).toBe('delegation_inactive');
  // It was included, so its lamports are spent.
  expect(slot).toBeGreaterThan(0);
});

test('rule 14: a confirmation that one provider invents confirms nothing', async () => {
  const { chain, events, outside } = fixture;
  const payer = await fixture.payer(5_000_000n);
  await chain.call('chain_fault', { method: 'sendTransaction', kind: 'drop' });
  first.behave({ lies: 'confirmation' });
  const job = await fixture.settle(payer, fixture.quote());
  await events.wait(job.settlement_id, 'signed');
  await chain.call('chain_advance', 200);
  await untilSigned(job.settlement_id);
  await alarm('providers_disagree');
  expect(states(job.settlement_id)).toEqual(['signed']);
  expect(await outside.balance(payer.owner.publicKey)).toBe(5_000_000n);
  // The blockhash has expired, and only the faulty provider denies the proof.
  first.behave('honest');
  await chain.call('chain_fault');
  expect((await events.wait(job.settlement_id, 'confirmed')).generation).toBe(2);
});

test('rule 14: a transaction is final when one provider reports it as final and the other as successful', async () => {
  const { chain, events } = fixture;
  const payer = await fixture.payer(5_000_000n);
  await chain.call('chain_advance', 40);
  await chain.call('chain_clock', { paused: true });
  const job = await fixture.executes(() => fixture.settle(payer, fixture.quote()));
  await chain.call('chain_advance', 3);
  await events.wait(job.settlement_id, 'confirmed');
  first.behave({ lies: 'confirmation' });
  await staysFor(
    3000,
    () => states(job.settlement_id),
    (all) => !all.includes('finalized'),
  );
  await chain.call('chain_clock', { paused: false });
  await events.wait(job.settlement_id, 'finalized');
});

test('an answer about another transaction confirms nothing', async () => {
  const { chain, events, outside } = fixture;
  const payer = await fixture.payer(5_000_000n);
  first.behave({ lies: 'signature' });
  const paid = await fixture.settle(payer, fixture.quote());
  await events.wait(paid.settlement_id, 'finalized');
  await chain.call('chain_fault', { method: 'sendTransaction', kind: 'drop' });
  const job = await fixture.settle(payer, fixture.quote());
  await untilSigned(job.settlement_id);
  expect(await outside.balance(payer.owner.publicKey)).toBe(5_000_000n - GROSS);
  first.behave('honest');
  await chain.call('chain_fault');
  await events.wait(job.settlement_id, 'confirmed');
});

test('a slot that one provider invents does not disturb reads: payments continue, and no snapshot contains the slot', async () => {
  const { events } = fixture;
  const payer = await fixture.payer(5_000_000n);
  const observe = () =>
    call(fixture.settlementBus, chainSubmitter, 'observeWallet', { owner: payer.owner.publicKey.toBase58() });
  first.behave({ lies: 'slot' });
  expect((await observe()).slot).toBeLessThan(INVENTED_SLOT);
  const job = await fixture.settle(payer, fixture.quote());
  await events.wait(job.settlement_id, 'confirmed');
  first.behave('honest');
  // The slot is remembered only as long as the provider reports it, so both accounts can be read
  // immediately.
  expect((await observe()).slot).toBeLessThan(INVENTED_SLOT);
  const next = await fixture.settle(payer, fixture.quote());
  await events.wait(next.settlement_id, 'finalized');
});

/** Deletes the record of an attempt, as a restore of the database does. */
const deleteRecord = async (settlementId: string): Promise<void> => {
  await fixture.admin.query(
    'delete from transactions t using intents i where i.intent_id = t.intent_id and i.object_id = $1',
    [settlementId],
  );
  await fixture.admin.query('delete from intents where object_id = $1', [settlementId]);
};

test('rule 12: a quote with a failed attempt is searched for at every provider', async () => {
  const { admin, events, outside } = fixture;
  const payer = await fixture.payer(5_000_000n);
  const quote = fixture.quote();
  const paid = await fixture.settle(payer, quote);
  const { tx_hash } = await events.wait(paid.settlement_id, 'finalized');
  await deleteRecord(paid.settlement_id);
  await admin.query(
    `insert into intents (intent_id, kind, object_id, request, status, failure_code, failure_message, next_at)
     values ($1, 'settle', $2, $3, 'failed', 'payment_failed', 'invented', public.app_now())`,
    [`settle:${newId('acct')}:x`, newId('stl'), JSON.stringify({ quote_token: quote.quote_token })],
  );
  await fixture.chain.call('chain_advance', 40);
  first.behave('forgets');
  const again = await fixture.settle(payer, quote);
  await until(
    () =>
      admin.query<{ signature: string | null }>('select signature from intents where object_id = $1', [
        again.settlement_id,
      ]),
    ({ rows }) => typeof rows[0]?.signature === 'string',
  );
  first.behave('honest');
  expect(await events.wait(again.settlement_id, 'confirmed')).toMatchObject({ tx_hash });
  expect(await outside.balance(payer.owner.publicKey)).toBe(5_000_000n - GROSS);
});

/**
 * Sets the record of a final payment to the state after a worker declared its bytes expired. The
 * request is again as it was before its finality.
 */
const recordAsExpired = async (
  job: { settlement_id: string },
  signature: string | null,
  status: 'signed' | 'confirmed',
): Promise<void> => {
  const { admin } = fixture;
  await admin.query(`update transactions set status = 'expired' where signature = $1`, [signature]);
  await admin.query(
    'update intents set status = $2, request = $3, worker_id = null, next_at = public.app_now() where object_id = $1',
    [job.settlement_id, status, JSON.stringify(job)],
  );
};

test('rule 12: an earlier generation that was declared expired and is on the chain is watched again, and no other is signed', async () => {
  const { admin, events, outside } = fixture;
  const payer = await fixture.payer(5_000_000n);
  const job = await fixture.settle(payer, fixture.quote());
  const { tx_hash } = await events.wait(job.settlement_id, 'finalized');
  await recordAsExpired(job, tx_hash, 'signed');
  expect(await events.wait(job.settlement_id, 'finalized', 2)).toMatchObject({ tx_hash, generation: 1 });
  expect(await alarms('expired_included')).toBe(earlier.expired_included! + 1);
  expect(await outside.balance(payer.owner.publicKey)).toBe(5_000_000n - GROSS);
  const { rows } = await admin.query('select status from transactions where signature = $1', [tx_hash]);
  expect(rows).toEqual([{ status: 'live' }]);
});

test('a confirmed intent whose bytes another worker proved expired is reopened and completed', async () => {
  const { events, outside } = fixture;
  const payer = await fixture.payer(5_000_000n);
  const job = await fixture.settle(payer, fixture.quote());
  const { tx_hash } = await events.wait(job.settlement_id, 'finalized');
  await recordAsExpired(job, tx_hash, 'confirmed');
  await events.wait(job.settlement_id, 'reopened');
  expect(await events.wait(job.settlement_id, 'finalized', 2)).toMatchObject({ tx_hash });
  expect(await outside.balance(payer.owner.publicKey)).toBe(5_000_000n - GROSS);
});

/** Transactions of a stranger that name the quote's reference and move nothing. */
const bury = async (quoteId: string, count: number): Promise<void> => {
  const { chain } = fixture;
  const stranger = Keypair.generate();
  await chain.call('requestAirdrop', stranger.publicKey.toBase58(), 10_000_000_000);
  await chain.call('chain_advance', 2);
  const reference = new PublicKey(referenceOf('test', quoteId));
  const { value } = await chain.call<{ value: { blockhash: string } }>('getLatestBlockhash', {
    commitment: 'confirmed',
  });
  const send = (lamports: number) => {
    const pay = SystemProgram.transfer({
      fromPubkey: stranger.publicKey,
      toPubkey: stranger.publicKey,
      lamports,
    });
    pay.keys.push({ pubkey: reference, isSigner: false, isWritable: false });
    const transaction = new Transaction({ feePayer: stranger.publicKey, recentBlockhash: value.blockhash });
    transaction.add(pay).sign(stranger);
    return chain.call('sendTransaction', transaction.serialize().toString('base64'), {
      encoding: 'base64',
      skipPreflight: true,
    });
  };
  for (let sent = 0; sent < count; sent += 10)
    await Promise.all(
      Array.from({ length: Math.min(10, count - sent) }, (_, index) => send(sent + index + 1)),
    );
  await chain.call('chain_advance', 4);
};

test.each([51, 1050])(
  'rule 12: %d transactions of a stranger with the reference hide no payment',
  async (count) => {
    const { events, outside } = fixture;
    const payer = await fixture.payer(5_000_000n);
    const quote = fixture.quote();
    const job = await fixture.settle(payer, quote);
    const { tx_hash } = await events.wait(job.settlement_id, 'finalized');
    // The service is stopped while they arrive, as it is during a restore.
    await service.stop();
    await bury(quote.quote_id, count);
    await deleteRecord(job.settlement_id);
    await start();
    const again = await fixture.settle(payer, quote);
    expect(await events.wait(again.settlement_id, 'confirmed')).toMatchObject({ tx_hash });
    expect(await outside.balance(payer.owner.publicKey)).toBe(5_000_000n - GROSS);
  },
);

test('the live environment is refused with one provider, and with one that is configured twice', async () => {
  const url = fixture.chain.url;
  for (const urls of [url, `${url},${url}`])
    await expect(fixture.start({ ENVIRONMENT: 'live', SOLANA_RPC_URLS: urls })).rejects.toThrow(
      'SOLANA_RPC_URLS',
    );
});
