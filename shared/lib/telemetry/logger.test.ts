import { spawn } from 'node:child_process';
import path from 'node:path';
import { expect, test } from '@jest/globals';

const logger = path.join(import.meta.dirname, 'logger.ts');

type Line = {
  msg: string;
  err?: { type: string; message: string; stack?: string; [field: string]: unknown };
};

/** What a process has written when it has ended. */
const output = (script: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    child.once('error', reject).once('close', () => resolve(text));
  });

/** The lines that a process has logged when it has ended. */
const linesOf = async (program: string): Promise<Line[]> => {
  const text = await output(`import { createLogger } from ${JSON.stringify(logger)};
    const logger = createLogger('test', 'info'); ${program}`);
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);
};
const loggedBy = async (program: string): Promise<string[]> => (await linesOf(program)).map(({ msg }) => msg);

const MANY = Array.from({ length: 200 }, (_, i) => `line ${i}`);
const logMany = "for (let i = 0; i < 200; i++) logger.info('line ' + i);";

test.each([
  ['ends', ''],
  ['exits by process.exit', 'process.exit(0);'],
  ['crashes', "throw new Error('crash');"],
  ['is killed a moment later', "setTimeout(() => process.kill(process.pid, 'SIGKILL'), 1000);"],
])('a process that %s has written every line in order', async (_how, end) => {
  expect(await loggedBy(`${logMany} ${end}`)).toEqual(MANY);
});

test('a warning is written at once, after the earlier lines', async () => {
  const killed = "logger.info('before'); logger.warn('warned'); process.kill(process.pid, 'SIGKILL');";
  expect(await loggedBy(killed)).toEqual(['before', 'warned']);
});

test('an unavailable dependency is logged without a stack, and any other error with its stack', async () => {
  const logging = (error: string) => `logger.warn({ err: ${error} }, 'failed');`;
  const lines = await linesOf(
    [
      logging("Object.assign(new Error('no answer'), { name: 'RpcUnavailable' })"),
      logging(
        "new Error('not read', { cause: Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }) })",
      ),
      logging("new Error('a bug')"),
    ].join(''),
  );
  expect(lines.map(({ err }) => [err?.message, err?.stack !== undefined])).toEqual([
    ['no answer', false],
    ['not read: refused', false],
    ['a bug', true],
  ]);
});

test('an error is logged by a list of fields, without the values of a statement or a row', async () => {
  const violation = `Object.assign(new Error('duplicate key value violates unique constraint "accounts_by_email"'), {
      code: '23505', schema: 'identity', table: 'accounts', constraint: 'accounts_by_email',
      detail: 'Key (email)=(ada@example.com) already exists.', where: 'row ada@example.com' })`;
  const lines = await linesOf(`
    const { SchemaValidationError } = await import('slonik');
    const query = { sql: 'select $1', values: ['ada@example.com'] };
    const row = { email: 'ada@example.com', settlement: { settlement_token: 'ada@example.com' } };
    const caused = new Error('not stored', { cause: ${violation} });
    for (const err of [new SchemaValidationError(query, row, []), ${violation}, caused])
      logger.error({ err }, 'failed');`);
  expect(JSON.stringify(lines)).not.toContain('ada@');
  expect(lines.map(({ err }) => err)).toEqual([
    { type: 'SchemaValidationError', message: expect.any(String), stack: expect.any(String) },
    {
      type: 'Error',
      message: expect.stringContaining('accounts_by_email'),
      code: '23505',
      table: 'accounts',
      constraint: 'accounts_by_email',
      stack: expect.any(String),
    },
    {
      type: 'Error',
      message: expect.stringContaining('not stored'),
      code: '23505',
      table: 'accounts',
      constraint: 'accounts_by_email',
      stack: expect.any(String),
    },
  ]);
});

test('a message that quotes what could not be parsed is left out, and so is its copy in the stack', async () => {
  const lines = await linesOf(`
    const failures = [() => JSON.parse('{"a": rv_test_secret'), () => BigInt('rv_test_secret')];
    for (const fail of failures) {
      try { fail(); } catch (error) { logger.error({ err: error }, 'failed'); }
      try { fail(); } catch (cause) { logger.error({ err: new Error('not read', { cause }) }, 'failed'); }
    }`);
  expect(lines).toHaveLength(4);
  expect(JSON.stringify(lines)).not.toContain('secret');
  for (const { err } of lines)
    expect(err).toMatchObject({
      message: expect.stringContaining('left out'),
      stack: expect.stringMatching(/^\s+at /),
    });
});

test('with LOG_FORMAT=pretty, one readable line is written for each log line', async () => {
  const script = `import { createLogger } from ${JSON.stringify(logger)};
    createLogger('quote', 'info', 'pretty').info({ quote_id: 'q_1' }, 'call');`;
  const out = await output(script);
  expect(out).toMatch(/^\d\d:\d\d:\d\d\.\d{3} INFO {2}quote call quote_id=q_1\n$/);
});
