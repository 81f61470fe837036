import { expect, test } from '@jest/globals';
import { nearest } from './nearest.ts';

test.each<[name: string, names: string[], meant: string | undefined]>([
  ['prise', ['price', 'prepaid', 'match'], 'price'],
  ['upstraem', ['upstream', 'unmatched'], 'upstream'],
  ['/v1/quotes', ['/v1/quote', '/v1/settle'], '/v1/quote'],
  ['listne', ['listen', 'login'], 'listen'],
  ['publicUrl', ['public_url', 'price'], 'public_url'],
  ['PRICE', ['price'], 'price'],
  ['quittance', ['price', 'listen'], undefined],
  // Of two characters, every other word would be near.
  ['ps', ['pay', 'pi'], undefined],
  ['a'.repeat(65), ['a'.repeat(64)], undefined],
  ['price', [], undefined],
])('%s', (name, names, meant) => {
  expect(nearest(name, names)).toBe(meant);
});
