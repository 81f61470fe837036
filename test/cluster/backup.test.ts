import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  type Consumer,
  createConsumer,
  createVendor,
  type Quote,
  quoteOf,
  settleWith,
  type Vendor,
} from '../../deploy/local/seed/actors.ts';
import { createApi } from '../../deploy/local/seed/api.ts';
import { waitFor } from '../support/base/wait.ts';
import { incomingPayment, type OtherPayment } from '../support/others/other-rails.ts';
import { chainOf } from '../support/servers/chain.ts';
import { recordFigures, report } from './support/figures.ts';
import { type Installation, runningInstallation } from './support/installation.ts';
import {
  backUp,
  loseServer,
  operate,
  reconcileTrial,
  restoreCopy,
  startServices,
  stopServices,
} from './support/restore.ts';
import { applyAgain, waitForTrial } from './support/trial.ts';

/**
 * Proves that the jobs of k8s/components/backup back up and restore: payments, a copy, more
 * payments, the loss of Postgres and NATS with their volumes, and the procedure of
 * docs/kubernetes.md, Backup. Payments after the copy are found on the chain, and none is made
 * twice.
 */
let installation: Installation;
let vendor: Vendor;
let consumer: Consumer;
const own = () => installation.kubectl;
const api = () => createApi(installation.stack.gateway_url);
const run = Date.now().toString(36);

beforeAll(async () => {
  installation = await runningInstallation();
  vendor = await createVendor(api(), installation.stack);
  consumer = await createConsumer(api(), installation.stack);
}, 240_000);
afterAll(() => installation?.close());

type Attempt = { id: string; quote: Quote };
const attempt = async (): Promise<Attempt> => ({
  id: crypto.randomUUID(),
  quote: await quoteOf(api(), vendor, { expires_in_seconds: 3600 }),
});
/** Repeats the attempt until it is answered with the payment. Returns its transaction. */
const paid = async ({ id, quote }: Attempt): Promise<string> => {
  const { body } = await waitFor(
    () => settleWith(api(), consumer.token, quote, id).catch(() => ({ status: 0, body: null })),
    ({ status }) => status === 200,
    120_000,
    500,
  );
  return (body as { tx_hash: string }).tx_hash;
};
const place = { api, stack: () => installation.stack as never };
/** A payment of x402 and one of MPP, of the same wallet. */
const others = (): Promise<OtherPayment[]> =>
  Promise.all(
    (['x402', 'mpp'] as const).map((rail) => incomingPayment(place, { payer: consumer, vendor, rail })),
  );
const balance = () =>
  chainOf(installation.stack.environments.test as never).balance(consumer.wallet.publicKey);

test('after a restore, payments since the copy are found on the chain, and nothing is paid twice', async () => {
  const before = [await attempt(), await attempt()];
  const hashes = new Map<string, string>();
  for (const each of before) hashes.set(each.id, await paid(each));
  const shown = new Map<OtherPayment, string>();
  const payOthers = async (): Promise<void> => {
    for (const each of await others()) shown.set(each, await each.pay());
  };
  await payOthers();
  const kept = shown.size;

  const started = performance.now();
  const written = await backUp(own(), `backup-${run}`);
  expect(written).toMatchObject({ succeeded: true, log: [{ msg: 'backup written' }] });
  const { copy, copies } = written.log[0] as { copy: string; copies: string[] };
  expect(copies).toContain(copy);
  const backupSeconds = Math.round((performance.now() - started) / 100) / 10;

  const after = [await attempt(), await attempt()];
  const lost = await attempt();
  for (const each of [...after, lost]) hashes.set(each.id, await paid(each));
  await payOthers();
  const left = await balance();

  const values = { BACKUP: copy, ACTOR: 'jane', REASON: 'the volume is gone' };
  const early = await restoreCopy(own(), `restore-early-${run}`, values);
  expect(early).toMatchObject({
    succeeded: false,
    log: [{ msg: expect.stringContaining('stop all services first') }],
  });

  report('services end, Postgres and NATS lose their volumes');
  const stopped = performance.now();
  await stopServices(own());
  await Promise.all([loseServer(own(), 'postgres'), loseServer(own(), 'nats')]);
  await applyAgain(own());
  await waitForTrial(own(), report);

  const wrong = await restoreCopy(own(), `restore-wrong-${run}`, { ...values, BACKUP: '' });
  expect(wrong).toMatchObject({ succeeded: false, log: [{ msg: expect.stringContaining(copy) }] });
  report('the restore waits for the chain');
  const restoring = performance.now();
  const restored = await restoreCopy(own(), `restore-${run}`, values);
  expect(restored.succeeded).toBe(true);
  expect(restored.log.at(-1)).toMatchObject({ msg: 'restored, signing is paused', copy });
  const restoreSeconds = Math.round((performance.now() - restoring) / 100) / 10;

  await startServices(own());
  await waitForTrial(own(), report);
  const signing = await operate(own(), 'signing', 'show', '--json');
  expect(JSON.parse(signing.out)).toMatchObject({ paused: true });
  // Both sides of each payment that the copy lacks, and the fee if it was paid with it.
  const missing = await reconcileTrial(installation);
  expect(new Set(missing.map(({ kind }) => kind))).toEqual(new Set(['unrecorded']));
  const sidesOf = (hash: string) => missing.filter(({ what }) => what.includes(hash)).length;
  expect([...after, lost].map(({ id }) => sidesOf(hashes.get(id)!))).toEqual([3, 3, 3]);
  const since = [...shown].slice(kept);
  expect(since.map(([{ name }, hash]) => `${name} ${sidesOf(hash)}`)).toEqual(['x402 2', 'mpp 3']);
  const resumed = await operate(own(), 'signing', 'resume', '--reason', 'restored', '--yes');
  expect(resumed).toMatchObject({ code: 0 });
  const downSeconds = Math.round((performance.now() - stopped) / 100) / 10;

  // Their payers repeat them. Each is answered with the payment that was made.
  for (const each of [...before, ...after]) expect(await paid(each)).toBe(hashes.get(each.id));
  for (const [each, hash] of shown) expect(await each.pay()).toBe(hash);
  expect(await balance()).toBe(left);
  const next = await attempt();
  expect(await paid(next)).not.toBe('');
  expect(await balance()).toBe(left - BigInt(next.quote.quote_amount));

  // The payer who has not returned is found: both sides and the fee, and nothing else.
  const findings = await waitFor(
    () => reconcileTrial(installation),
    (list) => list.length === 3,
    60_000,
    1000,
  );
  for (const { kind, what } of findings)
    expect({ kind, what }).toEqual({
      kind: 'unrecorded',
      what: expect.stringContaining(hashes.get(lost.id)!),
    });
  // The payer returns after all. The ledgers of the tests that follow then find every payment.
  expect(await paid(lost)).toBe(hashes.get(lost.id));
  expect(await reconcileTrial(installation)).toEqual([]);
  const audit = await operate(own(), 'audit', '--json');
  expect(JSON.parse(audit.out)).toContainEqual(
    expect.objectContaining({ action: 'backup.restore', actor: 'jane', reason: 'the volume is gone' }),
  );
  recordFigures('backup', {
    backup_seconds: backupSeconds,
    restore_seconds: restoreSeconds,
    services_stopped_seconds: downSeconds,
  });
}, 1_800_000);
