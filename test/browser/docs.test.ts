import { expect, test } from '@jest/globals';
import { contractList } from '../../shared/contract/index.ts';
import { operationId } from '../../shared/contract/openapi.ts';
import { TAGS } from '../../shared/contract/tags.ts';
import { browserOfSuite } from '../support/browser-suite.ts';
import { signInPerson } from '../support/console.ts';
import { runningStack } from '../support/stack.ts';

/**
 * The reference page in real Chromium: it shows the API, obeys its policy and calls no other
 * origin.
 */
const stack = runningStack();

const browser = browserOfSuite();

test('the reference page shows the operations and calls no other origin', async () => {
  expect(stack.docs_url).toBe(`${stack.gateway_url}/docs`);
  const page = await browser().newPage();
  const asked: string[] = [];
  const complaints: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  // A link to one operation opens it, with the contract's description.
  await page.goto(`${stack.docs_url}#tag/pay/POST/v1/settle`);
  await page.getByText('never charges twice').first().waitFor();
  // Its samples are ours, and none of the page's own.
  const samples = page.locator('section', { hasText: 'never charges twice' }).last();
  await samples.getByText('Authorization: Bearer $DELEGATE_KEY').waitFor();
  // The side bar opens a part at a click.
  const summaries = new Map(
    contractList.flatMap(({ name: service, operations }) =>
      Object.entries(operations).map(([name, { summary }]) => [operationId(service, name), summary]),
    ),
  );
  for (const { name, operations } of TAGS) {
    const opener = page.getByRole('button', { name: `Open Group - ${name}` }).first();
    if (await opener.isVisible()) await opener.click();
    // The part of the events has no operations.
    const [first] = operations;
    const text = first === undefined ? 'settlement.issued' : summaries.get(first)!;
    await page.getByText(text).first().waitFor();
  }
  const shown = await page.evaluate<string>('document.body.innerText');
  expect([...summaries.values()].filter((summary) => !shown.includes(summary))).toEqual([]);

  const other = asked.filter((url) => !/^(data|blob):/.test(url) && !url.startsWith(`${stack.gateway_url}/`));
  expect(other).toEqual([]);
  expect(asked).toEqual(
    expect.arrayContaining([`${stack.gateway_url}/docs.js`, `${stack.gateway_url}/openapi.json`]),
  );
  expect(complaints).toEqual([]);
  await page.close();
});

test('the search finds an operation, and its result opens it', async () => {
  const page = await browser().newPage();
  await page.goto(`${stack.docs_url}#tag/pay/POST/v1/settle`);
  await page.getByText('never charges twice').first().waitFor();
  await page.keyboard.press('ControlOrMeta+k');
  await page.getByRole('combobox').first().waitFor();
  await page.keyboard.type('redeem');
  await page.getByRole('option', { name: /Redeem a settlement/ }).click();
  await page.waitForURL(/#.*\/redeem$/);
  await page.close();
});

test('a script of the reference page gets no token of a reader who has signed in', async () => {
  const { cookies } = await signInPerson(stack);
  const context = await browser().newContext();
  const attributes = { domain: 'localhost', httpOnly: true, secure: true, sameSite: 'Strict' } as const;
  await context.addCookies(cookies.map((cookie) => ({ ...cookie, ...attributes })));
  const origin = new URL(stack.console_url).origin;
  /** What a script of this page reads from the answer to a refresh by cookie. */
  const refreshedAt = async (path: string): Promise<string> => {
    const page = await context.newPage();
    await page.goto(origin + path);
    const read = await page.evaluate<string>(`
      fetch('${origin}/v1/auth/refresh', {
        method: 'POST',
        credentials: 'include',
        headers: { 'content-type': 'application/json' },
        body: '{}',
      }).then((answer) => answer.text(), (error) => error.name)`);
    await page.close();
    return read;
  };
  expect(await refreshedAt('/docs')).toBe('TypeError');
  // The cookie is a valid one: it gives a page of the console's origin a token.
  expect(JSON.parse(await refreshedAt('/docs/errors'))).toHaveProperty('access_token');
  await context.close();
});

test('script and document are gzipped for clients that accept it, and the page for language models is text', async () => {
  for (const path of ['/docs.js', '/openapi.json']) {
    const get = (coding: string) =>
      fetch(stack.gateway_url + path, { headers: { 'accept-encoding': coding } });
    const gzipped = await get('br, gzip');
    expect([gzipped.status, gzipped.headers.get('content-encoding')]).toEqual([200, 'gzip']);
    const plain = await get('gzip;q=0');
    expect([plain.status, plain.headers.get('content-encoding')]).toEqual([200, null]);
    expect(await gzipped.text()).toBe(await plain.text());
  }

  const text = await fetch(`${stack.gateway_url}/llms.txt`);
  expect(text.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  expect(await text.text()).toContain('payment_attempt_id');
});
