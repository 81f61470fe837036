import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { staysFor } from '../../../test/support/base/wait.ts';
import {
  type SubmitterFixture,
  startSubmitterFixture,
  until,
} from '../../../test/support/fixtures/chain-submitter/submitter.ts';

/** A second provider: a proxy to the same chain that a test opens, closes, or lets hang. */
let fixture: SubmitterFixture;
let second: Server;
const door = { open: true, hangs: false, sends: [] as string[], held: [] as string[] };
let stopping: (() => Promise<unknown>) | undefined;

beforeAll(async () => {
  fixture = await startSubmitterFixture();
  second = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = Buffer.concat(parts).toString();
    const { method, params } = JSON.parse(body) as { method: string; params: string[] };
    if (method === 'sendTransaction') door.sends.push(params[0]!);
    if (!door.open) return response.destroy();
    if (door.hangs) return void door.held.push(body);
    const answer = await fetch(fixture.chain.url, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json' },
    }).catch(() => null);
    if (answer === null) return response.destroy();
    response.end(await answer.text());
  });
  await new Promise<void>((resolve) => second.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  Object.assign(door, { open: true, hangs: false });
  await fixture.chain.call('chain_fault');
  await fixture.chain.call('chain_clock', { paused: false });
  await stopping?.();
  stopping = undefined;
});
afterAll(async () => {
  await fixture.stop();
  second.close();
});

const both = () => `${fixture.chain.url},http://127.0.0.1:${(second.address() as AddressInfo).port}`;
const start = async (env: Record<string, string> = {}) => {
  const service = await fixture.start(env);
  stopping = service.stop;
  return service;
};

test('rule 10: the same bytes go to every provider, and again every 2 s', async () => {
  const { chain, events } = fixture;
  await start({ SOLANA_RPC_URLS: both() });
  const payer = await fixture.payer(5_000_000n);
  await chain.call('chain_clock', { paused: true });
  door.sends = [];
  const job = await fixture.settle(payer, fixture.quote());
  // The event is published with the first repetition.
  await events.wait(job.settlement_id, 'signed');
  await until(
    async () => door.sends.length,
    (count) => count >= 3,
  );
  // Two pauses of two seconds separate three broadcasts, without a burst.
  expect(door.sends.length).toBeLessThanOrEqual(4);
  expect(new Set(door.sends).size).toBe(1);
  await chain.call('chain_clock', { paused: false });
  await events.wait(job.settlement_id, 'confirmed');
});

test('rule 11: while one provider is unavailable nothing is proven and no successor is signed', async () => {
  const { chain, events, outside } = fixture;
  await start({ SOLANA_RPC_URLS: both() });
  const payer = await fixture.payer(5_000_000n);
  await chain.call('chain_clock', { paused: true });
  await chain.call('chain_fault', { method: 'sendTransaction', kind: 'drop' });
  const job = await fixture.settle(payer, fixture.quote());
  await events.wait(job.settlement_id, 'signed');
  door.open = false;
  await chain.call('chain_advance', 200);
  await staysFor(
    2500,
    () => events.of(job.settlement_id).length,
    (count) => count === 1,
  );
  await chain.call('chain_fault');
  door.open = true;
  await chain.call('chain_clock', { paused: false });
  expect((await events.wait(job.settlement_id, 'confirmed')).generation).toBe(2);
  expect(await outside.balance(payer.owner.publicKey)).toBe(4_000_000n);
});

test('a time-out never means that the payment failed: the broadcast is accepted and not answered', async () => {
  const { chain, events, outside } = fixture;
  await start();
  const payer = await fixture.payer(5_000_000n);
  await chain.call('chain_fault', { method: 'sendTransaction', kind: 'timeout_after_accept' });
  const job = await fixture.settle(payer, fixture.quote());
  expect((await events.wait(job.settlement_id, 'confirmed')).generation).toBe(1);
  expect(await outside.balance(payer.owner.publicKey)).toBe(4_000_000n);
});

test('while the chain is unavailable the payment waits, and it is included afterwards', async () => {
  const { chain, events } = fixture;
  await start();
  const payer = await fixture.payer(5_000_000n);
  await chain.call('chain_fault', { method: '*', kind: 'drop' });
  const job = await fixture.settle(payer, fixture.quote());
  await staysFor(
    2500,
    () => events.of(job.settlement_id).length,
    (count) => count === 0,
  );
  await chain.call('chain_fault');
  await events.wait(job.settlement_id, 'confirmed');
});

test('a node that denies a confirmed transaction for a moment does not reopen it', async () => {
  const { chain, events } = fixture;
  await start({ SOLANA_RPC_URLS: both() });
  const payer = await fixture.payer(5_000_000n);
  const job = await fixture.settle(payer, fixture.quote());
  await events.wait(job.settlement_id, 'confirmed');
  await chain.call('chain_fault', { method: 'getSignatureStatuses', kind: 'lie_null', count: 2 });
  await events.wait(job.settlement_id, 'finalized');
  expect(events.of(job.settlement_id).map(({ status }) => status)).toEqual(['confirmed', 'finalized']);
});

test('a fork that cannot be proven while one of three providers hangs delays no other payment', async () => {
  const { chain, events } = fixture;
  await start({ SOLANA_RPC_URLS: `${both()},${new URL('/third', chain.url)}` });
  const [one, two] = [await fixture.payer(5_000_000n), await fixture.payer(5_000_000n)];
  await chain.call('chain_clock', { paused: true });
  // The wallets themselves must survive the fork.
  await chain.call('chain_advance', 3);
  const forked = await fixture.executes(() => fixture.settle(one, fixture.quote()));
  await chain.call('chain_advance', 2);
  await events.wait(forked.settlement_id, 'confirmed');
  door.hangs = true;
  await chain.call('chain_fork', 3);
  await chain.call('chain_advance', 3);
  door.held = [];
  await chain.call('chain_clock', { paused: false });
  // Two queries after the fork have reached the provider that hangs, and nothing was proven.
  await until(
    async () => door.held.filter((body) => body.includes('getSignatureStatuses')),
    (held) => held.length >= 2,
  );
  const other = await fixture.settle(two, fixture.quote());
  await events.wait(other.settlement_id, 'confirmed');
  expect(events.of(forked.settlement_id).map(({ status }) => status)).not.toContain('reopened');
  door.hangs = false;
  await events.wait(forked.settlement_id, 'reopened');
  await events.wait(forked.settlement_id, 'finalized');
});

test('rule 7: the hourly cap of a wallet is exact under a burst, and payments over it wait', async () => {
  const { events, outside } = fixture;
  await start({ WALLET_HOURLY_CAP_MICRO: '5500000' });
  const payer = await fixture.payer(20_000_000n);
  const other = await fixture.payer(20_000_000n);
  const { payout } = fixture.quote();
  const jobs = await Promise.all(
    Array.from({ length: 12 }, () => fixture.settle(payer, fixture.quote({ payout }))),
  );
  const changes = () =>
    jobs.filter(({ settlement_id }) => events.of(settlement_id).some(({ status }) => status === 'confirmed'));
  await until(
    async () => changes(),
    (all) => all.length === 5,
  );
  await staysFor(
    1500,
    () => changes().length,
    (count) => count === 5,
  );
  expect(
    jobs.flatMap(({ settlement_id }) => events.of(settlement_id)).some(({ status }) => status === 'failed'),
  ).toBe(false);
  expect(await outside.balance(payer.owner.publicKey)).toBe(15_000_000n);
  const free = await fixture.settle(other, fixture.quote({ payout }));
  await events.wait(free.settlement_id, 'confirmed');
  await fixture.admin.query('delete from intents where object_id = any($1) and status = $2', [
    jobs.map((job) => job.settlement_id),
    'accepted',
  ]);
});

test.each([
  ['another chain', { GENESIS_HASH: '11111111111111111111111111111112' }],
  ['an account that is not the mint', { USDC_MINT: '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T' }],
  ['a fee wallet without a token account', { FEE_WALLET: '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T' }],
])('the service does not start on %s', async (_name, env) => {
  await expect(fixture.start(env)).rejects.toThrow('ended with 78');
});
