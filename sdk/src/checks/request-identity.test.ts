import { expect, test } from '@jest/globals';
import { readCall } from '../pay/base/call.ts';
import { decidingHeaders } from './request-identity.ts';

test.each<[Record<string, string>, boolean, string | null]>([
  [{}, true, null],
  [{ accept: 'text/html', cookie: 'a=1', 'user-agent': 'x' }, false, null],
  [{ range: 'bytes=0-4' }, false, '[["range","bytes=0-4"]]'],
  [
    { 'if-none-match': '"1"', 'if-range': '"2"' },
    false,
    '[["if-none-match","\\"1\\""],["if-range","\\"2\\""]]',
  ],
  [{ 'content-type': 'text/plain' }, false, null],
  [{ 'content-type': 'text/plain' }, true, '[["content-type","text/plain"]]'],
  [{ 'content-type': 'Multipart/Form-Data; boundary=x' }, true, '[["content-type","Multipart/Form-Data"]]'],
])('of the headers %j with a body %j, what decides the answer is %j', (headers, hasBody, deciding) => {
  expect(decidingHeaders((name) => headers[name] ?? null, hasBody)).toBe(deciding);
});

test('two calls for other parts of a file are two requests to a buyer', async () => {
  const of = async (headers: Record<string, string>) =>
    (await readCall('https://shop.example/file', { headers }, 1000)).fingerprint;
  const [whole, first, second] = [
    await of({}),
    await of({ range: 'bytes=0-4' }),
    await of({ range: 'bytes=5-9' }),
  ];
  expect(new Set([whole, first, second]).size).toBe(3);
  expect(await of({ range: 'bytes=0-4', accept: 'text/html' })).toBe(first);
  expect(whole).toBe('GET https://shop.example/file');
});
