import path from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { build } from 'esbuild';
import type { Route } from 'playwright-core';
import { DELEGATE_KEY } from '../support/base/keys.ts';
import { browserOfSuite } from '../support/browser/browser-suite.ts';
import { bill, KEYS, SIGNERS, tokenFor } from '../support/stand-ins/scripted-vendors.ts';

/**
 * The paying part of the SDK, in a page and in a worker of real Chromium: WebCrypto, streams and
 * redirects are the browser's.
 */

const ORIGIN = 'https://shop.example';
const browser = browserOfSuite();
let script: string;

beforeAll(async () => {
  const built = await build({
    entryPoints: [path.join(import.meta.dirname, '../../sdk/src/pay/main.ts')],
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'pay',
  });
  script = built.outputFiles[0]!.text;
});

const RUN = `
const run = async () => {
  const paying = pay.payingFetch(fetch, { baseUrl: '${ORIGIN}/api', delegateKey: '${DELEGATE_KEY}', maxAmount: 5000n });
  const said = [];
  for (const [path, init] of [['/paid', { method: 'POST', body: 'Berlin' }], ['/relayed'], ['/forged'], ['/moving']])
    said.push(await paying('${ORIGIN}' + path, init).then((answer) => answer.text(), (error) => error.name));
  return said;
};`;

/** Shop, API and pages in one server: it answers every request to the origin. */
const answerTo = (route: Route, settles: unknown[]): Promise<void> => {
  const request = route.request();
  const { pathname } = new URL(request.url());
  const json = (status: number, body: unknown) =>
    route.fulfill({ status, contentType: 'application/json', body: JSON.stringify(body) });
  const ask = (token: string) => json(402, (bill(token) as { body: unknown }).body);
  if (pathname === '/page') return route.fulfill({ contentType: 'text/html', body: '<!doctype html>' });
  if (pathname === '/worker.js') {
    const body = `${script}${RUN}run().then((said) => postMessage(said));`;
    return route.fulfill({ contentType: 'text/javascript', body });
  }
  if (pathname === '/api/.well-known/jwks.json') return json(200, { keys: KEYS });
  if (pathname === '/api/v1/settle') {
    settles.push(request.postDataJSON());
    return json(200, { settlement_id: 'stl_1', settlement_token: 'a.b', status: 'confirmed', tx_hash: 'h' });
  }
  if (pathname === '/relayed') return ask(tokenFor('https://other.example/relayed'));
  if (pathname === '/forged') return ask(tokenFor(`${ORIGIN}/forged`, {}, SIGNERS.stranger));
  if (request.headers()['x-settlement-id'] !== 'stl_1') return ask(tokenFor(`${ORIGIN}${pathname}`));
  if (pathname === '/moving') return route.fulfill({ status: 307, headers: { location: '/elsewhere' } });
  return json(200, { sent: request.postData() });
};

test.each(['a page', 'a worker'])('in %s it pays, and refuses invalid bills', async (where) => {
  const page = await browser().newPage();
  const settles: unknown[] = [];
  await page.context().route(`${ORIGIN}/**`, (route) => answerTo(route, settles));
  await page.goto(`${ORIGIN}/page`);
  const said = await page.evaluate<string[]>(
    where === 'a page'
      ? `(async () => { ${script}${RUN} return run(); })()`
      : `new Promise((resolve) => { new Worker('/worker.js').onmessage = ({ data }) => resolve(data); })`,
  );
  expect(said).toEqual(['{"sent":"Berlin"}', 'ResourceMismatchError', 'BadTokenError', 'PaidRedirectError']);
  expect(settles).toHaveLength(2);
  await page.close();
});
