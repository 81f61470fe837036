import { expect, test } from '@jest/globals';
import { SecretList, serviceConfig } from './config.ts';

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

test.each<[string, boolean]>([
  ['postgres://quote:secret@postgres/quittance?sslmode=verify-full&sslrootcert=/ca.crt', true],
  ['postgres://quote:p%40s%23s%25@127.0.0.1:5432/quittance', true],
  ['postgres://quote@%2Fvar%2Frun%2Fpostgresql/quittance', true],
  // The host of these is `postgres` for a reader, and another one or none for a driver.
  ['postgres://quote:p#ss@postgres/quittance', false],
  ['postgres://quote:5#ss@postgres/quittance', false],
  ['postgres://quote:100%@postgres/quittance', false],
  ['postgres://quote:a/b@postgres/quittance', false],
  ['quittance', false],
])('a URL of Postgres is one that a driver reads as a person does: %s', (url, isRight) => {
  const parsed = serviceConfig.POSTGRES_URL.safeParse(url);
  expect(parsed.success).toBe(isRight);
  if (!isRight) expect(parsed.error!.message).toContain('percent-encode the password');
});
