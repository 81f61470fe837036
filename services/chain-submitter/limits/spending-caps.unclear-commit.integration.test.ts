import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import pg from 'pg';
import { newId } from '../../../shared/lib/id.ts';
import { staysFor } from '../../../test/support/base/wait.ts';
import {
  incomingPaymentsOver,
  PRICE,
  reasonOf,
} from '../../../test/support/fixtures/chain-submitter/incoming-payments.ts';
import {
  type Payer,
  type SubmitterFixture,
  startSubmitterFixture,
  until,
} from '../../../test/support/fixtures/chain-submitter/submitter.ts';
import { waitingForLocks } from '../../../test/support/servers/database.ts';
import { startProxy, type TcpProxy } from '../../../test/support/servers/proxy.ts';
import type { ServiceProcess } from '../../../test/support/servers/service-process.ts';

/**
 * The answer to the commit of signed bytes is lost, and the row appears only after the service has
 * read that there is none: a commit waits for its standby, and the connection breaks meanwhile.
 */
let fixture: SubmitterFixture;
let vendor: Payer;
let proxy: TcpProxy;
let standby: pg.Client;
let service: ServiceProcess | undefined;
const STANDBY = 4_711;

beforeAll(async () => {
  fixture = await startSubmitterFixture();
  vendor = await fixture.payer(1n);
  await fixture.admin.query(`
    create function public.wait_for_standby() returns trigger language plpgsql as
      $$ begin perform pg_advisory_xact_lock_shared(${STANDBY}); return null; end $$;
    create constraint trigger wait_for_standby after insert on chain_submitter.transactions
      deferrable initially deferred for each row execute function public.wait_for_standby()`);
  proxy = await startProxy(Number(new URL(fixture.database.adminUrl).port));
  standby = new pg.Client({ connectionString: fixture.database.adminUrl });
  await standby.connect();
});
beforeEach(() => fixture.admin.query('delete from spending'));
afterEach(async () => {
  await standby.query('select pg_advisory_unlock_all()');
  await service?.stop();
});
afterAll(async () => {
  await standby.end();
  proxy.stop();
  await fixture.stop();
});

const start = async (capMicro: bigint): Promise<void> => {
  const url = new URL(fixture.database.url('chain-submitter'));
  url.port = String(proxy.port);
  // The read after the lost answer needs a connection that was not cut.
  service = await fixture.start({
    POSTGRES_URL: url.href,
    WALLET_HOURLY_CAP_MICRO: String(capMicro),
    POSTGRES_POOL: '1',
  });
};
/**
 * The commit of the bytes that `sign` makes is not answered. Its row appears when the standby is
 * unlocked.
 */
const withLostCommit = async (sign: () => Promise<unknown>): Promise<void> => {
  await standby.query('select pg_advisory_lock($1)', [STANDBY]);
  const work = sign();
  await until(
    () => waitingForLocks(fixture.admin),
    (statements) => statements > 0,
  );
  proxy.cut();
  await until(async () => service!.output().includes('commit of signed bytes unclear'), Boolean);
  await work;
};

test('a payment of another client whose row appears late counts in the caps', async () => {
  await start(PRICE);
  const { signed, submit } = incomingPaymentsOver(
    () => fixture,
    () => vendor,
  );
  const buyer = await fixture.payer(2n * PRICE);
  const [first, second] = [await signed(buyer), await signed(buyer)];
  const id = newId('stl');
  await withLostCommit(async () => {
    const call = submit(first, id);
    await expect(call).rejects.toThrow();
  });
  await standby.query('select pg_advisory_unlock_all()');
  await fixture.events.wait(id, 'finalized');
  expect(reasonOf(await submit(second))).toBe('budget_exhausted');
});

test('a payment of a quote whose row appears late counts in the caps', async () => {
  const amount = 1_000_000n;
  await start(amount);
  const payer = await fixture.payer(2n * amount);
  let id = '';
  await withLostCommit(async () => {
    id = (await fixture.settle(payer, fixture.quote({ amount }))).settlement_id;
    // The commit, and the statement that ends the lease of the intent.
    await until(
      () => waitingForLocks(fixture.admin),
      (statements) => statements > 1,
    );
  });
  await standby.query('select pg_advisory_unlock_all()');
  await fixture.events.wait(id, 'finalized');
  const second = await fixture.settle(payer, fixture.quote({ amount }));
  await staysFor(
    3000,
    () => fixture.events.of(second.settlement_id).length,
    (events) => events === 0,
  );
});
