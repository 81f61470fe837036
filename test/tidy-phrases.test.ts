import { expect, test } from '@jest/globals';
import { bannedIn } from './support/rules/banned-phrases.ts';
import { consoleTexts } from './support/rules/console-texts.ts';

/** What people read in the console has no phrase that needs a second reading. */
test('the texts of the console have no banned phrase', () => {
  const texts = consoleTexts();
  expect(texts.length).toBeGreaterThan(40);
  const found = texts.flatMap(([file, own]) => own.flatMap(bannedIn).map((each) => `${file} ${each}`));
  expect(found).toEqual([]);
});

test.each([
  ['Its key', 1],
  ['Go on at MoonPay', 1],
  ['Made Nov 26', 1],
  ['Used up: raise the limit', 0],
  ['It holds your USDC. The key is created in this browser and only you can use it.', 0],
])('“%s”', (text, count) => expect(bannedIn(text)).toHaveLength(count));
