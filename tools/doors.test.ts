import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { doors, find, programs } from './doors.mjs';

const root = path.resolve(import.meta.dirname, '..');

test('package.json has the commands of the table and no other', () => {
  const { scripts } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  const expected = Object.keys(doors).map((door) => [door, `exec node tools/run.mjs ${door}`]);
  expect(scripts).toEqual(Object.fromEntries(expected));
});

test('every program is there', () => {
  const ours = programs().filter(({ program }) => !program.includes('node_modules/'));
  expect(ours.length).toBeGreaterThan(20);
  expect(ours.filter(({ program }) => !existsSync(path.join(root, program)))).toEqual([]);
});

test('a command line runs its program with its arguments', () => {
  const jest = 'node_modules/jest/bin/jest.js';
  expect(find(['prove', 'faults', '--seed', '7'])).toMatchObject({
    run: { program: 'test/faults/main.ts', args: ['--seed', '7'] },
  });
  expect(find(['ops', 'signing', 'show'])).toMatchObject({
    run: { program: 'tools/ops.ts', args: ['signing', 'show'] },
  });
  expect(find(['ops', 'nkey', 'quote'])).toMatchObject({
    run: { program: 'tools/nkey.ts', args: ['quote'] },
  });
  // A path is no second project.
  expect(find(['test:quick', 'shared/lib'])).toMatchObject({
    run: { program: jest, args: ['--selectProjects', 'unit', '--ci', 'shared/lib'] },
  });
});

test.each([
  [[], 'npm run test:quick'],
  [['prove'], 'faults'],
  [['prove', '--help'], 'faults'],
  [['test:quick', '--help'], 'Usage: npm run test:quick -- [path …]'],
])('%j prints a help', (words, shown) => {
  expect(find(words)).toEqual({ print: expect.stringContaining(shown) });
});

test.each([
  [['provee'], 'there is no command "provee"'],
  [['prove', 'toString'], 'npm run prove has no "toString"'],
])('%j is refused, with a list of what there is', (words, why) => {
  const found = find(words) as { refuse: string };
  expect(found.refuse.split('\n')[0]).toBe(why);
  expect(found.refuse).toContain('faults');
});
