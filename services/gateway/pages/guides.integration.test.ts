import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { GUIDES } from '../../../shared/contract/guides.ts';
import { type GatewayFixture, newSigningKey, startGatewayFixture } from '../../../test/support/gateway.ts';

/** The guides as a gateway serves them. */
let fixture: GatewayFixture;
let url: string;
beforeAll(async () => {
  fixture = await startGatewayFixture({
    publicKeys: [newSigningKey('test.session.1').entry],
    limits: { scale: 100 },
  });
  ({ url } = fixture.gateway);
}, 180_000);
afterAll(() => fixture.stop(), 60_000);

const PAGES = ['/docs/guides', ...GUIDES.map(({ name }) => `/docs/guides/${name}`)];

test.each(PAGES)('%s is a page without script and inline style', async (path) => {
  const page = await fetch(url + path);
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self'; /);
  expect(await page.text()).not.toMatch(/<script|<style|\sstyle=|\son\w+=/);
});

test('every internal link of every guide leads to a page, and to an anchor of it', async () => {
  const pages = new Map<string, Promise<string>>();
  const load = (path: string): Promise<string> => {
    const loading =
      pages.get(path) ??
      fetch(url + path, { headers: { accept: 'text/html' } }).then(async (page) =>
        page.ok ? page.text() : `status ${page.status}`,
      );
    pages.set(path, loading);
    return loading;
  };
  const broken: string[] = [];
  let links = 0;
  for (const path of PAGES)
    for (const [, href] of (await load(path)).matchAll(/href="([^"]+)"/g)) {
      const target = new URL(href!, url + path);
      if (target.origin !== new URL(url).origin) continue;
      links += 1;
      const html = await load(target.pathname);
      // The console and the reference make their anchors by script.
      const anchored = target.hash === '' || html.includes(`id="${target.hash.slice(1)}"`);
      if (/^status \d+$/.test(html) || !anchored) broken.push(`${path}: ${href}`);
    }
  expect(broken).toEqual([]);
  expect(links).toBeGreaterThan(200);
});

test('the commands of every guide call the gateway that shows it', async () => {
  const named = new Set<string>();
  for (const path of PAGES)
    for (const [, address] of (await (await fetch(url + path)).text()).matchAll(
      /QUITTANCE_URL[^\n]*?(http:[\w./:]+)/g,
    ))
      named.add(address!);
  expect([...named]).toEqual([url]);
});

test('the index has every guide, and no other name is a guide', async () => {
  const html = await (await fetch(`${url}/docs/guides`)).text();
  for (const { name, title } of GUIDES) expect(html).toContain(`<a href="/docs/guides/${name}">${title}</a>`);
  for (const name of ['nothing', '..%2f..%2fpackage.json', 'agents.html'])
    expect([name, (await fetch(`${url}/docs/guides/${name}`)).status]).toEqual([name, 404]);
});
