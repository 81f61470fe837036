import { expect, test } from '@jest/globals';
import { withIgnored, withVariables } from './env-text.ts';

const SERVICE = { SERVICE_ID: 'a', SERVICE_KEY: 'vendor_test_b' };

test.each([
  ['an empty file', '', ['SERVICE_ID', 'SERVICE_KEY']],
  ['another variable', 'PORT=8080\n', ['SERVICE_ID', 'SERVICE_KEY']],
  ['no line break at the end', 'PORT=8080', ['SERVICE_ID', 'SERVICE_KEY']],
  ['one that is set to something else', 'SERVICE_ID=mine\n', ['SERVICE_KEY']],
  ['one that is exported', 'export SERVICE_ID="mine" # of the shop\n', ['SERVICE_KEY']],
  ['one in a comment', '# SERVICE_ID=old\n', ['SERVICE_ID', 'SERVICE_KEY']],
  ['both', 'SERVICE_KEY=x\nSERVICE_ID=y\n', []],
])('with %s, only the missing variables are added, and every line stays', (_, before, names) => {
  const { text, added } = withVariables(before, SERVICE);
  expect(added).toEqual(names);
  expect(text.startsWith(before)).toBe(true);
  const lines = text.slice(before.length).split('\n').filter(Boolean);
  expect(lines.filter((line) => !line.startsWith('#'))).toEqual(
    names.map((name) => `${name}=${SERVICE[name as keyof typeof SERVICE]}`),
  );
  expect(withVariables(text, SERVICE)).toEqual({ text, added: [] });
});

test.each(['vendor_test_a\nNODE_OPTIONS=--require=./x.js', 'a b', '$(id)', '"', ''])(
  '%j is written into no file',
  (SERVICE_KEY) => {
    expect(() => withVariables('', { SERVICE_KEY })).toThrow(TypeError);
  },
);

test.each([
  ['', '.env\n'],
  ['node_modules', 'node_modules\n.env\n'],
  ['node_modules\n', 'node_modules\n.env\n'],
  ['# .env\n', '# .env\n.env\n'],
  ['.env.example\n', '.env.example\n.env\n'],
  ['.env\n!.env\n', '.env\n!.env\n.env\n'],
  ['.env\n', null],
  ['  /.env  \r\n', null],
  ['.env*\n!.env.example\n', null],
  ['!.env\n.env\n', null],
])('.gitignore %j becomes %j', (before, after) => {
  expect(withIgnored(before)).toBe(after);
});
