import { get, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  type Gateway,
  type GatewayFixture,
  newSigningKey,
  startGatewayFixture,
} from '../../../test/support/fixtures/gateway.ts';

/** The console as the setup built it, served by a real gateway. */
let fixture: GatewayFixture;
let gateway: Gateway;
beforeAll(async () => {
  fixture = await startGatewayFixture({
    publicKeys: [newSigningKey('test.session.1').entry],
    limits: { scale: 100 },
  });
  ({ gateway } = fixture);
});
afterAll(() => fixture.stop());

test('the console serves one page for every path, cacheable files by their hash, and compressed answers', async () => {
  const page = await fetch(`${gateway.url}/console/wallet/any/depth`, {
    headers: { 'accept-encoding': 'br' },
  });
  expect(page.headers.get('content-encoding')).toBe('br');
  expect(page.headers.get('cache-control')).toBe('no-cache');
  const html = await page.text();
  const script = /src="(\/console\/assets\/[^"]+\.js)"/.exec(html)![1]!;
  for (const [accepted, coding] of [
    ['gzip, deflate, br', 'br'],
    ['gzip, br;q=0', 'gzip'],
    ['identity', null],
  ] as const) {
    const file = await fetch(gateway.url + script, { headers: { 'accept-encoding': accepted } });
    expect([file.status, file.headers.get('content-encoding')]).toEqual([200, coding]);
    expect(file.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(file.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(file.headers.get('vary')).toBe('accept-encoding');
    expect((await file.text()).length).toBeGreaterThan(10_000);
  }
  // A file of an earlier release is not found instead of the page, and no path leads out of the
  // folder.
  for (const path of ['assets/index-0.js', 'assets/..%2f..%2fpackage.json', 'assets/..%2findex.html'])
    expect([path, (await fetch(`${gateway.url}/console/${path}`)).status]).toEqual([path, 404]);
});

test('a browser stays at the address that it has opened, unless its operator has named localhost', async () => {
  // fetch does not let its caller choose this header.
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    get(`${gateway.url}/pay`, { headers: { 'sec-fetch-mode': 'navigate' } }, resolve).on('error', reject);
  });
  answer.resume();
  expect([answer.statusCode, answer.headers.location]).toEqual([200, undefined]);
});
