import pg from 'pg';
import type { ServiceName } from '../../../shared/contract/service.ts';
import { schemaName } from '../../../shared/db/names.ts';
import { differenceOfSets, type Row } from './same.ts';

/**
 * What the models hold of a table: the rows, with the columns that Postgres shows. `defaults`: the
 * columns that a row needs besides if people of a run insert it without a statement.
 */
export type View = {
  table: string;
  key: readonly string[];
  rows: () => readonly Row[];
  defaults?: Row;
  /** People of a run change it without a statement. */
  isFollowed?: boolean;
  /** Columns that the models hold in another form: what they are in SQL. */
  shown?: Readonly<Record<string, string>>;
};

/** The rows of some views at a moment. */
export type Tables = ReadonlyMap<View, readonly Row[]>;
export const rowsOf = (views: readonly View[]): Tables =>
  new Map(views.map((view) => [view, structuredClone(view.rows())]));

const quoted = (name: string): string => pg.escapeIdentifier(name);
const keyOf = ({ key }: View, row: Row): string => JSON.stringify(key.map((name) => row[name]));
/** A time of the models is a number. */
const bound = (name: string, place: number): string =>
  /_(?:at|until)$/.test(name) ? `to_timestamp($${place}::float8 / 1000)` : `$${place}`;
const whereKey = ({ key }: View, from: number): string =>
  key.map((name, place) => `${quoted(name)} = $${from + place}`).join(' and ');

/** The tables of a service on Postgres. `admin` may write them without the product. */
export const createMirror = (admin: pg.Client, service: ServiceName) => {
  const tableOf = ({ table }: View) => `${quoted(schemaName(service))}.${quoted(table)}`;

  const select = (view: View, example: Row | undefined): string => {
    const names = example === undefined ? view.key : Object.keys(example);
    const shown = names.map((name) => `${view.shown?.[name] ?? quoted(name)} as ${quoted(name)}`);
    return `select ${shown.join(', ')} from ${tableOf(view)}`;
  };
  const insert = (view: View, row: Row) => {
    const given = Object.entries({ ...view.defaults, ...row }).filter(([, value]) => value !== null);
    const names = given.map(([name]) => quoted(name)).join(', ');
    const values = given.map(([name], place) => bound(name, place + 1)).join(', ');
    return admin.query(
      `insert into ${tableOf(view)} (${names}) values (${values}) on conflict do nothing`,
      given.map(([, value]) => value),
    );
  };
  const change = (view: View, row: Row) => {
    const given = Object.entries(row);
    const sets = given.map(([name], place) => `${quoted(name)} = ${bound(name, place + 1)}`);
    return admin.query(
      `update ${tableOf(view)} set ${sets.join(', ')} where ${whereKey(view, given.length + 1)}`,
      [...given.map(([, value]) => value), ...view.key.map((name) => row[name])],
    );
  };
  const remove = (view: View, row: Row) =>
    admin.query(
      `delete from ${tableOf(view)} where ${whereKey(view, 1)}`,
      view.key.map((name) => row[name]),
    );

  return {
    /** Makes the tables of Postgres those of the models. */
    follow: async (tables: Tables): Promise<void> => {
      const gone: { view: View; row: Row }[] = [];
      for (const [view, rows] of tables) {
        const { rows: found } = await admin.query<Row>(select(view, rows[0]));
        const known = new Map(found.map((row) => [keyOf(view, row), row]));
        for (const row of rows) {
          const earlier = known.get(keyOf(view, row));
          known.delete(keyOf(view, row));
          if (earlier === undefined) await insert(view, row);
          else if (differenceOfSets([row], [earlier]) !== null) await change(view, row);
        }
        for (const row of known.values()) gone.push({ view, row });
      }
      // Rows of a later view refer to rows of an earlier one.
      for (const { view, row } of gone.reverse()) await remove(view, row);
    },
    /** The first difference; null: none. */
    compare: async (tables: Tables): Promise<string | null> => {
      const views = [...tables];
      const texts = views.map(([view, rows]) => select(view, rows[0]));
      // One round trip: the driver answers several statements with a list of results.
      const results = (await admin.query(`${texts.join(';')};select`)) as unknown as { rows: Row[] }[];
      for (const [place, [{ table }, rows]] of views.entries()) {
        const difference = differenceOfSets(rows, results[place]!.rows);
        if (difference !== null) return `afterwards in ${table}, ${difference}`;
      }
      return null;
    },
  };
};
