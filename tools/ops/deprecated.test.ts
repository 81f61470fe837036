import { afterEach, expect, test } from '@jest/globals';
import { quote } from '../../shared/contract/index.ts';
import type { Operator } from './connect.ts';
import { deprecatedCommands } from './deprecated.ts';
import { runCommand } from './run.ts';

const { list } = quote.operations as Record<string, object>;
const [command] = deprecatedCommands;
afterEach(() => void Reflect.deleteProperty(list!, 'deprecated'));

/** What the command prints, with gateways that answer this. */
const run = async (answers: unknown[], values: { used?: boolean; limit?: string } = {}) => {
  const printed: unknown[] = [];
  const { log } = console;
  console.log = (text) => void printed.push(text);
  try {
    const operator = { each: async () => answers } as unknown as Operator;
    const code = await runCommand(command!, [], { ...values, logs: '', traces: null }, async () => operator);
    return { code, text: printed.join('\n') };
  } finally {
    console.log = log;
  }
};

const use = (operation: string, account_id: string) => ({
  operation,
  account_id,
  last_used_at: '2027-02-01T10:00:00.000Z',
});

test('deprecated operations are listed with their end and what replaces them', async () => {
  expect(await run([])).toEqual({ code: 0, text: 'No operation is deprecated.' });
  Object.assign(list!, { deprecated: { since: '2027-01-15', until: '2027-08-01', use: '`quote.get`' } });
  const { text } = await run([]);
  expect(text).toMatch(/^quote\.list +2027-01-15 +2027-08-01 +`quote\.get`$/m);
});

test('the accounts that use them are those of the first gateway that can tell', async () => {
  const uses = [use('quote.list', 'acct_1'), use('quote.list', 'acct_2')];
  const { code, text } = await run([{ other: 1 }, { uses, more: true }, { uses: [] }], { used: true });
  expect(code).toBe(0);
  expect(text.split('\n').map((line) => line.trim().split(/ {2,}/))).toEqual([
    ['operation', 'account', 'last used'],
    ['quote.list', 'acct_1', '2027-02-01T10:00:00.000Z'],
    ['quote.list', 'acct_2', '2027-02-01T10:00:00.000Z'],
  ]);
  expect((await run([{ uses }], { used: true, limit: '1' })).text).not.toContain('acct_2');
  expect(await run([{ uses: [] }], { used: true })).toEqual({
    code: 0,
    text: 'No account has used a deprecated operation.',
  });
  expect(await run([], { used: true })).toMatchObject({ code: 1 });
});
