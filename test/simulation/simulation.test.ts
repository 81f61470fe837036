import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import path from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { RULES } from './harness.ts';

const run = promisify(execFile);

/**
 * A command of this folder in a separate process, because real time and virtual time must not mix.
 */
const node = async (file: string, ...args: string[]): Promise<string> => {
  const command = ['--disable-warning=ExperimentalWarning', path.join(import.meta.dirname, file), ...args];
  const { stdout } = await run(process.execPath, command, { maxBuffer: 16_000_000 }).catch(
    (failed: { stdout: string }) => failed,
  );
  return stdout;
};

/**
 * Seconds of work for a core. A busy machine may take ten times as long, and a run that hangs
 * ends itself.
 */
const TIMEOUT_MS = 1_800_000;

test(
  '100 seeds: no payment is lost and none is made twice, whatever crashes, is lost or lies',
  async () => {
    const said = await node('main.ts', '--seeds', '100');
    expect(said).toMatch(/^100 seeds, \d+ payments, .*: 0 broken\n$/);
  },
  TIMEOUT_MS,
);

test(
  'ten seeds on Postgres: each model answers as its statement, and leaves the same tables',
  async () => {
    const said = await node('main.ts', '--sql', '--seeds', '10');
    expect(said).toMatch(/^10 seeds, .*, [1-9]\d{4} statements as on Postgres, .*: 0 broken\n$/);
  },
  TIMEOUT_MS,
);

test(
  'a seed replays the same run, line by line',
  async () => {
    const digest = async () => {
      const trace = await node('main.ts', '--seed', '7', '--trace');
      // The last line contains real seconds.
      const lines = trace.split('\n').slice(0, -2);
      expect(lines.length).toBeGreaterThan(20);
      return createHash('sha256').update(lines.join('\n')).digest('hex');
    };
    expect(await digest()).toBe(await digest());
  },
  TIMEOUT_MS,
);

describe('the simulation finds a break for each rule that is switched off', () => {
  let table = '';
  // One process for all rules: loading the code takes longer than finding most of the breaks.
  beforeAll(async () => {
    table = await node('mutations.ts', '--seeds', '4000');
  }, TIMEOUT_MS);

  test.each(RULES)('%s', (rule) => {
    const row = table.split('\n').find((line) => line.startsWith(`| ${rule} |`));
    expect(row).toMatch(/\| \d+ \| .+ \|$/);
    expect(row).not.toContain('NOT FOUND');
  });
});
