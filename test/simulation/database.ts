import { AsyncLocalStorage } from 'node:async_hooks';
import type { Db, Pool } from '../../shared/db/pool.ts';
import type { OutboxRow } from '../../shared/events/outbox.ts';
import { unpackToken } from '../../shared/lib/tokens/packed-token.ts';
import { Broken, type Harness, type Process } from './harness.ts';

/** Epoch milliseconds of the virtual clock's zero. */
export const EPOCH = Date.parse('2026-01-01T00:00:00.000Z');
const LATENCY_MS = 8;

/** A client's call with the times of its reads. The run compares its refusal with them. */
export type Call = {
  /** When the records of its attempt, and those of its quote, were read last. */
  attemptReadAt: number | null;
  quoteReadAt: number | null;
  /** The call was refused, and reads once more. */
  isRefused: boolean;
};
export const calls = new AsyncLocalStorage<Call>();
/** The call whose statement is being executed. */
let current: Call | undefined;
export const currentCall = (): Call | undefined => current;

/** A statement of a store as the real code binds it: its text and its values. */
export type Statement = { sql: string; values: readonly unknown[] };

/**
 * The model of one statement: the text that it replaces, the names of its parameters in their
 * order, and its effect on the tables with exactly the guards of the SQL. It runs in one event, as
 * the statement is one transaction.
 */
export type Model = { text: RegExp; names: readonly string[]; run: (values: never) => unknown[] };

/**
 * @param names of `$1`, `$2` and so on; `_` is ignored. A name that occurs twice has the same value
 * in both places, so a changed statement is detected and not misread.
 */
export const model = <V extends object = Record<never, never>>(
  text: RegExp,
  names: string,
  run: (values: V) => unknown[],
): Model => ({ text, names: names.split(/\s+/).filter((name) => name !== ''), run });

const bind = ({ names }: Model, { sql, values }: Statement): Record<string, unknown> => {
  const drifted = (what: string) => new Broken('every statement has a model', `${what}: ${sql}`);
  if (names.length !== values.length) throw drifted(`${values.length} parameters, not ${names.length}`);
  const named: Record<string, unknown> = {};
  for (const [index, name] of names.entries()) {
    if (name === '_') continue;
    if (name in named && named[name] !== values[index]) throw drifted(`$${index + 1} is not ${name}`);
    named[name] = values[index];
  }
  return named;
};

/**
 * A database or stream that did not answer. Any other error of a model is a mistake in the model.
 */
export class Unavailable extends Error {
  override name = 'Unavailable';
}

/** The token that a statement's JSON parameter has in packed form. */
export const tokenOf = (bytea: string): string => unpackToken(Buffer.from(bytea.slice(2), 'hex'));

/** As Postgres reports a unique violation. */
export class UniqueViolation extends Error {
  readonly code = '23505';
}

/** As Postgres reports that an accepted payment got only a part of its keys. */
export class PartOfKeys extends Error {
  readonly code = '23502';
  readonly column = 'settlement_id';
}

/** What a statement may end with. Anything else is a mistake of the code. */
const EXPECTED = [Unavailable, UniqueViolation, PartOfKeys];

/** Runs a model, and records what it did, to compare it with its statement (sql/shadow.ts). */
export type Recorder = { record: (statement: Statement, run: () => unknown[]) => unknown[] };

export type Outbox = ReturnType<typeof createOutbox>;

/** The outbox table of one service. `onInsert` sees each message that is committed. */
export const createOutbox = (
  harness: Harness,
  onInsert: (messageId: string, payload: never) => void = () => {},
) => {
  const rows = new Map<bigint, OutboxRow & { created_at: number }>();
  let last = 0n;
  /** Rows of an `outboxValues` parameter: a message each, as of a statement for one payment. */
  const insert = (json: string): (OutboxRow & { positions: number[] })[] =>
    (JSON.parse(json) as { position?: number; subject: string; msg_id: string; payload: unknown }[]).map(
      ({ position = 0, ...message }) => {
        last += 1n;
        onInsert(message.msg_id, message.payload as never);
        const row = { ...message, outbox_id: last, traceparent: null };
        rows.set(last, { ...row, created_at: harness.now() });
        return { ...row, positions: [position] };
      },
    );
  return {
    rows,
    insert,
    /**
     * The statements that only insert messages.
     * @param isPending whether a settlement is, for the messages about pending ones
     */
    models: (isPending: (settlementId: string) => boolean): Model[] => [
      model<{ json: string }>(/^\s*insert into outbox.*join settlements/s, 'json', ({ json }) => {
        const events = JSON.parse(json) as { payload: { settlement_id: string } }[];
        return insert(JSON.stringify(events.filter(({ payload }) => isPending(payload.settlement_id))));
      }),
      model<{ json: string }>(/^\s*insert into outbox(?!.*join settlements)/s, 'json', ({ json }) =>
        insert(json),
      ),
    ],
  };
};

/** The model of a text, cached over all runs. By service, because each has an outbox. */
const known = {
  submitter: new Map<string, number>(),
  settlement: new Map<string, number>(),
  funding: new Map<string, number>(),
};

export type Database = ReturnType<typeof createDatabase>;

/**
 * A service's schema. Processes reach it through `connect`, which gives the store code the pool
 * that it needs. A statement without a model ends the run, so a model cannot become outdated
 * unnoticed.
 * @param shadow the same tables on Postgres, if the run compares
 */
export const createDatabase = (
  harness: Harness,
  service: keyof typeof known,
  { models, shadow }: { models: readonly Model[]; shadow: Recorder | undefined },
) => {
  const places = known[service];
  const modelOf = (sql: string): Model => {
    const place = places.get(sql) ?? placeOf(sql);
    places.set(sql, place);
    return models[place]!;
  };
  const placeOf = (sql: string): number => {
    const text = sql.replaceAll('$slonik_', '$').trim();
    const fitting = models.flatMap((one, place) => (one.text.test(text) ? [place] : []));
    if (fitting.length !== 1)
      throw new Broken('every statement has a model', `${fitting.length} fit: ${sql}`);
    return fitting[0]!;
  };
  const carryOut = (statement: Statement): unknown[] => {
    try {
      const found = modelOf(statement.sql);
      const run = () => found.run(bind(found, statement) as never);
      return shadow === undefined ? run() : shadow.record(statement, run);
    } catch (error) {
      if (!EXPECTED.some((kind) => error instanceof kind)) harness.fault(error);
      throw error;
    }
  };

  let unavailableUntil = 0;

  const shapes = (execute: (statement: Statement) => Promise<unknown[]>) => {
    const firstOf = (row: unknown) => (row === undefined ? null : Object.values(row as object)[0]);
    return {
      any: execute,
      many: execute,
      query: async (statement: Statement) => {
        const rows = await execute(statement);
        return { rows, rowCount: rows.length };
      },
      anyFirst: async (statement: Statement) => (await execute(statement)).map(firstOf),
      one: async (statement: Statement) => (await execute(statement))[0],
      maybeOne: async (statement: Statement) => (await execute(statement))[0] ?? null,
      oneFirst: async (statement: Statement) => firstOf((await execute(statement))[0]),
      maybeOneFirst: async (statement: Statement) => firstOf((await execute(statement))[0]),
    } as unknown as Db;
  };

  return {
    /** The server is killed and restarts with everything that was committed. */
    kill: (unavailableMs: number) => {
      harness.trace(service, `database is unavailable for ${unavailableMs.toFixed(0)} ms`);
      unavailableUntil = harness.now() + unavailableMs;
    },
    upSince: () => unavailableUntil,
    connect: (process: Process): Pool => {
      const step = <T>(effect: () => T | Promise<T>): Promise<T> => {
        const of = calls.getStore();
        return harness.io(process, LATENCY_MS, () => {
          if (harness.now() < unavailableUntil) throw new Unavailable('connection refused');
          const lost = harness.random.chance(harness.faults.lostAnswer);
          // Half of the lost answers belong to statements that did not reach the server.
          if (lost && harness.random.chance(0.5)) throw new Unavailable('connection refused');
          current = of;
          const result = effect();
          current = undefined;
          // A lost answer may have been a refusal.
          if (lost && result instanceof Promise) result.catch(() => {});
          if (lost) throw new Unavailable('connection terminated during the statement');
          return result;
        });
      };
      return Object.assign(
        shapes((statement) => step(() => carryOut(statement))),
        {
          // No time passes inside: a transaction happens as a whole or not at all.
          transaction: <T>(work: (tx: Db) => Promise<T>): Promise<T> =>
            step(() => work(shapes(async (statement) => carryOut(statement)))),
        },
      ) as unknown as Pool;
    },
  };
};
