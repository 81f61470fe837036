import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createPortPicker } from '../../../deploy/local/servers/ports.ts';
import { newId } from '../../../shared/lib/id.ts';
import { createLogger } from '../../../shared/lib/telemetry/logger.ts';
import { registerGauges } from '../../../shared/lib/telemetry/metrics.ts';
import { startTelemetry, type Telemetry } from '../../../shared/lib/telemetry/telemetry.ts';
import {
  base,
  database,
  deps,
  outcome,
  paid,
  publishProgress,
  row,
  startFixture,
  stopFixture,
  underWay,
  until,
  untilEventsHandled,
} from '../../../test/support/fixtures/settlement/settlement.ts';
import { consumer } from '../../../test/support/fixtures/settlement/settlement-peers.ts';
import { scrape } from '../../../test/support/servers/scrape.ts';
import { expireSettlements } from '../delivering/expire-settlements.ts';
import { resumeSettlements } from '../settling/resume-settlements.ts';
import { collectAttempts } from './gauges.ts';

let telemetry: Telemetry;
let page: string;

beforeAll(async () => {
  // As in the process, before the service: its jobs count from their first run.
  const port = await createPortPicker().any();
  process.env.OTEL_METRICS_EXPORTER = 'prometheus';
  process.env.OTEL_EXPORTER_PROMETHEUS_HOST = '127.0.0.1';
  process.env.OTEL_EXPORTER_PROMETHEUS_PORT = String(port);
  page = `http://127.0.0.1:${port}/metrics`;
  const config = { ENVIRONMENT: 'test', OTEL_METRICS_EXPORTER: 'prometheus' };
  telemetry = await startTelemetry('settlement', config, createLogger('test', 'fatal'));
  await startFixture();
  registerGauges([collectAttempts(base.pool)], base.logger);
});
afterAll(async () => {
  await telemetry.stop();
  await stopFixture();
});

const anomalies = async (kind: string) => (await scrape(page)).value('quittance_anomalies_total', { kind });
const settlements = async (is: string) =>
  (await scrape(page)).value('quittance_settlements_total', { outcome: is });

test('the gauges show an attempt under way with its age and its hold until it ends', async () => {
  const payer = consumer();
  const { settlementId, answer } = await underWay(payer);
  const during = await scrape(page);
  expect(during.value('quittance_attempts', { state: 'pending' })).toBe(1);
  expect(during.value('quittance_attempts_oldest_age_seconds', { state: 'pending' })).toBeGreaterThan(0);
  expect(during.value('quittance_held_micro_usdc')).toBe(1_000_000);
  expect(during.value('quittance_holding_wallets')).toBe(1);

  await publishProgress(settlementId, 'confirmed');
  await answer;
  const confirmed = await scrape(page);
  expect(confirmed.value('quittance_attempts', { state: 'pending' })).toBe(0);
  expect(confirmed.value('quittance_attempts', { state: 'confirmed' })).toBe(1);
  expect(confirmed.value('quittance_held_micro_usdc')).toBe(0);

  await publishProgress(settlementId, 'reopened');
  await until(
    () => scrape(page),
    (seen) => seen.value('quittance_attempts', { state: 'reopened' }) === 1,
  );
  expect((await scrape(page)).value('quittance_held_micro_usdc')).toBe(1_000_000);
  await publishProgress(settlementId, 'confirmed');
  await publishProgress(settlementId, 'finalized');
  const ended = await until(
    () => scrape(page),
    (seen) => seen.value('quittance_attempts') === 0,
  );
  expect(ended.value('quittance_attempts_oldest_age_seconds')).toBe(0);
  expect(ended.value('quittance_settlements_total', { outcome: 'issued' })).toBe(1);
  expect(ended.value('quittance_settled_micro_usdc_total')).toBe(1_000_000);
});

test('a failed payment that is confirmed after all is an anomaly; a failure that is reported twice is counted once', async () => {
  const before = await anomalies('contradicted_record');
  const failures = await settlements('failed');
  const { settlementId, answer } = await underWay(consumer());
  await publishProgress(settlementId, 'failed');
  await publishProgress(settlementId, 'failed');
  await outcome(answer);
  await untilEventsHandled();
  expect(await anomalies('contradicted_record')).toBe(before);
  await publishProgress(settlementId, 'confirmed');
  await until(
    () => anomalies('contradicted_record'),
    (count) => count === (before ?? 0) + 1,
  );
  expect((await row(settlementId)).status).toBe('failed');
  expect(await settlements('failed')).toBe((failures ?? 0) + 1);
});

test('a reversal is counted; a late repeat of its old confirmation is no contradiction, a finalized event is', async () => {
  const { settlementId } = await paid();
  const before = await anomalies('contradicted_record');
  const unknown = await anomalies('unknown_settlement');
  const reversed = await settlements('reversed');
  await publishProgress(settlementId, 'reopened');
  await publishProgress(settlementId, 'failed');
  await until(
    () => settlements('reversed'),
    (count) => count === (reversed ?? 0) + 1,
  );
  await publishProgress(settlementId, 'confirmed');
  await publishProgress(newId('stl'), 'confirmed');
  await untilEventsHandled();
  expect(await anomalies('unknown_settlement')).toBe((unknown ?? 0) + 1);
  expect(await anomalies('contradicted_record')).toBe(before);
  await publishProgress(settlementId, 'finalized');
  await until(
    () => anomalies('contradicted_record'),
    (count) => count === before! + 1,
  );
});

test('the jobs count the payments that they dispatch again and the settlements that expire', async () => {
  const stalled = await underWay(consumer());
  const before = (await scrape(page)).value('quittance_redispatches_total');
  await database.withClock('20 seconds', resumeSettlements(deps));
  expect((await scrape(page)).value('quittance_redispatches_total')).toBe((before ?? 0) + 1);
  await publishProgress(stalled.settlementId, 'confirmed');
  await stalled.answer;
  await database.withClock('2 hours', expireSettlements(deps));
  expect((await scrape(page)).value('quittance_expired_unredeemed_total')).toBeGreaterThanOrEqual(1);
});
