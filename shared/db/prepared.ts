import { createPgDriverFactory } from '@slonik/pg-driver';
import type { DriverClient, DriverFactory } from 'slonik';

/**
 * The maximum number of prepared statements per connection. Texts are written in the source, so
 * there are fewer. A text that lists a variable number of values would create many, and those
 * beyond the limit are planned each time.
 */
export const MOST_PREPARED = 300;

/** Postgres refuses a plan whose result types a migration has changed, before it runs. */
const isStalePlan = (error: unknown): boolean =>
  (error as { code?: unknown }).code === '0A000' &&
  (error as { routine?: unknown }).routine === 'RevalidateCachedQuery';

const prepareOnce = (client: DriverClient): DriverClient => {
  const names = new Map<string, string>();
  let made = 0;
  const prepare = (text: string): string | undefined => {
    if (names.size >= MOST_PREPARED && !names.has(text)) return undefined;
    made += 1;
    const name = `s${made}`;
    names.set(text, name);
    return name;
  };
  const run = (text: string, values: unknown[] | undefined, name: string | undefined) =>
    client.query(text, values, name === undefined ? undefined : { name });
  return {
    ...client,
    query: async (text, values) => {
      try {
        return await run(text, values, names.get(text) ?? prepare(text));
      } catch (error) {
        if (!isStalePlan(error)) throw error;
        // Within a transaction a retry is too late, because the error has ended the transaction.
        // This error is thrown, and not one that follows from it.
        return run(text, values, prepare(text)).catch(() => {
          throw error;
        });
      }
    },
  };
};

/**
 * slonik's driver with named prepared statements: Postgres parses and plans each statement once per
 * connection.
 */
export const createPreparedStatements: DriverFactory = async (options) => {
  const { createClient } = await createPgDriverFactory()(options);
  return { createClient: async () => prepareOnce(await createClient()) };
};
