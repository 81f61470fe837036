import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { withReference } from './reference.ts';

const README = new URL('../README.md', import.meta.url);

test('the README has the help of every command and all exit codes, as they are now', () => {
  const text = readFileSync(README, 'utf8');
  // Otherwise: node cli/build.ts --readme
  expect(text).toBe(withReference(text));
  for (const name of ['pay', 'listen', 'delegates create', 'approvals deny', 'trigger'])
    expect(text).toContain(`#### quittance ${name}\n`);
});
