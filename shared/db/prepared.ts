import { createPgDriverFactory } from '@slonik/pg-driver';
import type { DriverClient, DriverFactory } from 'slonik';

/**
 * Statements that one connection keeps prepared. Texts are written in the source, so there are
 * fewer; one that spells out a list of any length would make many, and those beyond this are
 * planned every time.
 */
export const MOST_PREPARED = 300;

/** Postgres refuses a plan whose result a migration gave other types, before it runs any of it. */
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
        // Within a transaction it is too late, for the refusal has ended it: that is told, and not
        // what follows from it.
        return run(text, values, prepare(text)).catch(() => {
          throw error;
        });
      }
    },
  };
};

/**
 * slonik's driver, but every statement is prepared under a name: Postgres parses and plans it once
 * a connection (ADR 28).
 */
export const createPreparedStatements: DriverFactory = async (options) => {
  const { createClient } = await createPgDriverFactory()(options);
  return { createClient: async () => prepareOnce(await createClient()) };
};
