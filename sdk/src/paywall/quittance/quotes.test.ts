import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { newId } from '../../../../shared/lib/id.ts';
import { waitFor } from '../../../../test/support/base/wait.ts';
import {
  at,
  RESOURCE,
  readAnswer,
  reasonOf,
  startVendorApi,
  type VendorApi,
} from '../../../../test/support/stand-ins/vendor-api.ts';
import { memoryStore, type PaywallOptions, type PaywallStore } from '../main.ts';

/** Many unpaid requests share a quote, and none of them causes further calls of the API. */

let api: VendorApi;
beforeEach(async () => {
  api = await startVendorApi();
  later(0);
});
afterEach(async () => {
  jest.restoreAllMocks();
  await api.stop();
});

const shop = (options: Partial<PaywallOptions> = {}) => {
  const route = { price: (request: Request) => request.headers.get('x-price') ?? '50000' };
  const serve = api.paywall(options).protect(route, () => Response.json({}));
  /** The id of the quote that an unpaid request gets. */
  const ask = async (headers: Record<string, string> = {}, path = '/report'): Promise<string> => {
    const { status, body } = await readAnswer(serve(at(path, headers)));
    if (status !== 402) return `${status} ${body.error}`;
    return JSON.parse(Buffer.from(body.quote_token.split('.')[0], 'base64url').toString()).quote_id;
  };
  const after = (quoteId: string) => ask({ 'x-quote-refused': quoteId });
  return { serve, ask, after };
};
const asked = (call: string) => api.asked.filter((each) => each.call.startsWith(call)).length;
const made = () => asked('POST /v1/quote');
const statusReads = () => asked('GET /v1/quotes/');
const atOnce = <T>(n: number, make: () => Promise<T>) => Promise.all(Array.from({ length: n }, () => make()));
/**
 * Sets the clock forward. Otherwise the clock stands still, so that the load of the machine has no
 * effect.
 */
const later = (ms: number) => {
  jest.spyOn(Date, 'now').mockReturnValue(Date.now() + ms);
};

describe('a shared quote', () => {
  test('64 concurrent and 1,000 later requests need one quote, and another address, price or number of units has its own', async () => {
    const { ask } = shop();
    const ids = [...(await atOnce(64, ask)), ...(await atOnce(1000, ask)), await ask({}, '/report?city=Ulm')];
    expect(new Set(ids).size).toBe(1);
    expect(made()).toBe(1);
    const others = [await ask({}, '/other'), await ask({ 'x-price': '60000' })];
    expect(new Set([...others, ids[0]]).size).toBe(3);
    const bundle = api.paywall().protect({ price: '50000', prepaid: { units: 5 } }, () => Response.json({}));
    await bundle(at('/report'));
    expect(made()).toBe(4);
  });

  test('is shared by replicas through their store', async () => {
    const store = memoryStore();
    const [first, second] = [shop({ store }), shop({ store })];
    expect(await first.ask()).toBe(await second.ask());
    expect(made()).toBe(1);
    expect(await shop().ask()).not.toBe(await first.ask());
  });

  test('is valid for at least ten minutes, and is replaced at the next request after that time and not before', async () => {
    const { ask } = shop();
    const first = await ask();
    later(299_000);
    expect(await ask()).toBe(first);
    later(2000);
    expect(await ask()).not.toBe(first);
    expect(api.asked.find(({ call }) => call === 'POST /v1/quote')!.body).toMatchObject({
      expires_in_seconds: 900,
    });
    expect(made()).toBe(2);
  });

  test('at the limits of the API requests get 503 with Retry-After, with one call and one log line', async () => {
    const said = { status: 429, body: { error: { code: 'rate_limited', message: '' } }, retryAfter: 30 };
    api.faults.push(({ call }) => (call === 'POST /v1/quote' ? said : null));
    const { serve } = shop();
    const answers = await atOnce(64, async () => serve(at('/report')));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
    expect((await serve(at('/report'))).headers.get('retry-after')).toBe('30');
    expect(made()).toBe(1);
    const errors = api.log.filter(({ event }) => event === 'error');
    expect(errors).toMatchObject([{ reason: 'rate_limited', resource: RESOURCE }]);
  });

  test('is returned while it can be paid if no other can be created', async () => {
    const { ask } = shop();
    const first = await ask();
    api.faults.push(({ call }) => (call === 'POST /v1/quote' ? 'lost' : null));
    later(400_000);
    expect(await ask()).toBe(first);
    later(100_000);
    expect(await ask()).toBe('503 service_unavailable');
  });
});

describe('after the shared quote was paid', () => {
  test('and presented, other buyers get a new one without a status query', async () => {
    const { serve, ask, after } = shop();
    const first = await ask();
    const paid = api.pay({ resource: RESOURCE }, { quote_id: first });
    expect((await serve(at('/report', paid))).status).toBe(200);
    const second = await ask();
    const own = [await ask(), await ask()];
    const third = await after(first);
    expect(new Set([first, ...own, second, third]).size).toBe(5);
    // An old payment that is presented again does not replace the next shared quote.
    await serve(at('/report', paid));
    expect(await ask()).toBe(second);
    expect([made(), statusReads()]).toEqual([5, 0]);
  });

  test('and presented during a read of the store, the read does not bring it back', async () => {
    const store = memoryStore();
    const reads: (() => void)[] = [];
    let isSlow = false;
    const get: PaywallStore['get'] = async (key) => {
      const value = await store.get(key);
      if (isSlow) await new Promise<void>((resolve) => reads.push(resolve));
      return value;
    };
    const { serve, ask } = shop({ store: { ...store, get } });
    const first = await ask();
    later(1001);
    isSlow = true;
    const waiting = ask();
    await waitFor(
      () => reads.length,
      (held) => held === 1,
    );
    isSlow = false;
    await serve(at('/report', api.pay({ resource: RESOURCE }, { quote_id: first })));
    reads[0]!();
    await waiting;
    expect(await ask()).not.toBe(first);
  });

  test('and not presented, a status query detects it for buyers who do not name it as refused', async () => {
    const { ask } = shop();
    const first = await ask();
    api.quotes.set(first, 'settled');
    later(6000);
    expect(await ask()).toBe(first);
    await waitFor(ask, (id) => id !== first);
    expect([made(), statusReads()]).toEqual([2, 1]);
  });

  test('64 buyers who were refused at once share eight quotes, and then eight for each of these', async () => {
    const { ask, after } = shop();
    const first = await ask();
    api.quotes.set(first, 'settled');
    const second = await atOnce(63, () => after(first));
    expect(new Set(second).size).toBe(8);
    expect([made(), statusReads()]).toEqual([9, 1]);
    for (const id of new Set(second)) api.quotes.set(id, 'settled');
    const third = await Promise.all(second.slice(8).map(after));
    expect(new Set(third).size).toBe(55);
    expect(made()).toBe(9 + 55);
    // A paid quote leads to at most eight others, however often it is named.
    await atOnce(100, () => after(first));
    expect(made()).toBe(9 + 55 + 8);
  });

  test('while it is being paid, refused buyers get 503 for a limited time, and all others get another one', async () => {
    const { ask, after } = shop();
    const first = await ask();
    api.quotes.set(first, 'settling');
    expect(await atOnce(10, () => after(first))).toEqual(Array(10).fill('503 payment_in_progress'));
    const second = await ask();
    expect(second).not.toBe(first);
    expect([made(), statusReads()]).toEqual([2, 1]);
    later(5001);
    expect(await after(first)).toBe(second);
    // The quote is paid now, so a buyer who names it gets a third one.
    api.quotes.set(first, 'settled');
    later(2000);
    expect([first, second]).not.toContain(await after(first));
  });
});

describe('a route that sells', () => {
  /** Presents payments of new quotes of this paywall, all before anybody else asks. */
  const sell = async ({ serve, ask }: ReturnType<typeof shop>, times: number) => {
    for (let sale = 0; sale < times; sale += 1) {
      const headers = api.pay({ resource: RESOURCE }, { quote_id: await ask() });
      expect((await serve(at('/report', headers))).status).toBe(200);
    }
  };

  test('gives two buyers per sale a quote of their own who ask within seconds, and all others share one', async () => {
    const here = shop();
    await sell(here, 3);
    const [first, ...own] = await atOnce(7, here.ask);
    expect(new Set([first, ...own]).size).toBe(7);
    expect(new Set(await atOnce(50, here.ask))).toEqual(new Set([first]));
    expect([made(), statusReads()]).toEqual([3 + 7, 0]);
    // Another address has sold nothing.
    expect(new Set(await atOnce(10, () => here.ask({}, '/other'))).size).toBe(1);
  });

  test('makes one quote for each sale, however many ask the price alone', async () => {
    const here = shop();
    for (let sale = 0; sale < 8; sale += 1) {
      await sell(here, 1);
      later(5000);
      const shared = await here.ask();
      for (let asked = 0; asked < 3; asked += 1) {
        later(5000);
        expect(await here.ask()).toBe(shared);
      }
      later(5000);
    }
    expect(made()).toBe(8 + 1);
  });

  test('gives them in the minute of the sale and in the next one', async () => {
    const here = shop();
    await sell(here, 1);
    later(60_000);
    expect(new Set(await atOnce(3, here.ask)).size).toBe(3);
    await sell(here, 1);
    later(120_000);
    expect(new Set(await atOnce(3, here.ask)).size).toBe(1);
  });

  test('shares one quote when the API creates no more', async () => {
    const here = shop();
    await sell(here, 1);
    const [shared, own] = [await here.ask(), await here.ask()];
    await here.serve(at('/report', api.pay({ resource: RESOURCE }, { quote_id: own })));
    api.faults.push(({ call }) => (call === 'POST /v1/quote' ? 'lost' : null));
    expect(await atOnce(10, here.ask)).toEqual(Array(10).fill(shared));
  });

  test('does not count payments of quotes that it has not created', async () => {
    const here = shop();
    for (let i = 0; i < 3; i += 1) await here.serve(at('/report', api.pay({ resource: RESOURCE })));
    expect(new Set(await atOnce(10, here.ask)).size).toBe(1);
  });
});

describe('a buyer who names a refused quote', () => {
  test('that was never shared causes no quote and no status query', async () => {
    const { ask, after } = shop();
    const first = await ask();
    const theirs = await ask({}, '/other');
    api.quotes.set(theirs, 'settled');
    const junk = [newId('q'), theirs, 'q_1', 'x'.repeat(9000), `${first}, ${first}`, '../v1/quote'];
    for (const each of junk) expect(await after(each)).toBe(first);
    for (let i = 0; i < 1000; i += 1) await after(newId('q'));
    expect([made(), statusReads()]).toEqual([2, 0]);
  });

  test('that is not paid gets it again, and its status is queried less and less often', async () => {
    const { ask, after } = shop();
    const first = await ask();
    for (let i = 0; i < 200; i += 1) expect(await after(first)).toBe(first);
    expect([made(), statusReads()]).toEqual([1, 1]);
    for (let second = 1; second <= 12; second += 1) {
      later(1001);
      expect(await after(first)).toBe(first);
    }
    expect(made()).toBe(1);
    expect(statusReads()).toBeLessThanOrEqual(6);
  });

  test('gets the last quote while the API is unavailable', async () => {
    const { ask, after } = shop();
    const first = await ask();
    api.quotes.set(first, 'settled');
    api.faults.push(({ call }) => (call.startsWith('GET /v1/quotes') ? 'lost' : null));
    expect(await after(first)).toBe(first);
    expect(made()).toBe(1);
  });
});

test('an unavailable store gets 503, without a call', async () => {
  const gone = () => Promise.reject(new Error('ECONNREFUSED'));
  const { serve } = shop({ store: { get: gone, compareAndSet: gone } });
  expect(await reasonOf(serve(at('/report')))).toBe('503 service_unavailable no_quote');
  expect(made()).toBe(0);
});
