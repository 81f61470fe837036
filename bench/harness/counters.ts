import { setTimeout as sleep } from 'node:timers/promises';
import { scrape } from '../../test/support/servers/scrape.ts';
import { cpuMsOf } from './process-figures.ts';
import type { BenchStack } from './stack.ts';

/** What a stack has done so far, by name. Each figure only grows. */
export type Counters = Record<string, number>;

/** Stand-ins for what is no part of the product: the chain and the shops of card payments. */
const NOT_OURS = ['chain', 'onramps'];

/**
 * The settings of a stack whose statements are counted. The first change of a page after a
 * checkpoint would write the whole page, so that the WAL of a run would depend on when one comes.
 */
export const COUNTED = {
  shared_preload_libraries: 'pg_stat_statements',
  'pg_stat_statements.track': 'top',
  full_page_writes: 'off',
  // The WAL of a round is read again after the round.
  wal_keep_size: '1GB',
};

const ROWS = `select sum(n_tup_ins) as inserted, sum(n_tup_upd) as updated, sum(n_tup_hot_upd) as hot,
  sum(n_tup_del) as deleted from pg_stat_user_tables`;
/** Without begin and commit, which are counted as transactions. */
const STATEMENTS = `select sum(calls) as statements from pg_stat_statements
  where dbid = (select oid from pg_database where datname = current_database())
    and query !~* '^(begin|commit|rollback|start transaction)'`;
const SERVER = `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') as wal,
  (select sum(xact_commit) from pg_stat_database where datname = current_database()) as transactions,
  (select sum(fsyncs) from pg_stat_io where object = 'wal') as flushes`;

type Counting = {
  read: () => Promise<Counters>;
  /** How often each statement ran so far, by its beginning and its schema's table. */
  statements: () => Promise<Counters>;
  /** The end of the WAL. */
  position: () => Promise<string>;
  /** Bytes of the WAL since a position, by the table or index that they change. */
  walSince: (position: string) => Promise<Counters>;
  stop: () => Promise<void>;
};

/** The texts have line breaks, and those of a kind do not differ at their beginning. */
const BY_TEXT = `select left(regexp_replace(query, '\\s+', ' ', 'g'), 90) as text, sum(calls) as calls
  from pg_stat_statements where dbid = (select oid from pg_database where datname = current_database())
    and query !~* '^(begin|commit|rollback|start transaction)' group by 1`;

/** A record counts for its first block. One without blocks is a commit or the like. */
const WAL_BY_RELATION = `with blocks as (
    select distinct on (start_lsn) start_lsn, relfilenode from pg_get_wal_block_info($1::pg_lsn, $2::pg_lsn)
    order by start_lsn, block_id)
  select coalesce(c.relnamespace::regnamespace || '.' || c.relname, 'no table') as text, sum(r.record_length) as bytes
  from pg_get_wal_records_info($1::pg_lsn, $2::pg_lsn) r left join blocks using (start_lsn)
    left join pg_class c on pg_relation_filenode(c.oid) = blocks.relfilenode
  group by 1`;

/**
 * Counts what a stack that was started with `COUNTED` does. The messages are those that a client
 * with all rights sees: each published one once, however many subscribers it has.
 */
export const startCounting = async (bench: BenchStack): Promise<Counting> => {
  await bench.db.query('create extension if not exists pg_stat_statements');
  await bench.db.query('create extension if not exists pg_walinspect');
  const nats = await bench.nats();
  let messages = 0;
  nats.subscribe('>', {
    callback: () => {
      messages += 1;
    },
  });
  await nats.flush();
  const figuresOf = async (text: string): Promise<Record<string, string>> =>
    (await bench.db.query<Record<string, string>>(text)).rows[0]!;
  const position = async () => (await figuresOf('select pg_current_wal_insert_lsn() as lsn')).lsn!;
  return {
    position,
    walSince: async (from) => {
      const { rows } = await bench.db.query<{ text: string; bytes: string }>(WAL_BY_RELATION, [
        from,
        await position(),
      ]);
      return Object.fromEntries(rows.map(({ text, bytes }) => [text, Number(bytes)]));
    },
    read: async () => {
      // A backend reports its rows once a second.
      await sleep(1100);
      await nats.flush();
      const [rows, statements, server] = [
        await figuresOf(ROWS),
        await figuresOf(STATEMENTS),
        await figuresOf(SERVER),
      ];
      const submitters = Object.keys(bench.stack.metrics).filter((name) =>
        name.startsWith('chain-submitter'),
      );
      const scraped = await Promise.all(submitters.map((name) => scrape(bench.stack.metrics[name]!)));
      const cpu = Object.entries(bench.pids()).filter(([name]) => !NOT_OURS.includes(name));
      const row = (name: string) => Number(rows[name]);
      return {
        statements: Number(statements.statements),
        transactions: Number(server.transactions),
        'flushes of the WAL': Number(server.flushes),
        rows: row('inserted') + row('updated') + row('deleted'),
        'rows inserted': row('inserted'),
        'rows updated': row('updated'),
        'rows updated, HOT': row('hot'),
        'rows deleted': row('deleted'),
        'WAL bytes': Number(server.wal),
        messages,
        'RPC calls': scraped.reduce(
          (sum, { value }) => sum + (value('quittance_rpc_call_duration_seconds_count') ?? 0),
          0,
        ),
        'CPU ms': cpu.reduce((sum, [, pid]) => sum + cpuMsOf(pid), 0),
        ...cpuByProgram(cpu),
      };
    },
    statements: async () => {
      const { rows } = await bench.db.query<{ text: string; calls: string }>(BY_TEXT);
      return Object.fromEntries(rows.map(({ text, calls }) => [text, Number(calls)]));
    },
    stop: () => nats.close(),
  };
};

const cpuByProgram = (pids: [string, number][]): Counters => {
  const sums: Counters = {};
  for (const [name, pid] of pids) {
    const key = `CPU ms, ${name.replace(/#\d+$/, '')}`;
    sums[key] = (sums[key] ?? 0) + cpuMsOf(pid);
  }
  return sums;
};

/** What was done between two readings. */
export const differences = (before: Counters, after: Counters): Counters =>
  Object.fromEntries(Object.entries(after).map(([name, value]) => [name, value - (before[name] ?? 0)]));

/** Waits until every paid intent is final. */
export const settled = async ({ db }: BenchStack): Promise<void> => {
  for (let tries = 0; tries < 300; tries += 1) {
    const { rowCount } = await db.query(
      // The condition of an index, because this server's work counts as the product's.
      `select from chain_submitter.intents where status in ('accepted', 'signed', 'confirmed', 'reopened') limit 1`,
    );
    if (rowCount === 0) return;
    await sleep(200);
  }
  throw new Error('some intents did not become final within a minute');
};
