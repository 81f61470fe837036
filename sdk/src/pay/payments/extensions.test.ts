import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import express from 'express';
import { DELEGATE_KEY } from '../../../../test/support/base/keys.ts';
import { waitUntil } from '../../../../test/support/base/wait.ts';
import { refusal } from '../../../../test/support/stand-ins/scripted-server.ts';
import { startVendorApi, type VendorApi } from '../../../../test/support/stand-ins/vendor-api.ts';
import { type ExpressRequest, paid } from '../../paywall/adapters/express.ts';
import type { MeteredRoute } from '../../paywall/main.ts';
import {
  memoryStore,
  NotAllowedError,
  NotDeliveredError,
  type PayOptions,
  payingFetch,
  type Receipt,
  receiptOf,
  usageOf,
} from '../main.ts';

/** The paying fetch extends the ceilings of its tabs. */
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

const TAB: MeteredRoute<ExpressRequest> = { max: '$0.02', price: '$0.0005', tab: { extend: true } };
const MAX = 20_000n;
/** How many calls a ceiling pays for. */
const CALLS = 40;

const start = async (route = TAB) => {
  const app = express();
  const server = createServer(app).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  stops.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const paywall = api.paywall({ publicUrl: origin });
  for (const path of ['/one', '/other'])
    app.all(path, paid(paywall, route), (_request, response) => void response.json({ tokens: 120 }));
  return origin;
};
const payer = (options: Partial<PayOptions> = {}, over: typeof fetch = fetch) =>
  payingFetch(over, { baseUrl: api.baseUrl, delegateKey: DELEGATE_KEY, maxAmount: '$1', ...options });
const helds = () => [...api.authorizations.values()];
const settles = () => api.asked.filter(({ call }) => call === 'POST /v1/settle').length;
const use = async (pay: ReturnType<typeof payer>, url: string, calls: number) => {
  for (let call = 0; call < calls; call += 1) expect((await pay(`${url}?q=${call}`)).status).toBe(200);
};

test('one authorization, several extensions, one capture', async () => {
  const origin = await start();
  const receipts: Receipt[] = [];
  const pay = payer({ onPaid: (receipt) => receipts.push(receipt) });
  await use(pay, `${origin}/one`, CALLS);
  const extended = await pay(`${origin}/one?extended`);
  const [[id]] = [...api.authorizations] as [[string, unknown]];
  expect(receiptOf(extended)).toMatchObject({ settlementId: id, amountMicro: '20000', authorized: true });
  expect(usageOf(extended)).toMatchObject({ settlementId: id, leftMicro: '19500' });
  expect(receiptOf(await pay(`${origin}/one?next`))).toBeNull();
  await use(pay, `${origin}/one`, 2 * CALLS);
  await pay.closeTabs();
  expect(helds().map(({ used, status, max }) => [used, status, max])).toEqual([
    [61_000n, 'captured', 4n * MAX],
  ]);
  expect(receipts.map(({ settlementId }) => settlementId)).toEqual(Array(4).fill(id));
  expect(new Set(receipts.map(({ quoteId }) => quoteId)).size).toBe(4);
});

test('of many concurrent calls one extends the tab, and all are served', async () => {
  const origin = await start();
  const pay = payer();
  await use(pay, `${origin}/one`, CALLS);
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, call) => pay(`${origin}/one?at-once=${call}`)),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array(30).fill(200));
  expect([settles(), helds().map(({ max }) => max)]).toEqual([2, [2n * MAX]]);
});

test('above maxAmount it ends the tab and opens the next one', async () => {
  const origin = await start();
  const pay = payer({ maxAmount: '$0.05' });
  await use(pay, `${origin}/one`, 4 * CALLS);
  await waitUntil(() => helds()[0]!.status === 'captured');
  expect(helds().map(({ max }) => max)).toEqual([2n * MAX, 2n * MAX]);
  await pay.closeTabs();
  expect(helds().map(({ used, status }) => [used, status])).toEqual(Array(2).fill([2n * MAX, 'captured']));
});

test('the ceilings of all tabs count, extended ones with their additions', async () => {
  const origin = await start();
  const pay = payer({ maxAmount: '$0.05' });
  await use(pay, `${origin}/one`, CALLS + 1);
  await use(pay, `${origin}/other`, 1);
  // 0.04 and 0.02 are more than 0.05, so the first one was ended for the other.
  expect(helds().map(({ status }) => status)).toEqual(['captured', 'authorized']);
});

test('an addition counts in the budget, and what was used of it when the tab has ended', async () => {
  const origin = await start();
  const pay = payer({ budget: { total: '$0.05' } });
  await use(pay, `${origin}/one`, CALLS + 10);
  await pay.closeTabs();
  // 0.025 were used, so there is room for one more ceiling.
  await use(pay, `${origin}/one`, CALLS);
  await expect(pay(`${origin}/one?more`)).rejects.toThrow('would exceed budget.total');
});

test('an extension that is refused costs nothing, and the next tab is opened', async () => {
  const origin = await start();
  const pay = payer();
  await use(pay, `${origin}/one`, CALLS);
  const refused = refusal(409, 'authorization_closed', { money_moved: 'no', safe_action: 'new_quote' });
  let refusing = true;
  api.faults.push(({ call }) => {
    if (call !== 'POST /v1/settle' || !refusing) return null;
    refusing = false;
    return refused;
  });
  await use(pay, `${origin}/one`, 1);
  expect(helds().map(({ max }) => max)).toEqual([MAX, MAX]);
  await waitUntil(() => helds()[0]!.status === 'captured');
});

test('an extension with a lost answer is made once, also by the next process', async () => {
  const origin = await start();
  const store = memoryStore();
  await use(payer({ store }), `${origin}/one`, CALLS);
  const controller = new AbortController();
  const cut: typeof fetch = async (input, init) => {
    const answer = await fetch(input, init);
    if (!String(input).endsWith('/v1/settle')) return answer;
    controller.abort(new Error('the process ends'));
    throw new TypeError('fetch failed');
  };
  const dying = payer({ store }, cut)(`${origin}/one?x`, { signal: controller.signal });
  await expect(dying).rejects.toThrow();
  expect(helds()[0]!.max).toBe(2n * MAX);
  const pay = payer({ store });
  await use(pay, `${origin}/one`, CALLS);
  expect(helds().map(({ max }) => max)).toEqual([2n * MAX]);
  await use(pay, `${origin}/one`, 1);
  expect(helds().map(({ max }) => max)).toEqual([3n * MAX]);
  await expect(payer({ store, maxAmount: '$0.07' })(`${origin}/other`)).resolves.toBeDefined();
  expect(helds().map(({ status }) => status)).toEqual(['captured', 'authorized']);
});

describe('a hostile vendor', () => {
  type Quote = { quote_token: string; extends?: string };
  /** A vendor that asks for another quote where it should offer an extension. */
  const swapping = (quote: (asked: Quote) => Promise<string> | string): typeof fetch => {
    return async (input, init) => {
      const answer = await fetch(input, init);
      if (answer.status !== 402) return answer;
      const asked = (await answer.json()) as Quote;
      if (asked.extends === undefined) return Response.json(asked, { status: 402 });
      return Response.json({ ...asked, quote_token: await quote(asked) }, { status: 402 });
    };
  };
  const quoteOf = async (body: object): Promise<string> => {
    const answer = await fetch(`${api.baseUrl}/v1/quote`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ service_id: api.serviceId, expires_in_seconds: 900, ...body }),
    });
    return ((await answer.json()) as Quote).quote_token;
  };

  test('that names another tab gets nothing', async () => {
    const origin = await start();
    const other = payer();
    await use(other, `${origin}/one`, 1);
    const pay = payer(
      {},
      swapping(() => quoteOf({ extends: helds()[0]!.quote_id, max_amount: '20000' })),
    );
    await use(pay, `${origin}/one`, CALLS);
    await expect(pay(`${origin}/one?x`)).rejects.toThrow(NotAllowedError);
    await expect(pay(`${origin}/one?x`)).rejects.toThrow('extends another tab');
    expect(helds().map(({ max }) => max)).toEqual([MAX, MAX]);
  });

  test('that sends an extension to a request without a tab gets nothing', async () => {
    const origin = await start();
    await use(payer(), `${origin}/one`, 1);
    const token = await quoteOf({ extends: helds()[0]!.quote_id, max_amount: '20000' });
    const asks: typeof fetch = async (input, init) =>
      String(input).startsWith(origin)
        ? Response.json({ error: 'payment_required', quote_token: token }, { status: 402 })
        : fetch(input, init);
    await expect(payer({}, asks)(`${origin}/one`)).rejects.toThrow('the request presented none');
    expect(helds()[0]!.max).toBe(MAX);
  });

  test('that asks for more than maxAmount, or than the call allows, gets no extension', async () => {
    const origin = await start();
    const pay = payer(
      {},
      swapping(() => quoteOf({ extends: helds()[0]!.quote_id, max_amount: '1000000' })),
    );
    await use(pay, `${origin}/one`, CALLS + 1);
    expect(helds().map(({ max }) => max)).toEqual([MAX, MAX]);
  });

  test('that was paid an extension and asks for the next one gets no second one by the same call', async () => {
    const origin = await start();
    let isHostile = false;
    const forgetful: typeof fetch = async (input, init) => {
      const answer = await fetch(input, init);
      if (!isHostile || !String(input).startsWith(origin)) return answer;
      const quote_token = await quoteOf({ extends: helds()[0]!.quote_id, max_amount: '20000' });
      return Response.json({ error: 'payment_required', quote_token }, { status: 402 });
    };
    const pay = payer({ maxAmount: '$0.10' }, forgetful);
    await use(pay, `${origin}/one`, CALLS);
    isHostile = true;
    for (let call = 0; call < 10; call += 1) {
      const before = helds()[0]!.max;
      const error = await pay(`${origin}/one?${call}`).catch((cause: unknown) => cause);
      expect(helds()[0]!.max - before).toBeLessThanOrEqual(MAX);
      if (call === 0) expect(error).toBeInstanceOf(NotDeliveredError);
    }
    const open = helds().filter(({ status }) => status === 'authorized');
    expect(open.reduce((sum, { max }) => sum + max, 0n)).toBeLessThanOrEqual(100_000n);
  });
});
