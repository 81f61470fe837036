import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createPortPicker } from '../../../deploy/local/servers/ports.ts';
import {
  type SubmitterFixture,
  startSubmitterFixture,
  until,
} from '../../../test/support/fixtures/chain-submitter/submitter.ts';
import { scrape } from '../../../test/support/servers/scrape.ts';

type Call = { method: string; params: unknown[] };
type Answer = { result?: { transactions: { meta: { postTokenBalances: unknown[] } }[] } };

/** A provider that passes calls to the chain, counts them, and may falsify blocks. */
let fixture: SubmitterFixture;
let provider: Server;
let metrics: string;
const calls: Call[] = [];
let falsifies = false;

const answerOf = async (call: Call): Promise<unknown> => {
  calls.push(call);
  const response = await fetch(fixture.chain.url, {
    method: 'POST',
    body: JSON.stringify(call),
    headers: { 'content-type': 'application/json' },
  });
  const answer = (await response.json()) as Answer;
  if (call.method === 'getBlock' && falsifies)
    for (const { meta } of answer.result?.transactions ?? []) meta.postTokenBalances.pop();
  return answer;
};

beforeAll(async () => {
  fixture = await startSubmitterFixture();
  provider = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = JSON.parse(Buffer.concat(parts).toString()) as Call | Call[];
    response.end(
      JSON.stringify(await (Array.isArray(body) ? Promise.all(body.map(answerOf)) : answerOf(body))),
    );
  });
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  metrics = `http://127.0.0.1:${await createPortPicker().any()}/metrics`;
  await fixture.start({
    SOLANA_RPC_URLS: `http://127.0.0.1:${(provider.address() as AddressInfo).port}`,
    OTEL_METRICS_EXPORTER: 'prometheus',
    OTEL_EXPORTER_PROMETHEUS_HOST: '127.0.0.1',
    OTEL_EXPORTER_PROMETHEUS_PORT: new URL(metrics).port,
  });
});
beforeEach(async () => {
  falsifies = false;
  await fixture.chain.call('chain_fault');
});
afterAll(async () => {
  await fixture.stop();
  provider.close();
});

const callsOf = (method: string): Call[] => calls.filter((call) => call.method === method);
const mismatches = async (): Promise<number> =>
  (await scrape(metrics)).value('quittance_anomalies_total', { kind: 'balance_mismatch' }) ?? 0;

/** So many payments in one slot, until they are final. */
const payInOneSlot = async (count: number): Promise<void> => {
  const { chain, events } = fixture;
  const payers = await Promise.all(Array.from({ length: count }, () => fixture.payer(5_000_000n)));
  await chain.call('chain_clock', { paused: true });
  const executed = async () => (await chain.call<{ executed: number }>('chain_stats')).executed;
  const before = await executed();
  const jobs = await Promise.all(payers.map((payer) => fixture.settle(payer, fixture.quote())));
  await until(executed, (all) => all === before + count);
  calls.length = 0;
  await chain.call('chain_clock', { paused: false });
  await Promise.all(jobs.map(({ settlement_id }) => events.wait(settlement_id, 'finalized')));
};

test('rule 14: five payments of a slot are read by their block, and four one by one', async () => {
  await payInOneSlot(5);
  const [block] = callsOf('getBlock');
  expect(block?.params[1]).toMatchObject({ commitment: 'finalized' });
  expect([callsOf('getBlock').length, callsOf('getTransaction').length]).toEqual([1, 0]);
  await payInOneSlot(4);
  expect([callsOf('getBlock').length, callsOf('getTransaction').length]).toEqual([0, 4]);
  expect(await mismatches()).toBe(0);
});

test('rule 14: other amounts in a block than those of the orders raise the alarm', async () => {
  const before = await mismatches();
  falsifies = true;
  await payInOneSlot(5);
  expect((await mismatches()) - before).toBe(5);
});

test('rule 14: without the block each transaction is read by itself', async () => {
  await fixture.chain.call('chain_fault', { method: 'getBlock', kind: 'lie_null' });
  await payInOneSlot(6);
  expect([callsOf('getBlock').length, callsOf('getTransaction').length]).toEqual([1, 6]);
  await fixture.chain.call('chain_fault', { method: 'getBlock', kind: 'drop' });
  const before = await mismatches();
  await payInOneSlot(6);
  expect([callsOf('getBlock').length, callsOf('getTransaction').length]).toEqual([1, 6]);
  expect(await mismatches()).toBe(before);
});
