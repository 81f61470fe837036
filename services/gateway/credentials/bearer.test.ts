import { expect, test } from '@jest/globals';
import { createKeyText } from '../../../shared/lib/tokens/key-text.ts';
import { readBearer } from './bearer.ts';

const key = createKeyText('vendor_test_');
const jwt = `${'e'.repeat(40)}.${'y'.repeat(200)}.${'s'.repeat(86)}`;
const quoteToken = `${'q'.repeat(400)}.${'s'.repeat(86)}`;
const basic = Buffer.from(`${key}:`).toString('base64');

test.each<[string, string[], ReturnType<typeof readBearer>['kind'], RegExp]>([
  ['a key', [`Bearer ${key}`], 'key', /./],
  ['a key with the scheme in lower case and two spaces', [`bearer  ${key}`], 'key', /./],
  ['a key with a wrong checksum', [`Bearer ${key.slice(0, -1)}`], 'key', /./],
  ['an access token', [`Bearer ${jwt}`], 'access_token', /./],
  ['an access token without signature', [`Bearer ${jwt.slice(0, -86)}`], 'access_token', /./],
  ['no header', [], 'none', /^the header Authorization is missing; send /],
  ['an empty header', [''], 'none', /^the header Authorization is missing; send /],
  ['the scheme alone', ['Bearer'], 'none', /has no credential after Bearer; send /],
  ['the scheme and a space', ['Bearer '], 'none', /has no credential after Bearer; send /],
  ['two headers', [`Bearer ${key}`, `Bearer ${key}`], 'none', /sent several times; send it once/],
  ['two credentials', [`Bearer ${key}, Bearer ${key}`], 'none', /several words after Bearer; send one/],
  ['another word', [`Bearer ${key} x`], 'none', /several words after Bearer; send one/],
  ['the scheme Basic', [`Basic ${basic}`], 'none', /has the scheme Basic; send /],
  ['a scheme in lower case', [`token ${key}`], 'none', /has the scheme Token; send /],
  ['a key without scheme', [key], 'none', /the word Bearer before the credential is missing; send /],
  ['an access token without scheme', [jwt], 'none', /the word Bearer before the credential is missing/],
  ['a secret without scheme', ['hunter2 hunter3'], 'none', /does not begin with the word Bearer; send /],
  [
    'a text that is too long',
    [`Bearer ${'a'.repeat(8000)}`],
    'none',
    /longer than 4096 characters; send one/,
  ],
  [
    'something else',
    ['Bearer nonsense'],
    'none',
    /neither a key nor an access token; a key begins with one of vendor_test_/,
  ],
  ['a key of another service', ['Bearer sk_test_abc'], 'none', /neither a key nor an access token/],
  ['a refresh token', ['Bearer rt_test_abc'], 'none', /refresh token is no credential; exchange it/],
  [
    'the token of a sign-in link',
    ['Bearer ml_live_abc'],
    'none',
    /sign-in link is no credential; send it to/,
  ],
  ['the token of a reveal link', ['Bearer rv_test_abc'], 'none', /reveal link is no credential; send it in/],
  [
    'a quote token',
    [`Bearer ${quoteToken}`],
    'none',
    /quote token or settlement token is no credential; send it/,
  ],
])('%s', (_name, values, kind, refusal) => {
  const bearer = readBearer(values.flatMap((value) => ['Authorization', value]));
  expect(bearer.kind).toBe(kind);
  if (bearer.kind !== 'none') return expect(values[0]!.endsWith(bearer.text)).toBe(true);
  expect(bearer.refusal).toMatch(refusal);
  // No text of the caller is repeated, because it may be a secret.
  for (const secret of [key, jwt, quoteToken, basic, 'hunter', 'nonsense', 'abc'])
    expect(bearer.refusal).not.toContain(secret);
});
