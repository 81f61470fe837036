import { expect, test } from '@jest/globals';
import { namedMost, readFigures } from '../../bench/figures.ts';
import { type Consumer, createConsumer, quoteOf } from '../../deploy/local/seed/actors.ts';
import { waitFor } from '../support/base/wait.ts';
import { eachOf } from './command.ts';
import { createParties, settleUntilPaid } from './payment.ts';
import { NATS_MONITOR_PORT } from './project.ts';
import { containerOf, docker, installation, nodeIn } from './running.ts';

/**
 * What a payment needs, counted in containers as they are installed. These counts hardly move with
 * the machine's load, as times and CPU do (docs/benchmarks.md), so an increase is a fault.
 */
const PAYERS = 16;
const CONNECTIONS = 64;
const PAYMENTS = 512;
const AT_MOST = namedMost(readFigures().atMost.containers);

type Counts = Record<string, number>;

/** The container has the password of its administrator in its environment. */
const PSQL =
  'PGPASSWORD="$POSTGRES_PASSWORD" exec psql -U postgres -d "$POSTGRES_DB" --tuples-only --no-align -c "$1"';

const query = async (text: string): Promise<string[]> => {
  const line = await docker('exec', await containerOf('postgres'), 'sh', '-c', PSQL, 'sh', text);
  return line.trim().split('|');
};

const METRIC = 'quittance_rpc_call_duration_seconds_count';
const RPC_CALLS = `const page = await (await fetch('http://127.0.0.1:9464/metrics')).text();
  const lines = page.split('\\n').filter((line) => line.startsWith('${METRIC}'));
  console.log(lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0));`;
const MESSAGES = `const page = await (await fetch('http://nats:${NATS_MONITOR_PORT}/varz')).json();
  console.log(page.in_msgs);`;

const read = async (): Promise<Counts> => {
  // A backend reports its rows once a second at most.
  await query('select pg_sleep(1.1)');
  const [rows, wal] = await query(
    `select sum(n_tup_ins + n_tup_upd + n_tup_del), pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')
      from pg_stat_user_tables`,
  );
  const messages = Number(await nodeIn('gateway', MESSAGES));
  const calls = Number(await nodeIn('chain-submitter', RPC_CALLS));
  return { rows: Number(rows), 'WAL bytes': Number(wal), messages, 'RPC calls': calls };
};

/** Waits until the chain has made every payment final, after which nothing is done for it. */
const settled = () =>
  waitFor(
    () =>
      query(
        `select count(*) from chain_submitter.intents
          where status in ('accepted', 'signed', 'confirmed', 'reopened')`,
      ),
    ([open]) => open === '0',
    120_000,
    500,
  );

test('a payment needs no more rows, WAL, messages and RPC calls than it did', async () => {
  const parties = await createParties(installation);
  const { api, vendor } = parties;
  const consumers: Consumer[] = [parties.consumer];
  await eachOf(Array.from({ length: PAYERS - 1 }), 8, async () => {
    consumers.push(await createConsumer(api, installation));
  });
  const pay = async () => {
    const quotes = await Promise.all(
      Array.from({ length: PAYMENTS }, () => quoteOf(api, vendor, { quote_amount: '20000' })),
    );
    await settled();
    const before = await read();
    const paying = quotes.map((quote, index) => ({ quote, consumer: consumers[index % PAYERS]! }));
    await eachOf(paying, CONNECTIONS, ({ quote, consumer }) =>
      settleUntilPaid({ ...parties, consumer }, quote),
    );
    await settled();
    const after = await read();
    const each = (what: string) => (after[what]! - before[what]!) / PAYMENTS;
    return Object.fromEntries(Object.keys(AT_MOST).map((what) => [what, each(what)]));
  };
  await pay(); // Each payer's first settle reads the chain.
  const counts = await pay();
  const above = Object.entries(AT_MOST).filter(([what, most]) => !(counts[what]! <= most));
  // All figures, so that a failure says what else has changed.
  expect(above.length === 0 ? {} : counts).toEqual({});
});
