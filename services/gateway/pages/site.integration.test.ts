import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { GUIDES } from '../../../shared/contract/guides.ts';
import {
  type GatewayFixture,
  newSigningKey,
  startGatewayFixture,
} from '../../../test/support/fixtures/gateway.ts';

/** The documentation as set-up has built it and a gateway serves it. */
let fixture: GatewayFixture;
let url: string;
beforeAll(async () => {
  fixture = await startGatewayFixture({
    publicKeys: [newSigningKey('test.session.1').entry],
    limits: { scale: 100 },
  });
  ({ url } = fixture.gateway);
});
afterAll(() => fixture.stop());

const HTML = { accept: 'text/html' };
const root = path.resolve(import.meta.dirname, '../../..');
const openApi = JSON.parse(readFileSync(path.join(root, 'docs/openapi.json'), 'utf8'));
const TAGS = (openApi.tags as { name: string }[]).map(({ name }) =>
  name.toLowerCase().replace(/[^a-z0-9]+/g, '-'),
);
const PAGES = [
  '/',
  '/docs',
  '/docs/guides',
  '/docs/errors',
  ...GUIDES.map(({ name }) => `/docs/guides/${name}`),
  ...TAGS.map((tag) => `/docs/api/${tag}`),
];
const textOf = async (at: string): Promise<string> => (await fetch(url + at, { headers: HTML })).text();

test.each(PAGES)('%s is a page without inline script and style', async (at) => {
  const page = await fetch(url + at, { headers: HTML });
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  const policy = page.headers.get('content-security-policy')!;
  expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self'; /);
  expect(policy).toMatch(/require-trusted-types-for 'script'; trusted-types 'none'$/);
  const html = await page.text();
  expect(
    html.match(/<script(?![^>]*\ssrc="\/docs\/assets\/)[^>]*>|<style|<[^>]*\s(style|on\w+)="[^"]*"/g),
  ).toBeNull();
});

test('every internal link of every page leads to a page, and to an anchor of it', async () => {
  const pages = new Map<string, Promise<string>>();
  const load = (at: string): Promise<string> => {
    const loading =
      pages.get(at) ??
      fetch(url + at, { headers: HTML }).then(async (page) =>
        page.ok ? page.text() : `status ${page.status}`,
      );
    pages.set(at, loading);
    return loading;
  };
  const broken: string[] = [];
  let links = 0;
  for (const at of PAGES)
    for (const [, href] of (await load(at)).matchAll(/<a [^>]*?href="([^"]+)"/g)) {
      const target = new URL(href!, url + at);
      if (target.origin !== new URL(url).origin) continue;
      links += 1;
      const html = await load(target.pathname);
      const anchored = target.hash === '' || html.includes(`id="${target.hash.slice(1)}"`);
      if (/^status \d+$/.test(html) || !anchored) broken.push(`${at}: ${href}`);
    }
  expect(broken).toEqual([]);
  expect(links).toBeGreaterThan(2000);
});

test('every page names the gateway that shows it, and no other one', async () => {
  const named = new Set<string>();
  for (const at of [
    ...PAGES,
    ...PAGES.map((page) => `${page === '/' ? '/index' : page}.md`),
    '/llms-full.txt',
  ]) {
    const text = await textOf(at);
    expect(text).not.toMatch(/127\.0\.0\.1:3000\b|api\.quittance\.example/);
    for (const [, address] of text.matchAll(/QUITTANCE_URL[=\s"':]*(http:[\w./:]+)/g)) named.add(address!);
  }
  expect([...named]).toEqual([url]);
});

test('each page is Markdown too, with links to pages, and one file has all but the reference', async () => {
  const all = await (await fetch(`${url}/llms-full.txt`)).text();
  for (const at of PAGES) {
    const page = await fetch(`${url}${at === '/' ? '/index' : at}.md`);
    expect([at, page.status, page.headers.get('content-type')]).toEqual([
      at,
      200,
      'text/markdown; charset=utf-8',
    ]);
    const markdown = await page.text();
    expect(markdown).toMatch(/^# \S/);
    expect(markdown).not.toMatch(/\]\((\.\.?\/|[\w-]+\.md)/);
    // The fields of every call and event are in openapi.json, so that a model can read the file.
    const isReference = at.startsWith('/docs/api/') || at === '/docs/guides/events';
    expect([at, all.includes(markdown)]).toEqual([at, !isReference]);
  }
});

test('the sitemap has every page, and robots.txt names it', async () => {
  const sitemap = await textOf('/sitemap.xml');
  for (const at of PAGES) expect(sitemap).toContain(`<loc>${url}${at}</loc>`);
  expect(await textOf('/robots.txt')).toContain(`Sitemap: ${url}/sitemap.xml`);
  expect((await fetch(`${url}/favicon.svg`)).headers.get('content-type')).toBe('image/svg+xml');
});

test('the search has every guide, operation and error code', async () => {
  const sections = (await (await fetch(`${url}/docs/search.json`)).json()) as {
    url: string;
    title: string;
  }[];
  const titles = new Set(sections.map(({ title }) => title));
  const operations = Object.values<Record<string, { summary: string }>>(openApi.paths).flatMap(Object.values);
  const errors = [...readFileSync(path.join(root, 'docs/errors.md'), 'utf8').matchAll(/^## (\S+)$/gm)];
  const wanted = [
    ...GUIDES.map(({ title }) => title),
    ...operations.map(({ summary }) => summary),
    ...errors.map(([, code]) => code!),
  ];
  expect(wanted.filter((title) => !titles.has(title))).toEqual([]);
  expect(wanted.length).toBeGreaterThan(130);
});

test('a browser gets a page for an unknown address, a program gets JSON, and a last slash is removed', async () => {
  for (const at of ['/docs/guides/nothing', '/nothing', '/docs/guides/..%2f..%2fpackage.json', '/404.html']) {
    const page = await fetch(url + at, { headers: HTML });
    expect([at, page.status, page.headers.get('content-type')]).toEqual([
      at,
      404,
      'text/html; charset=utf-8',
    ]);
    expect(await page.text()).toContain('Page not found');
    expect([at, (await fetch(url + at)).headers.get('content-type')]).toEqual([
      at,
      'application/json; charset=utf-8',
    ]);
  }
  const api = await fetch(`${url}/v1/nothing`, { headers: HTML });
  expect([api.status, api.headers.get('content-type')]).toEqual([404, 'application/json; charset=utf-8']);
  const slash = await fetch(`${url}/docs/guides/`, { headers: HTML, redirect: 'manual' });
  expect([slash.status, slash.headers.get('location')]).toEqual([308, '/docs/guides']);
  expect((await fetch(`${url}/docs/assets/nothing.js`)).status).toBe(404);
});

test('a file with its hash in its name is stored for ever, and a page is compared before each use', async () => {
  const html = await textOf('/docs');
  const script = /src="(\/docs\/assets\/[^"]+\.js)"/.exec(html)![1]!;
  for (const [accepted, coding] of [
    ['gzip, deflate, br', 'br'],
    ['gzip, br;q=0', 'gzip'],
    ['identity', null],
  ] as const) {
    const headers = { ...HTML, 'accept-encoding': accepted };
    const file = await fetch(url + script, { headers });
    expect([file.status, file.headers.get('content-encoding')]).toEqual([200, coding]);
    expect(file.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    const page = await fetch(`${url}/docs`, { headers });
    expect([page.headers.get('content-encoding'), page.headers.get('cache-control')]).toEqual([
      coding,
      'no-cache',
    ]);
    expect(await page.text()).toBe(html);
  }
});

test('the typeface is served to the pages that name it', async () => {
  const sheets = [...(await textOf('/docs')).matchAll(/href="(\/docs\/assets\/[^"]+\.css)"/g)].map(
    ([, at]) => at!,
  );
  const styles = await Promise.all(sheets.map((at) => textOf(at)));
  const [, at] = /url\(["']?([^"')]+\.woff2)/.exec(styles.join('\n')) ?? [];
  const font = await fetch(new URL(at!, `${url}/docs/assets/`));
  expect([font.status, font.headers.get('content-type')]).toEqual([200, 'font/woff2']);
  const page = await fetch(`${url}/docs`, { headers: HTML });
  expect(page.headers.get('content-security-policy')).toContain("font-src 'self'");
});
