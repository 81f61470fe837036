import { beforeAll, expect, test } from '@jest/globals';
import { createTransferCheckedInstruction } from '@solana/spl-token';
import { Keypair, LAMPORTS_PER_SOL, sendAndConfirmTransaction, Transaction } from '@solana/web3.js';
import {
  type Consumer,
  createConsumer,
  createVendor,
  quoteOf,
  settleWith,
  type Vendor,
} from '../../deploy/local/seed/actors.ts';
import { createApi, must } from '../../deploy/local/seed/api.ts';
import { destinationOf } from '../../shared/bus/hand-over.ts';
import { SERVICE_NAMES } from '../../shared/contract/service.ts';
import { METRICS, type MetricName } from '../../shared/lib/telemetry/metrics-catalog.ts';
import { chainOf } from '../support/servers/chain.ts';
import { type Scraped, scrape } from '../support/servers/scrape.ts';
import { runningStack } from '../support/servers/stack.ts';

/**
 * The metrics of the real processes. Other suites use the same stack at the same time, so the test
 * compares minimum increases of counters.
 * services/chain-submitter/operator/gauges.integration.test.ts has a separate process and exact
 * figures.
 */
const stack = runningStack();
const api = createApi(stack.gateway_url);
const chain = chainOf(stack.environments.test!);

let vendor: Vendor;
let consumer: Consumer;
beforeAll(async () => {
  [vendor, consumer] = await Promise.all([createVendor(api, stack), createConsumer(api, stack)]);
});

const ofTest = (name: string) => scrape(stack.metrics[name]!);

/**
 * The wallet's owner withdraws almost all of the balance in a transaction outside of the platform,
 * so the platform's last snapshot is too high.
 */
const empty = async ({ wallet }: Consumer) => {
  const { connection, mint, tokenAccount } = chain;
  const confirmed = async (signature: string) =>
    connection.confirmTransaction({ signature, ...(await connection.getLatestBlockhash()) });
  await confirmed(await connection.requestAirdrop(wallet.publicKey, LAMPORTS_PER_SOL));
  const all = await chain.balance(wallet.publicKey);
  const to = tokenAccount(stack.environments.test!.fee_wallet);
  const transfer = new Transaction().add(
    createTransferCheckedInstruction(tokenAccount(wallet.publicKey), mint, to, wallet.publicKey, all - 1n, 6),
  );
  await sendAndConfirmTransaction(connection, transfer, [Keypair.fromSecretKey(wallet.secretKey)]);
};

/** How much a counter grew between two scrapes. */
const grown = (before: Scraped, after: Scraped, name: string, labels: Record<string, string> = {}): number =>
  after.value(name, labels)! - before.value(name, labels)!;

test('one payment, its repeat, its redeem and one failed payment are counted by the services that handled them', async () => {
  const [settlement, submitter] = await Promise.all([ofTest('settlement'), ofTest('chain-submitter')]);
  // At zero before the first event, because Prometheus sees no increase in a series that appears
  // with it.
  for (const outcome of ['accepted', 'issued', 'failed', 'reversed'])
    expect(settlement.value('quittance_settlements_total', { outcome, environment: 'test' })).toBeDefined();
  for (const generation of ['first', 'again', 'adopted'])
    expect(submitter.value('quittance_chain_generations_total', { generation })).toBeDefined();

  const quote = await quoteOf(api, vendor);
  const paid = await must(settleWith(api, consumer.token, quote, 'metrics'), 'settle');
  await must(settleWith(api, consumer.token, quote, 'metrics'), 'repeat');
  await must(
    api(`POST /v1/settlements/${paid.settlement_id}/redeem`, {
      token: vendor.apiKey,
      body: { settlement_token: paid.settlement_token },
    }),
    'redeem',
  );
  await empty(consumer);
  const refused = await settleWith(api, consumer.token, await quoteOf(api, vendor));
  expect(refused.body.error?.code).toBe('insufficient_funds');

  const [after, chainAfter, gateway, quotes] = await Promise.all(
    ['settlement', 'chain-submitter', 'gateway', 'quote'].map(ofTest) as [
      Promise<Scraped>,
      Promise<Scraped>,
      Promise<Scraped>,
      Promise<Scraped>,
    ],
  );
  const least = {
    accepted: grown(settlement, after, 'quittance_settlements_total', { outcome: 'accepted' }),
    issued: grown(settlement, after, 'quittance_settlements_total', { outcome: 'issued' }),
    failed: grown(settlement, after, 'quittance_settlements_total', { outcome: 'failed' }),
    insufficient: grown(settlement, after, 'quittance_settlement_failures_total', {
      error_code: 'insufficient_funds',
    }),
    settled: grown(settlement, after, 'quittance_settled_micro_usdc_total'),
    fees: grown(settlement, after, 'quittance_fees_micro_usdc_total'),
    replays: grown(settlement, after, 'quittance_idempotent_replays_total', { operation: 'settle' }),
    signed: grown(submitter, chainAfter, 'quittance_chain_generations_total', { generation: 'first' }),
  };
  const expected = {
    accepted: 2,
    issued: 1,
    failed: 1,
    insufficient: 1,
    settled: 2_500_000,
    fees: 12_500,
    replays: 1,
    signed: 1,
  };
  for (const [name, value] of Object.entries(expected))
    expect({ [name]: least[name as keyof typeof least] >= value }).toEqual({ [name]: true });

  expect(after.value('quittance_confirmation_seconds_count')).toBeGreaterThanOrEqual(1);
  expect(after.value('quittance_redeem_latency_seconds_count')).toBeGreaterThanOrEqual(1);
  expect(after.value('quittance_attempts', { state: 'pending' })).toBeGreaterThanOrEqual(0);
  expect(quotes.value('quittance_quotes_total')).toBeGreaterThanOrEqual(2);
  expect(
    gateway.value('quittance_http_request_duration_seconds_count', {
      journey: 'pay',
      http_route: '/v1/settle',
      http_request_method: 'POST',
      http_response_status_code: '200',
      environment: 'test',
    }),
  ).toBeGreaterThanOrEqual(2);
  // The vendor and the consumer have signed in by mail.
  const identity = await ofTest('identity');
  expect(identity.value('quittance_sign_in_mail_seconds_count')).toBeGreaterThanOrEqual(2);
  expect(
    gateway.value('quittance_bus_operation_duration_seconds_count', {
      messaging_destination_name: 'rpc.settlement.settle',
      error_type: 'insufficient_funds',
    }),
  ).toBeGreaterThanOrEqual(1);
  // The outcome is handed over to the replica that waits for it.
  expect(
    after.value('quittance_message_process_duration_seconds_count', {
      messaging_destination_name: destinationOf({
        service: 'settlement',
        name: 'settleProgressed',
        receiver: '',
      }),
    }),
  ).toBeGreaterThanOrEqual(1);
});

/** They have no series before the first copy, drill or comparison: an age of nothing is no age. */
const AFTER_THE_FIRST = /^quittance_(backup|archive|restore_drill|reconcile)_/;

test('every process has the metrics that the catalog lists, and no label is a secret, an id or an address', async () => {
  const pages = await Promise.all(
    Object.entries(stack.metrics).map(async ([name, url]) => [name, await scrape(url)] as const),
  );
  expect(pages.length).toBeGreaterThanOrEqual(SERVICE_NAMES.length + 1);
  for (const [process, page] of pages) {
    const service = process.split(/[@#]/)[0]!;
    const gauges = (Object.keys(METRICS) as MetricName[]).filter(
      (name) => METRICS[name].kind === 'gauge' && METRICS[name].by.some((each) => each === service),
    );
    const missing = gauges.filter((name) => page.value(name) === undefined);
    expect(missing.filter((name) => !AFTER_THE_FIRST.test(name))).toEqual([]);
    // Ids have an underscore and 26 characters, keys and addresses 32 and more, an e-mail address
    // an @, a URL its slashes.
    const odd = page
      .labels()
      .filter(([, value]) => /[A-Za-z0-9]{26}|@|:\/\//.test(value.replaceAll(/[a-z-]+\.[\w.-]+/g, '')))
      .filter(([name]) => name !== 'service_instance_id');
    expect(odd).toEqual([]);
  }
});
