import { expect, test } from '@jest/globals';
import { SecretList } from './config.ts';

const [a, b] = ['a'.repeat(43), 'b'.repeat(43)];

test('a list of secrets keeps its order, and one secret is a list', () => {
  const bytes = (text: string) => Buffer.from(text, 'base64url');
  expect(SecretList.parse(`${a}, ${b}`)).toEqual([bytes(a), bytes(b)]);
  expect(SecretList.parse(a)).toEqual([bytes(a)]);
});

test.each([
  ['empty', ''],
  ['a secret that is too short', 'a'.repeat(42)],
  ['an empty entry', `${a},`],
  ['the same secret twice', `${a},${a}`],
])('a list of secrets is refused: %s', (_name, text) => {
  expect(SecretList.safeParse(text).success).toBe(false);
});
