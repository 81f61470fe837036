import { connect, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createPortPicker } from '../../../deploy/local/servers/ports.ts';
import {
  type SubmitterFixture,
  startSubmitterFixture,
  until,
} from '../../../test/support/fixtures/chain-submitter/submitter.ts';
import { scrape } from '../../../test/support/servers/scrape.ts';

/**
 * A proxy to Postgres that can stop answering without closing connections, as a stopped server or a
 * lost network does.
 */
const startStraits = async (url: string) => {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  let silent = false;
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('data', (bytes) => silent || to.write(bytes));
      from.on('close', () => to.destroy());
      from.on('error', () => {});
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const through = new URL(url);
  const address = server.address();
  through.hostname = '127.0.0.1';
  through.port = String(typeof address === 'object' && address ? address.port : 0);
  return {
    url: through.href,
    fallSilent: () => {
      silent = true;
    },
    stop: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
};

let fixture: SubmitterFixture;
let straits: Awaited<ReturnType<typeof startStraits>>;
let page: string;

beforeAll(async () => {
  fixture = await startSubmitterFixture();
  straits = await startStraits(fixture.database.url('chain-submitter'));
  const port = await createPortPicker().any();
  page = `http://127.0.0.1:${port}/metrics`;
  await fixture.start({
    POSTGRES_URL: straits.url,
    SETTLE_RENT_LAMPORTS_PER_DAY: '20392800',
    SETTLE_FEES_LAMPORTS_PER_DAY: '200000000',
    OTEL_METRICS_EXPORTER: 'prometheus',
    OTEL_EXPORTER_PROMETHEUS_HOST: '127.0.0.1',
    OTEL_EXPORTER_PROMETHEUS_PORT: String(port),
  });
});
afterAll(async () => {
  straits.stop();
  await fixture.stop();
});

test('after one payment and one failure the gauges show generations, broadcasts per provider, caps and the fee payer, and nothing open', async () => {
  const before = await scrape(page);
  expect(before.value('quittance_chain_generations_total')).toBe(0);
  expect(before.value('quittance_chain_expiry_proofs_total')).toBe(0);
  expect(before.value('quittance_anomalies_total')).toBe(0);
  expect(before.value('quittance_budget_used_ratio', { budget: 'rent_settle' })).toBe(0);
  const lamports = before.value('quittance_fee_payer_lamports')!;
  expect(lamports).toBeGreaterThan(0);

  const payer = await fixture.payer(1_500_000n);
  const paid = await fixture.settle(payer, fixture.quote({ amount: 1_000_000n }));
  await fixture.events.wait(paid.settlement_id, 'finalized');
  const short = await fixture.settle(payer, fixture.quote({ amount: 1_000_000n }));
  await fixture.events.wait(short.settlement_id, 'failed');

  const after = await until(
    () => scrape(page),
    (seen) => seen.value('quittance_outbox_messages') === 0,
  );
  expect({
    first: after.value('quittance_chain_generations_total', { generation: 'first' }),
    again: after.value('quittance_chain_generations_total', { generation: 'again' }),
    sends: after.value('quittance_rpc_call_duration_seconds_count', {
      rpc_method: 'sendTransaction',
      provider: '1',
      error_type: 'none',
    }),
    open: after.value('quittance_intents'),
    anomalies: after.value('quittance_anomalies_total'),
    paused: after.value('quittance_signing_paused'),
    // The vendor's budget is a tenth of the budget of ten token accounts.
    rent: after.value('quittance_budget_used_ratio', { budget: 'rent_settle' }),
    // The first allotment of a process is what it needs: a fee and that of one refund.
    fees: after.value('quittance_budget_used_ratio', { budget: 'fees_settle' }),
    refusals: after.value('quittance_budget_refusals_total'),
    jobs: after.value('quittance_message_process_duration_seconds_count', {
      messaging_destination_name: 'job.chain-submitter.settle',
    }),
    errors: after.value('quittance_job_runs_total', { outcome: 'error' }),
  }).toEqual({
    first: 1,
    again: 0,
    sends: 1,
    open: 0,
    anomalies: 0,
    paused: 0,
    rent: 0.1,
    fees: 0.0001,
    refusals: 0,
    jobs: 2,
    errors: 0,
  });
  expect(after.value('quittance_gauge_collector_up', { collector: 'intents' })).toBe(1);
});

test('the operator’s pause and the work that waits for it are in the next scrape', async () => {
  await fixture.admin.query('update settings set paused = true');
  const payer = await fixture.payer(1_000_000n);
  const job = await fixture.settle(payer, fixture.quote({ amount: 1_000_000n }));
  const waiting = await until(
    () => scrape(page),
    (seen) => seen.value('quittance_intents', { kind: 'settle', state: 'accepted' }) === 1,
  );
  expect(waiting.value('quittance_signing_paused')).toBe(1);
  expect(
    waiting.value('quittance_intents_oldest_age_seconds', { kind: 'settle', state: 'accepted' }),
  ).toBeGreaterThan(0);
  await fixture.admin.query('update settings set paused = false');
  await fixture.events.wait(job.settlement_id, 'confirmed');
});

test('a message that cannot be parsed is reported as quarantined until an operator resolves it', async () => {
  await fixture.send(fixture.settlementBus, 'settle', { nonsense: true });
  const one = await until(
    () => scrape(page),
    (seen) => seen.value('quittance_quarantine_messages') === 1,
  );
  expect(one.value('quittance_quarantine_oldest_age_seconds')).toBeGreaterThan(0);
  await fixture.admin.query("update quarantine set decided_at = public.app_now(), decision = 'test'");
  expect((await scrape(page)).value('quittance_quarantine_messages')).toBe(0);
});

test('while Postgres does not answer, a scrape answers without the gauges and reports their failure, also with ten at once', async () => {
  straits.fallSilent();
  const pages = await Promise.all(Array.from({ length: 10 }, () => scrape(page)));
  for (const seen of pages) {
    expect(seen.value('quittance_gauge_collector_up', { collector: 'intents' })).toBe(0);
    expect(seen.value('quittance_gauge_collector_up', { collector: 'outbox' })).toBe(0);
    expect(seen.value('quittance_intents')).toBeNaN();
    expect(seen.value('quittance_chain_generations_total', { generation: 'first' })).toBeGreaterThanOrEqual(
      1,
    );
  }
});
