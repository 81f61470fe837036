import { globSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import ts from 'typescript';
import { DELEGATE_KEY, SERVICE_KEY } from '../../../../test/support/base/keys.ts';
import { waitUntil } from '../../../../test/support/base/wait.ts';
import { startVendorApi, type VendorApi } from '../../../../test/support/stand-ins/vendor-api.ts';
import { memoryStore, type PayOptions, payingFetch } from '../main.ts';

/** What counts of an authorization is what was captured, whatever its vendor reports as used. */
let api: VendorApi;
let stops: (() => void)[] = [];
beforeEach(async () => {
  api = await startVendorApi();
});
afterEach(async () => {
  for (const stop of stops) stop();
  stops = [];
  await api.stop();
});

const helds = () => [...api.authorizations.values()];
const capturedMicro = () => helds().reduce((sum, { captured }) => sum + (captured ?? 0n), 0n);
const callApi = async (route: string, body: object): Promise<Record<string, unknown>> => {
  const headers = { authorization: `Bearer ${SERVICE_KEY}`, 'content-type': 'application/json' };
  const answer = await fetch(`${api.baseUrl}${route}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  return (await answer.json()) as Record<string, unknown>;
};

type Action = 'capture' | 'void';
const act = (id: string, action: Action) =>
  callApi(`/v1/settlements/${id}/${action}`, action === 'capture' ? { amount: '500000' } : {});

/**
 * A vendor that asks for a ceiling of 0.50 USDC, and reports no use.
 * @param then what it does with an authorization that it has served, or whose buyer ends it
 */
const startVendor = async (tab: boolean, then: Action = 'capture', windowSeconds = 600): Promise<string> => {
  const server = createServer(async (request, response) => {
    const send = (status: number, body: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    const id = request.headers['x-settlement-id'];
    if (id !== undefined) {
      if (!tab || request.headers['x-tab-close'] !== undefined) await act(String(id), then);
      return send(200, { ok: true });
    }
    const quote = await callApi('/v1/quote', {
      ...{
        capture: 'manual',
        max_amount: '500000',
        capture_window_seconds: windowSeconds,
        expires_in_seconds: 600,
      },
      scope: { resource: `${origin}${request.url!.split('?')[0]}`, ...(tab && { tab }) },
    });
    return send(402, { error: 'payment_required', ...quote });
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  stops.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return origin;
};
const payer = (options: Partial<PayOptions>) =>
  payingFetch(fetch, { baseUrl: api.baseUrl, delegateKey: DELEGATE_KEY, maxAmount: '$0.50', ...options });

describe('a vendor that captures its ceiling and reports no use', () => {
  test.each(['total', 'perOrigin'] as const)('uses up budget.%s by what it captures', async (cap) => {
    const origin = await startVendor(false);
    const pay = payer({ budget: { [cap]: '$1' } });
    for (let call = 0; call < 2; call += 1) expect((await pay(`${origin}/a?n=${call}`)).status).toBe(200);
    await expect(pay(`${origin}/a?n=2`)).rejects.toMatchObject({ name: 'PriceAboveCapError', cap });
    expect([capturedMicro(), helds().map(({ used }) => used)]).toEqual([1_000_000n, [0n, 0n]]);
  });

  test('uses it up in a sliding period, too', async () => {
    const origin = await startVendor(false);
    const pay = payer({ budget: { total: '$1', periodMs: 3_600_000 } });
    const outcomes: (number | string)[] = [];
    for (let call = 0; call < 4; call += 1)
      outcomes.push(
        await pay(`${origin}/a?n=${call}`).then(
          ({ status }) => status,
          ({ cap }) => cap,
        ),
      );
    expect(outcomes).toEqual([200, 200, 'total', 'total']);
  });

  test('uses it up by a tab, and by tabs of one moment', async () => {
    const origin = await startVendor(true);
    const pay = payer({ maxAmount: '$1', budget: { total: '$1' } });
    for (const route of ['/a', '/b']) await pay(`${origin}${route}`);
    await pay.closeTabs();
    expect(capturedMicro()).toBe(1_000_000n);
    const later = await Promise.allSettled(['/c', '/d'].map((route) => pay(`${origin}${route}`)));
    expect(later.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(helds()).toHaveLength(2);
  });

  test('is counted as well by another process that shares the store', async () => {
    const origin = await startVendor(true);
    const store = memoryStore();
    await payer({ store })(`${origin}/a`);
    const pay = payer({ store, budget: { total: '$0.60' } });
    // The ceiling that the first one has opened leaves no room, so its tab is ended.
    await pay(`${origin}/b`);
    await waitUntil(() => helds()[0]!.status === 'captured');
    await expect(pay(`${origin}/c`)).rejects.toMatchObject({ cap: 'total' });
  });
});

test('a ceiling that is released counts nothing', async () => {
  const origin = await startVendor(false, 'void');
  const pay = payer({ budget: { total: '$0.50' } });
  for (let call = 0; call < 3; call += 1) expect((await pay(`${origin}/a?n=${call}`)).status).toBe(200);
  expect(helds().map(({ status }) => status)).toEqual(['voided', 'voided', 'voided']);
});

describe('a window of a capture', () => {
  const DAY = 86_400;
  test.each<[string, number, Partial<PayOptions>, boolean]>([
    ['of a day', DAY, {}, true],
    ['of a second more', DAY + 1, {}, false],
    ['of a week', 7 * DAY, {}, false],
    ['of a week that the caller allows', 7 * DAY, { maxWindowSeconds: 7 * DAY }, true],
    ['that is longer than the caller allows', 3600, { maxWindowSeconds: 3599 }, false],
  ])('%s', async (_, windowSeconds, options, isPaid) => {
    const declined: string[] = [];
    const pay = payer({ ...options, onDeclined: ({ name }) => declined.push(name) });
    for (const tab of [false, true]) {
      const answer = pay(`${await startVendor(tab, 'void', windowSeconds)}/a`);
      if (isPaid) expect((await answer).status).toBe(200);
      else
        await expect(answer).rejects.toThrow(
          `The vendor could hold 0.50 USDC for ${windowSeconds} seconds, which is longer than maxWindowSeconds (${options.maxWindowSeconds ?? DAY}).`,
        );
      await pay.closeTabs();
    }
    // It is refused before anything is settled.
    expect(api.calls().filter((call) => call === 'settle')).toHaveLength(isPaid ? 2 : 0);
    expect(declined).toEqual(isPaid ? [] : ['WindowTooLongError', 'WindowTooLongError']);
  });

  test.each([0, 1.5, Number.NaN, '60'])('maxWindowSeconds %p is refused where it is declared', (seconds) => {
    expect(() => payer({ maxWindowSeconds: seconds as number })).toThrow(
      'maxWindowSeconds: use a whole number of seconds, at least 1',
    );
  });
});

test('no code that pays reads what a vendor has reported as used', () => {
  const folder = path.dirname(import.meta.dirname);
  const files = globSync('**/*.ts', { cwd: folder }).filter((file) => !file.endsWith('.test.ts'));
  expect(files.length).toBeGreaterThan(20);
  const names = (file: string): string[] => {
    const text = readFileSync(path.join(folder, file), 'utf8');
    const found: string[] = [];
    const visit = (node: ts.Node): void => {
      if (ts.isIdentifier(node)) found.push(node.text);
      ts.forEachChild(node, visit);
    };
    visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest));
    return found;
  };
  expect(files.filter((file) => names(file).includes('used'))).toEqual([]);
});
