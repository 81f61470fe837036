import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createPortPicker } from '../../../deploy/local/servers/ports.ts';
import { newId } from '../../../shared/lib/id.ts';
import { registerGauges } from '../../../shared/lib/metrics.ts';
import { startTelemetry, type Telemetry } from '../../../shared/lib/telemetry.ts';
import { scrape } from '../../../test/support/scrape.ts';
import {
  base,
  consumer,
  database,
  deps,
  outcome,
  paid,
  row,
  say,
  startFixture,
  stopFixture,
  underWay,
  until,
} from '../../../test/support/settlement.ts';
import { expireSettlements } from '../settlements/expire-settlements.ts';
import { resumeSettlements } from '../settlements/resume-settlements.ts';
import { collectAttempts } from './gauges.ts';

let telemetry: Telemetry;
let page: string;

beforeAll(async () => {
  await startFixture();
  const port = await createPortPicker().any();
  process.env.OTEL_METRICS_EXPORTER = 'prometheus';
  process.env.OTEL_EXPORTER_PROMETHEUS_HOST = '127.0.0.1';
  process.env.OTEL_EXPORTER_PROMETHEUS_PORT = String(port);
  page = `http://127.0.0.1:${port}/metrics`;
  const config = { ENVIRONMENT: 'test', OTEL_METRICS_EXPORTER: 'prometheus' };
  telemetry = await startTelemetry('settlement', config, base.logger);
  registerGauges([collectAttempts(base.pool)], base.logger);
});
afterAll(async () => {
  await telemetry.stop();
  await stopFixture();
});

const anomalies = async (kind: string) => (await scrape(page)).value('quittance_anomalies_total', { kind });
const settlements = async (is: string) =>
  (await scrape(page)).value('quittance_settlements_total', { outcome: is });

test('an attempt under way is told with its age and what it holds, and is gone from the gauges when it ends', async () => {
  const payer = consumer();
  const { settlementId, answer } = await underWay(payer);
  const during = await scrape(page);
  expect(during.value('quittance_attempts', { state: 'pending' })).toBe(1);
  expect(during.value('quittance_attempts_oldest_age_seconds', { state: 'pending' })).toBeGreaterThan(0);
  expect(during.value('quittance_held_micro_usdc')).toBe(1_000_000);
  expect(during.value('quittance_holding_wallets')).toBe(1);

  await say(settlementId, 'confirmed');
  await answer;
  const confirmed = await scrape(page);
  expect(confirmed.value('quittance_attempts', { state: 'pending' })).toBe(0);
  expect(confirmed.value('quittance_attempts', { state: 'confirmed' })).toBe(1);
  expect(confirmed.value('quittance_held_micro_usdc')).toBe(0);

  await say(settlementId, 'reopened');
  await until(
    () => scrape(page),
    (seen) => seen.value('quittance_attempts', { state: 'reopened' }) === 1,
  );
  expect((await scrape(page)).value('quittance_held_micro_usdc')).toBe(1_000_000);
  await say(settlementId, 'confirmed');
  await say(settlementId, 'finalized');
  const ended = await until(
    () => scrape(page),
    (seen) => seen.value('quittance_attempts') === 0,
  );
  expect(ended.value('quittance_attempts_oldest_age_seconds')).toBe(0);
  expect(ended.value('quittance_settlements_total', { outcome: 'issued' })).toBe(1);
  expect(ended.value('quittance_settled_micro_usdc_total')).toBe(1_000_000);
});

test('a failed payment that lands after all is an anomaly; a failure that is told twice is counted once', async () => {
  const { settlementId, answer } = await underWay(consumer());
  await say(settlementId, 'failed');
  await say(settlementId, 'failed');
  await outcome(answer);
  expect(await anomalies('contradicted_record')).toBe(0);
  await say(settlementId, 'confirmed');
  await until(
    () => anomalies('contradicted_record'),
    (count) => count === 1,
  );
  expect((await row(settlementId)).status).toBe('failed');
  expect(await settlements('failed')).toBe(1);
});

test('a reversal is counted; the late repeat of its old confirmation is no contradiction, a finalized one is', async () => {
  const { settlementId } = await paid();
  const before = await anomalies('contradicted_record');
  await say(settlementId, 'reopened');
  await say(settlementId, 'failed');
  await until(
    () => settlements('reversed'),
    (count) => count === 1,
  );
  await say(settlementId, 'confirmed');
  await say(newId('stl'), 'confirmed');
  // Facts are taken in order: when this one has been heard, the one before has been begun.
  await until(
    () => anomalies('unknown_settlement'),
    (count) => count === 1,
  );
  expect(await anomalies('contradicted_record')).toBe(before);
  await say(settlementId, 'finalized');
  await until(
    () => anomalies('contradicted_record'),
    (count) => count === before! + 1,
  );
});

test('re-drives and settlements that nobody redeemed are counted by the jobs that find them', async () => {
  const stalled = await underWay(consumer());
  const before = (await scrape(page)).value('quittance_redispatches_total');
  expect(before).toBe(0);
  await database.withClock('20 seconds', resumeSettlements(deps));
  expect((await scrape(page)).value('quittance_redispatches_total')).toBe(1);
  await say(stalled.settlementId, 'confirmed');
  await stalled.answer;
  await database.withClock('2 hours', expireSettlements(deps));
  expect((await scrape(page)).value('quittance_expired_unredeemed_total')).toBeGreaterThanOrEqual(1);
});
