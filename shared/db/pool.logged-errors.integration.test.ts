import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTestDatabase } from '../../test/support/servers/database.ts';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const SECRET = 'rv_test_secret';
const shared = (file: string) => JSON.stringify(path.join(import.meta.dirname, '..', file));

/** The secret as a bound value, in the text of the program. */
const BOUND = `\${secret}`;

/** Runs statements with a secret as their value, and returns the lines that their errors make. */
const linesOf = async (statements: readonly string[]): Promise<{ err: Record<string, string> }[]> => {
  const runs = statements.map((text) => `() => sql.typeAlias('void')\`${text.replace('SECRET', BOUND)}\``);
  const script = `
    const { createLogger } = await import(${shared('lib/telemetry/logger.ts')});
    const { connectPool, sql } = await import(${shared('db/pool.ts')});
    const secret = ${JSON.stringify(SECRET)};
    const logger = createLogger('test', 'info');
    const pool = await connectPool(process.env.DATABASE_URL, { max: 1 });
    for (const statement of [${runs.join(',')}])
      await pool.query(statement()).catch((error) =>
        logger.error({ err: new Error('job failed', { cause: error }) }, 'failed'));
    await pool.end();`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
    env: { ...process.env, DATABASE_URL: database.url('identity') },
  });
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { err: Record<string, string> });
};

test('a value that Postgres refuses is in no log line, whatever it was to become', async () => {
  const casts = ['uuid', 'bigint', 'int', 'timestamptz', 'interval', 'jsonb', 'inet', 'boolean', 'text[]'];
  const statements = [
    ...casts.map((type) => `select (SECRET::text)::${type}`),
    "select to_timestamp(SECRET::text, 'YYYY')",
    'select SECRET::text::numeric',
    "select decode(SECRET::text, 'hex')",
    "select regexp_replace('a', '(' || SECRET::text, '')",
  ];
  const lines = await linesOf(statements);
  expect(lines).toHaveLength(statements.length);
  expect(JSON.stringify(lines)).not.toContain(SECRET);
  for (const { err } of lines)
    expect(err).toMatchObject({ type: 'Error', message: expect.stringContaining('left out') });
});
