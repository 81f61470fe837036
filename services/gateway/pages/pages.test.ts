import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type FastifyInstance, fastify } from 'fastify';
import { systemClock } from '../../../shared/lib/clock.ts';
import { registerPages } from './pages.ts';

/** The headers of pages without a server. test/browser shows the reference in Chromium. */

const read = (name: string) => readFileSync(path.join(import.meta.dirname, name), 'utf8');
let app: FastifyInstance;
beforeAll(() => {
  app = fastify();
  app.decorateRequest('origin');
  app.addHook('onRequest', async (request) => {
    request.origin = { address: '203.0.113.7', viaProxy: false };
  });
  const files = { docsHtml: read('docs.html'), pageCss: read('page.css'), guides: new Map() };
  registerPages(app, {
    publicUrl: 'https://api.example.com',
    security: { contacts: [], policy: undefined },
    clock: systemClock,
    ...files,
  });
});
afterAll(() => app.close());
const headersOf = async (url: string) => (await app.inject(url)).headers;

test('the reference page has an origin of its own', async () => {
  const headers = await headersOf('/docs');
  expect(headers['cross-origin-opener-policy']).toBe('unsafe-none');
  const policy = String(headers['content-security-policy']);
  const [, allowed] = /; sandbox ([^;]*)$/.exec(policy) ?? [];
  expect(allowed?.split(' ')).toEqual([
    'allow-scripts',
    'allow-popups',
    'allow-popups-to-escape-sandbox',
    'allow-downloads',
  ]);
});

test('the script of the reference comes with a storage, which the page has not', async () => {
  const { rawPayload } = await app.inject({ url: '/docs.js', headers: { 'accept-encoding': 'gzip' } });
  const [storage] = /^for [\s\S]*?\n}\n/m.exec(gunzipSync(rawPayload).toString('utf8', 0, 2000)) ?? [];
  const window: { localStorage?: Storage; sessionStorage?: Storage } = {};
  runInContext(storage!, createContext({ window }));
  const { localStorage, sessionStorage } = window as Required<typeof window>;
  localStorage.setItem('theme', 'dark');
  expect([localStorage.getItem('theme'), localStorage.length, localStorage.key(0)]).toEqual([
    'dark',
    1,
    'theme',
  ]);
  expect([sessionStorage.getItem('theme'), sessionStorage.length]).toEqual([null, 0]);
  localStorage.removeItem('theme');
  expect(localStorage.getItem('theme')).toBeNull();
});
