import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { bannedIn } from './support/rules/banned-phrases.ts';

/** What people read in the console has no phrase that needs a second reading. */
const root = path.resolve(import.meta.dirname, '..');

const texts = globSync('console/texts/*.json', { cwd: root }).flatMap((file) => {
  const area = path.basename(file, '.json');
  const all = JSON.parse(readFileSync(path.join(root, file), 'utf8')) as Record<string, string[]>;
  return Object.entries(all).map(([source, own]) => [`${area}/${source}`, own] as const);
});

test('the texts of the console have no banned phrase', () => {
  expect(texts.length).toBeGreaterThan(40);
  expect(texts.flatMap(([source, own]) => own.flatMap(bannedIn).map((each) => `${source} ${each}`))).toEqual(
    [],
  );
});

test.each([
  ['Its key', 1],
  ['Go on at MoonPay', 1],
  ['Made Nov 26', 1],
  ['Used up: raise the limit', 0],
  ['It holds your USDC. The key is created in this browser and only you can use it.', 0],
])('“%s”', (text, count) => expect(bannedIn(text)).toHaveLength(count));
