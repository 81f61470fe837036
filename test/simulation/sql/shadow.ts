import pg from 'pg';
import type { ServiceName } from '../../../shared/contract/service.ts';
import { connectPool } from '../../../shared/db/pool.ts';
import { createTestDatabase } from '../../support/servers/database.ts';
import { isCitus } from '../../support/servers/database-handle.ts';
import { EPOCH, type Recorder, type Statement } from '../database.ts';
import { Broken, type Harness } from '../harness.ts';
import { createMirror, rowsOf, type Tables, type View } from './mirror.ts';
import { differenceOf, differenceOfSets, type Row } from './same.ts';

type Executed = {
  at: number;
  statement: Statement;
  /** What people of the run may have changed before. */
  before: Tables;
  /** The tables that the statement names, if it writes. */
  after: Tables;
  result: { rows: unknown[] } | { code: unknown };
};

/**
 * Gives Postgres the virtual time, which every statement reads through `app_now()`. The coordinator
 * of a cluster evaluates it (deploy/citus/settlement.sql).
 */
const virtualClock = () => `
  create or replace function public.app_now() returns timestamptz language sql ${isCitus() ? 'immutable' : 'stable'} as
  $$ select to_timestamp(current_setting('simulation.now')::float8 / 1000) $$`;

/** JSON in which money is text. */
const jsonOf = (value: unknown): string =>
  JSON.stringify(value, (_, one: unknown) => (typeof one === 'bigint' ? String(one) : one));

/** As the product's pool reads them. */
const TYPES = {
  getTypeParser: (oid: number, format?: unknown) => {
    if (oid === pg.types.builtins.INT8) return BigInt;
    if (oid === pg.types.builtins.TIMESTAMPTZ) return (text: string) => Date.parse(text);
    return pg.types.getTypeParser(oid, format as 'text');
  },
};

/** A run restores a database for the statements that search what it lost, and for no other one. */
const READS_RESTORES = /^\s*select [^;]*from restores/;
const LOCK = 'pg_advisory_xact_lock';

/** What the text of a statement says about it. */
const createKinds = (views: readonly View[]) => {
  const known = new Map<string, ReturnType<typeof kindOf>>();
  const kindOf = (text: string) => ({
    writes: /\b(?:insert into|update|delete from)\b/.test(text.replaceAll(/for (?:no key )?update/g, '')),
    isOrdered: /order by [^()]*$/.test(text),
    isVoid: !/\breturning\b/.test(text),
    named: views.filter(({ table }) => new RegExp(`\\b${table}\\b`).test(text)),
  });
  return (text: string) => {
    const kind = known.get(text) ?? kindOf(text);
    known.set(text, kind);
    return kind;
  };
};

/** Executes on Postgres what the models of one service have executed, and compares. */
type Shadow = Recorder & {
  /** @throws Broken at the first difference */
  replay: () => Promise<void>;
  statements: () => number;
  close: () => Promise<void>;
};

/** The database of a run: a copy of the migrated one, with the schema of each service. */
export const openShadows = async (harness: Harness) => {
  const database = await createTestDatabase();
  const admin = new pg.Client({ connectionString: database.adminUrl, types: TYPES as never });
  await admin.connect();
  await admin.query(virtualClock());
  const opened: Shadow[] = [];
  return {
    statements: () => opened.reduce((sum, shadow) => sum + shadow.statements(), 0),
    open: async (service: ServiceName, views: readonly View[]): Promise<Shadow> => {
      const shadow = await openShadow(harness, { admin, service, url: database.url(service), views });
      opened.push(shadow);
      return shadow;
    },
    /** Everything that the last event has executed. */
    replay: async (): Promise<void> => {
      for (const shadow of opened) await shadow.replay();
    },
    close: async (): Promise<void> => {
      for (const shadow of opened) await shadow.close();
      await admin.end();
      await database.drop();
    },
  };
};

const openShadow = async (
  harness: Harness,
  {
    admin,
    service,
    url,
    views,
  }: { admin: pg.Client; service: ServiceName; url: string; views: readonly View[] },
): Promise<Shadow> => {
  const pool = await connectPool(url, { max: 1 });
  const mirror = createMirror(admin, service);
  const kindOf = createKinds(views);
  const followed = views.filter(({ isFollowed }) => isFollowed);
  const executed: Executed[] = [];
  let lastFollowed = '';
  let seenOutside = 0;
  let clock = -1;
  let statements = 0;

  const setClock = async (at: number) => {
    if (at === clock) return;
    clock = at;
    const setting = `select set_config('simulation.now', '${EPOCH + at}', false)`;
    await pool.query({ type: 'SLONIK_TOKEN_QUERY', sql: setting, values: [] } as never);
  };

  /** What people of the run changed without a statement since the last one. */
  const changedOutside = (): Tables => {
    if (harness.outside() !== seenOutside) return rowsOf(views);
    return textOf(followed) === lastFollowed ? new Map() : rowsOf(followed);
  };
  const textOf = (some: readonly View[]) => jsonOf(some.map(({ rows }) => rows()));

  const differenceOfResults = (
    text: string,
    modelled: readonly unknown[],
    { rows, rowCount }: { rows: readonly Row[]; rowCount: number },
  ): string | null => {
    const { writes, isVoid, isOrdered } = kindOf(text);
    // A change without an answer: a caller may ask how many rows it has changed.
    if (writes && isVoid)
      return modelled.length === 0 || modelled.length === rowCount
        ? null
        : `the model changes ${modelled.length} rows, Postgres ${rowCount}`;
    const isLock = rows.every((row) => Object.keys(row).every((name) => name === LOCK));
    if (READS_RESTORES.test(text) || (modelled.length === 0 && isLock)) return null;
    return isOrdered ? differenceOf(modelled, rows) : differenceOfSets(modelled, rows);
  };

  const answerOf = async (statement: Statement) => {
    try {
      const { rows, rowCount } = await pool.query(statement as never);
      return { rows: rows as unknown as Row[], rowCount: rowCount ?? 0 };
    } catch (error) {
      const { cause = error } = error as { cause?: unknown };
      return { code: (cause as { code?: unknown }).code ?? null, text: String(cause) };
    }
  };

  const execute = async ({ at, statement, before, after, result }: Executed): Promise<string | null> => {
    await setClock(at);
    if (before.size > 0) await mirror.follow(before);
    const actual = await answerOf(statement);
    if ('code' in result || 'code' in actual) {
      const isSame = 'code' in result && 'code' in actual && result.code === actual.code;
      const said = (one: object) => ('text' in one ? one.text : 'code' in one ? one.code : 'rows');
      return isSame ? null : `the model: ${said(result)}, Postgres: ${said(actual)}`;
    }
    return differenceOfResults(statement.sql, result.rows, actual) ?? (await mirror.compare(after));
  };

  const broken = (difference: string, { at, statement: { sql, values } }: Executed): Broken => {
    const where = `at ${(at / 1000).toFixed(3)} s in ${service}`;
    return new Broken(
      'a model answers as its statement',
      `${difference}\n${where}:\n${sql}\nwith ${jsonOf(values)}`,
    );
  };

  return {
    record: (statement, run) => {
      const before = changedOutside();
      seenOutside = harness.outside();
      const { writes, named } = kindOf(statement.sql);
      const keep = (result: Executed['result']) => {
        const after = rowsOf(writes && 'rows' in result ? named : []);
        executed.push({ at: harness.now(), statement, before, after, result });
        lastFollowed = textOf(followed);
      };
      try {
        const rows = run();
        keep({ rows: structuredClone(rows) });
        return rows;
      } catch (error) {
        const { code } = error as { code?: unknown };
        if (code !== undefined) keep({ code });
        throw error;
      }
    },
    replay: async () => {
      for (const one of executed.splice(0)) {
        const difference = await execute(one);
        if (difference !== null) throw broken(difference, one);
        statements += 1;
      }
    },
    statements: () => statements,
    close: () => pool.end(),
  };
};
