import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { seedSettlements } from '../../../bench/harness/seed.ts';
import { createConsumer, createVendor, quoteOf, settleWith } from '../../../deploy/local/seed/actors.ts';
import { createApi, must } from '../../../deploy/local/seed/api.ts';
import { connectDatabases, type EveryDatabase } from '../../../deploy/local/servers/every-database.ts';
import type { RunningStack } from '../../../deploy/local/stack/stack.ts';
import { sections } from '../../../tools/ops/runbook.ts';
import { waitFor } from '../../support/base/wait.ts';
import { opsAt } from '../../support/packages/ops.ts';

/** So many payments are in the tables. A scan of them costs more than any index. */
const SETTLEMENTS = 60_000;
/** No statement of an operator's command reads more rows of a table. */
const MOST_READ = 15_000;

/** A node of a plan, as auto_explain writes it. */
type Node = {
  'Node Type': string;
  'Relation Name'?: string;
  'Actual Rows'?: number;
  'Actual Loops'?: number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  Plans?: Node[];
};
type Explained = { 'Query Text': string; Plan: Node };

const nodesOf = (node: Node): Node[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];
const readBy = (node: Node): number =>
  ((node['Actual Rows'] ?? 0) +
    (node['Rows Removed by Filter'] ?? 0) +
    (node['Rows Removed by Index Recheck'] ?? 0)) *
  (node['Actual Loops'] ?? 1);

/** Tables that stay small, whatever an installation does, and why. */
const SMALL: Readonly<Record<string, string>> = {
  settings: 'one row',
  intake: 'one row',
  stream_position: 'one row',
  record_checks: 'one row',
  lanes: 'a row for each lane',
  replicas: 'a row for each replica',
  workers: 'a row for each replica',
  restores: 'a row for each restore',
  lost_records: 'a row for each restore',
  outbox: 'what is published is deleted',
  reveal_links: 'deleted after a quarter of an hour',
};

/** Jobs of the services run meanwhile. A first command reads, and records that it was run. */
const isOfJob = (query: string): boolean => /^\s*(update|delete)\b/.test(query);

/** What a plan does that a large table would not allow. */
const faultsOf = ({ 'Query Text': query, Plan }: Explained): string[] =>
  (isOfJob(query) ? [] : nodesOf(Plan)).flatMap((node) => {
    const table = node['Relation Name'];
    if (table === undefined || SMALL[table] !== undefined || node['Actual Loops'] === 0) return [];
    const rows = readBy(node);
    // Scans are disabled for the planner, so one that is left has no index.
    if (node['Node Type'] === 'Seq Scan') return [`scan of ${table}: ${query}`];
    return rows > MOST_READ ? [`${rows} rows of ${table}: ${query}`] : [];
  });

/**
 * The plans of all statements behind the first commands of the runbook, over tables of many
 * payments. Postgres itself reports them, so a new statement needs no line here.
 * @param stack the running stack, once it is started
 */
export const plans = (stack: () => RunningStack): void =>
  describe('plans of operators’ commands', () => {
    let running: RunningStack;
    let db: EveryDatabase;
    let given: Readonly<Record<string, string>>;
    const ops = (...args: string[]) => opsAt(running.stackFile)(...args);

    /** The connections of all services are made again, with what is set for their databases. */
    const set = async (settings: Readonly<Record<string, string | null>>): Promise<void> => {
      await db.everywhere(
        `do $$ begin ${Object.entries(settings)
          .map(([name, value]) => {
            const change = value === null ? `reset ${name}` : `set ${name} = ${value}`;
            return `execute format('alter database %I ${change.replaceAll("'", "''")}', current_database());`;
          })
          .join(' ')} end $$`,
      );
      await db.everywhere(
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
      );
      await waitFor(
        () => ops('status', '--json'),
        ({ code }) => code === 0,
        60_000,
        500,
      );
    };

    const logs = () => {
      const folder = path.join(path.dirname(running.stackFile), 'logs');
      return readdirSync(folder)
        .filter((name) => name.startsWith('postgres'))
        .map((name) => path.join(folder, name));
    };
    /** What Postgres has explained since the logs had these sizes. */
    const explainedSince = (sizes: ReadonlyMap<string, number>): Explained[] =>
      logs().flatMap((file) => {
        const text = readFileSync(file)
          .subarray(sizes.get(file) ?? 0)
          .toString('utf8');
        return [...text.matchAll(/ plan:\n((?:\t.*\n)+)/g)].map(([, json]) => JSON.parse(json!) as Explained);
      });

    beforeAll(async () => {
      running = stack();
      db = connectDatabases(running.stack.postgres_urls, { max: 2 });
      const api = createApi(running.stack.gateway_url);
      const [vendor, consumer] = await Promise.all([
        createVendor(api, running.stack),
        createConsumer(api, running.stack),
      ]);
      const paid = await must(settleWith(api, consumer.token, await quoteOf(api, vendor)), 'settle');
      const { settlement_id } = paid;
      await waitFor(
        async () =>
          (await db.query('select 1 from wallet.transactions where object_id = $1', [settlement_id]))
            .rowCount,
        (count) => count === 1,
        30_000,
      );
      const [{ quote_id }] = (
        await db.query('select quote_id from settlement.settlements where settlement_id = $1', [
          settlement_id,
        ])
      ).rows;
      await seedSettlements(
        { report: { progress: () => {} } } as unknown as Parameters<typeof seedSettlements>[0],
        db.of('settlement'),
        {
          quoteId: quote_id,
          settlementId: settlement_id,
          vendor: { accountId: vendor.signIn.account.account_id, serviceId: vendor.serviceId },
          payer: { accountId: consumer.signIn.account.account_id, walletId: consumer.walletId },
        },
        SETTLEMENTS,
      );
      // A preparation of each wallet, as an installation has them.
      await db.query(`insert into wallet.preparations
        select (jsonb_populate_record(null::wallet.preparations, to_jsonb(p) ||
          jsonb_build_object('preparation_id', 'prep_seed' || w.i, 'wallet_id', w.wallet_id))).*
        from (select * from wallet.preparations where status in ('confirmed', 'finalized') limit 1) as p,
          (select wallet_id, row_number() over () as i from wallet.wallets) as w`);
      await db.query('analyze wallet.preparations');
      given = { id: paid.tx_hash, account: consumer.signIn.account.email, ticket: 'plans' };
      await set({
        session_preload_libraries: "'auto_explain'",
        'auto_explain.log_min_duration': '0',
        'auto_explain.log_analyze': 'on',
        'auto_explain.log_timing': 'off',
        'auto_explain.log_format': "'json'",
        enable_seqscan: 'off',
      });
    }, 180_000);

    test('no statement behind a first command scans a large table', async () => {
      const lines = [
        ...new Set(sections.flatMap(({ command }) => (command === null ? [] : [command]))),
        'audit --account <account_id>',
        'accounts find <account> --ticket <ticket>',
        'payments list --account <account> --ticket <ticket>',
      ].filter((line) => !line.startsWith('reconcile') && !line.startsWith('backups'));
      const sizes = new Map(logs().map((file) => [file, statSync(file).size]));
      const [account] = JSON.parse(
        (await ops('accounts', 'find', given.account!, '--ticket', 'plans', '--json')).out,
      );
      const values = { ...given, account_id: account.account_status.account_id };
      for (const line of lines) {
        const words = line
          .split(' ')
          .map((word) => values[/^<(\w+)>$/.exec(word)?.[1] as keyof typeof values] ?? word);
        const { code, err } = await ops(...words);
        expect({ line, code, err: code === 0 ? '' : err }).toEqual({ line, code: 0, err: '' });
      }
      const explained = explainedSince(sizes);
      // The statements of the commands were seen, of several services.
      for (const part of [
        'from intents where',
        'from outbox',
        'from settlements where',
        'from operator_actions',
      ])
        expect(explained.some(({ 'Query Text': query }) => query.includes(part))).toBe(true);
      expect([...new Set(explained.flatMap(faultsOf))]).toEqual([]);
    }, 120_000);

    test('a scan would be found', async () => {
      const sizes = new Map(logs().map((file) => [file, statSync(file).size]));
      const fresh = connectDatabases(running.stack.postgres_urls, { max: 1 });
      try {
        await fresh.query("select count(*) from settlement.settlements where failure_code = 'x'");
        await fresh.query('select count(*) from settlement.settlements where settlement_id > $1', ['']);
      } finally {
        await fresh.end();
      }
      const faults = await waitFor(
        async () => explainedSince(sizes).flatMap(faultsOf),
        (found) => found.length >= 2,
      );
      expect(faults).toEqual(
        expect.arrayContaining([
          expect.stringMatching(/^scan of settlements/),
          expect.stringMatching(/^\d+ rows of settlements/),
        ]),
      );
      await set({
        session_preload_libraries: null,
        'auto_explain.log_min_duration': null,
        'auto_explain.log_analyze': null,
        'auto_explain.log_timing': null,
        'auto_explain.log_format': null,
        enable_seqscan: null,
      });
      await db.end();
    });
  });
