import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import type { Io } from './io.ts';
import { requestOf } from './request.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'quittance-request-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const io = { readInput: async () => Buffer.from('from input') } as unknown as Io;
const url = 'https://api.example.com/report';

test('without data it is a GET; with data a POST; -X names another method', async () => {
  expect((await requestOf(io, url, {})).init.method).toBe('GET');
  expect((await requestOf(io, url, { data: 'a=1' })).init.method).toBe('POST');
  expect((await requestOf(io, url, { data: 'a=1', request: 'put' })).init.method).toBe('PUT');
});

test('data is a text, a file or standard input, and JSON is sent as JSON', async () => {
  const file = path.join(folder, 'body');
  writeFileSync(file, '{"a":1}\n');
  const typeOf = async (data: string, header: string[] = []) => {
    const { init } = await requestOf(io, url, { data, header });
    return [init.body?.toString(), init.headers.get('content-type')];
  };
  expect(await typeOf('a=1')).toEqual(['a=1', 'application/x-www-form-urlencoded']);
  expect(await typeOf(`@${file}`)).toEqual(['{"a":1}\n', 'application/json']);
  expect(await typeOf('@-')).toEqual(['from input', 'application/x-www-form-urlencoded']);
  expect(await typeOf('[1]', ['Content-Type: text/plain'])).toEqual(['[1]', 'text/plain']);
});

test.each([
  ['ftp://example.com', {}, /is not an address/],
  ['example.com', {}, /is not an address/],
  [url, { header: ['no colon'] }, /^-H: not a header/],
  [url, { header: ['bad name: secret'] }, /^-H: not a header/],
  [url, { data: 'a', request: 'GET' }, /^GET has no body/],
  [url, { request: 'G T' }, /^-X: /],
  [url, { data: '@/does/not/exist' }, /^-d: .*no such file/],
])('%s %o is refused', async (address, options, message) => {
  const failure = await requestOf(io, address, options).catch((error: Error) => error.message);
  expect(failure).toMatch(message);
  expect(failure).not.toContain('secret');
});
