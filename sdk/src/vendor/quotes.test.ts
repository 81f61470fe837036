import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { newId } from '../../../shared/lib/id.ts';
import {
  at,
  RESOURCE,
  readAnswer,
  reasonOf,
  startVendorApi,
  type VendorApi,
} from '../../../test/support/vendor-api.ts';
import { memoryStore, type PaywallOptions } from './main.ts';

/** Many who ask for the price share a quote; none of them makes the vendor ask the API for more. */

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
/** Sets the clock forward. It stands still otherwise: a busy machine must change nothing. */
const later = (ms: number) => {
  jest.spyOn(Date, 'now').mockReturnValue(Date.now() + ms);
};

describe('a quote for all', () => {
  test('64 at once and 1,000 after them cost one quote; another address, price or bundle has its own', async () => {
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

  test('replicas share it through their store', async () => {
    const store = memoryStore();
    const [first, second] = [shop({ store }), shop({ store })];
    expect(await first.ask()).toBe(await second.ask());
    expect(made()).toBe(1);
    expect(await shop().ask()).not.toBe(await first.ask());
  });

  test('who gets it has ten minutes to pay; it is made anew when somebody asks, and not before', async () => {
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

  test('the limits of the API: 503 with Retry-After, one call, one line in the log', async () => {
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

  test('while no other can be made the last one is handed out as long as it can be paid', async () => {
    const { ask } = shop();
    const first = await ask();
    api.faults.push(({ call }) => (call === 'POST /v1/quote' ? 'lost' : null));
    later(400_000);
    expect(await ask()).toBe(first);
    later(100_000);
    expect(await ask()).toBe('503 service_unavailable');
  });
});

test('addresses that somebody makes up take half of the quotes: the other routes go on selling', async () => {
  const times: number[] = [];
  const limited = { status: 429, body: { error: { code: 'rate_limited', message: '' } }, retryAfter: 60 };
  api.faults.push(({ call }) => {
    if (call !== 'POST /v1/quote') return null;
    // As the API counts: refused calls too.
    times.push(Date.now());
    return times.filter((at) => at > Date.now() - 60_000).length > 30 ? limited : null;
  });
  const paywall = api.paywall();
  const named = paywall.protect({ price: '50000' }, () => Response.json({}));
  const other = paywall.protect({ price: '50000' }, () => Response.json({}));
  const flood = async (n: number) => {
    const statuses: number[] = [];
    for (let i = 0; i < n; i += 1) statuses.push((await named(at(`/articles/${Math.random()}`))).status);
    return statuses.filter((status) => status === 402).length;
  };
  expect(await flood(100)).toBe(30);
  later(61_000);
  for (let minute = 0; minute < 3; minute += 1) {
    expect(await flood(100)).toBe(15);
    for (let i = 0; i < 10; i += 1) expect((await other(at(`/${minute}-${i}`))).status).toBe(402);
    const { body } = await readAnswer(named(at(`/sold/${minute}`)));
    expect(body.error).toBe('service_unavailable');
    later(61_000);
  }
});

describe('once it is paid', () => {
  test('and shown, others get a new one, without a look', async () => {
    const { serve, ask, after } = shop();
    const first = await ask();
    const paid = api.pay({ resource: RESOURCE }, { quote_id: first });
    expect((await serve(at('/report', paid))).status).toBe(200);
    const [second, third] = [await ask(), await after(first)];
    expect(new Set([first, second, third]).size).toBe(3);
    // The next shared one is not replaced by whoever shows an old payment.
    await serve(at('/report', paid));
    expect(await ask()).toBe(second);
    expect([made(), statusReads()]).toEqual([3, 0]);
  });

  test('and never shown, it is found out for those who do not say that it was refused', async () => {
    const { ask } = shop();
    const first = await ask();
    api.quotes.set(first, 'settled');
    later(6000);
    expect(await ask()).toBe(first);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(await ask()).not.toBe(first);
    expect([made(), statusReads()]).toEqual([2, 1]);
  });

  test('64 who are refused at once part: eight quotes, and eight for each of these', async () => {
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
    // However often it is named, a paid quote makes no more than eight.
    await atOnce(100, () => after(first));
    expect(made()).toBe(9 + 55 + 8);
  });

  test('while it is being paid: 503 for who was refused, another one for all; not for ever', async () => {
    const { ask, after } = shop();
    const first = await ask();
    api.quotes.set(first, 'settling');
    expect(await atOnce(10, () => after(first))).toEqual(Array(10).fill('503 payment_in_progress'));
    const second = await ask();
    expect(second).not.toBe(first);
    expect([made(), statusReads()]).toEqual([2, 1]);
    later(5001);
    expect(await after(first)).toBe(second);
    // The payment failed: the quote is handed to nobody anew, but who names it may pay it.
    api.quotes.set(first, 'settled');
    later(2000);
    expect([first, second]).not.toContain(await after(first));
  });
});

describe('who says that a quote was refused', () => {
  test('and names anything but a quote that is paid makes none, and no look', async () => {
    const { ask, after } = shop();
    const first = await ask();
    const theirs = await ask({}, '/other');
    api.quotes.set(theirs, 'settled');
    const junk = [newId('q'), theirs, 'q_1', 'x'.repeat(9000), `${first}, ${first}`, '../v1/quote'];
    for (const each of junk) expect(await after(each)).toBe(first);
    for (let i = 0; i < 1000; i += 1) await after(newId('q'));
    expect([made(), statusReads()]).toEqual([2, 0]);
  });

  test('and names the one that nobody has paid gets it again; it is looked up less and less', async () => {
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

  test('gets no more than the last quote while the API cannot be asked', async () => {
    const { ask, after } = shop();
    const first = await ask();
    api.quotes.set(first, 'settled');
    api.faults.push(({ call }) => (call.startsWith('GET /v1/quotes') ? 'lost' : null));
    expect(await after(first)).toBe(first);
    expect(made()).toBe(1);
  });
});

test('a store that is away: 503 and no call', async () => {
  const gone = () => Promise.reject(new Error('ECONNREFUSED'));
  const { serve } = shop({ store: { get: gone, compareAndSet: gone } });
  expect(await reasonOf(serve(at('/report')))).toBe('503 service_unavailable no_quote');
  expect(made()).toBe(0);
});
