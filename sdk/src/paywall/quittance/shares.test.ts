import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import {
  at,
  RESOURCE,
  readAnswer,
  reasonOf,
  startVendorApi,
  type VendorApi,
} from '../../../../test/support/stand-ins/vendor-api.ts';

/** Unpaid requests for many addresses leave quotes for other routes and other callers. */

let api: VendorApi;
beforeEach(async () => {
  api = await startVendorApi();
  later(0);
});
afterEach(async () => {
  jest.restoreAllMocks();
  await api.stop();
});

const made = () => api.asked.filter(({ call }) => call === 'POST /v1/quote').length;
const atOnce = <T>(n: number, make: () => Promise<T>) => Promise.all(Array.from({ length: n }, () => make()));
/** The clock stands still otherwise, so that the load of the machine has no effect. */
const later = (ms: number) => {
  jest.spyOn(Date, 'now').mockReturnValue(Date.now() + ms);
};

/** The limit of the API: calls of the last minute, refused ones too. */
const limitQuotes = (limit = 30) => {
  const times: number[] = [];
  const limited = { status: 429, body: { error: { code: 'rate_limited', message: '' } }, retryAfter: 60 };
  api.faults.push(({ call }) => {
    if (call !== 'POST /v1/quote') return null;
    times.push(Date.now());
    const used = times.filter((at) => at > Date.now() - 60_000);
    api.quoteHeaders = {
      'ratelimit-policy': `"account";q=${limit};w=60`,
      ratelimit: `"account";r=${Math.max(0, limit - used.length)};t=${Math.ceil((used[0]! + 60_000 - Date.now()) / 1000)}`,
    };
    return used.length > limit ? limited : null;
  });
};

test('requests for invented addresses leave the last quotes to other routes, from the first minute on', async () => {
  limitQuotes();
  const paywall = api.paywall();
  const named = paywall.protect({ price: '50000' }, () => Response.json({}));
  const other = paywall.protect({ price: '50000' }, () => Response.json({}));
  const statuses = await atOnce(100, async () => (await named(at(`/articles/${Math.random()}`))).status);
  expect(statuses.filter((status) => status === 402)).toHaveLength(24);
  for (let i = 0; i < 6; i += 1) expect((await other(at(`/${i}`))).status).toBe(i < 3 ? 402 : 503);
  expect(made()).toBe(27);
});

test('an address that has sold gets one of the last quotes', async () => {
  limitQuotes();
  const paywall = api.paywall();
  const protect = () => paywall.protect({ price: '50000' }, () => Response.json({}));
  const serve = protect();
  const { body } = await readAnswer(serve(at('/report')));
  const { quote_id } = JSON.parse(Buffer.from(body.quote_token.split('.')[0], 'base64url').toString());
  expect((await serve(at('/report', api.pay({ resource: RESOURCE }, { quote_id })))).status).toBe(200);
  later(301_000);
  const routes = Array.from({ length: 8 }, protect);
  for (let i = 0; i < 100; i += 1) await routes[i % 8]!(at(`/articles/${i}`));
  const flooded = made();
  expect(await reasonOf(protect()(at('/first')))).toBe('503 service_unavailable no_quote');
  expect((await serve(at('/report'))).status).toBe(402);
  expect(made()).toBe(flooded + 1);
});

describe('requests of one network', () => {
  const PAID = { price: '50000' };
  const asking = () => {
    const { admit } = api.paywall();
    return async (path: string, address: string, route = PAID) => {
      const body = async () => new Uint8Array();
      const incoming = { method: 'GET', target: path, header: () => null, body, address };
      const admission = await admit(incoming, null, route);
      return admission.kind === 'answer' ? admission.response.status : null;
    };
  };
  type Ask = ReturnType<typeof asking>;
  const flood = async (ask: Ask, address: (i: number) => string): Promise<number> => {
    const statuses = [];
    for (let i = 0; i < 100; i += 1) statuses.push(await ask(`/articles/${i}`, address(i)));
    return statuses.filter((status) => status === 402).length;
  };

  test.each<[string, (i: number) => string, string, string]>([
    ['IPv4', (i) => `198.51.100.${i}`, '203.0.113.1', '198.51.100.200'],
    ['mapped IPv4', (i) => `::ffff:198.51.100.${i}`, '203.0.113.1', '198.51.100.200'],
    ['IPv6', (i) => `2001:db8:1:${i}::1`, '2001:db8:2::1', '2001:0DB8:1::'],
  ])('use half of the quotes, and those of others go on: %s', async (_name, address, other, same) => {
    limitQuotes();
    const ask = asking();
    expect(await flood(ask, address)).toBe(15);
    expect(await ask('/articles/first', same)).toBe(503);
    for (let i = 0; i < 6; i += 1) expect(await ask(`/articles/other-${i}`, other)).toBe(402);
    // The first address of another route, whoever asks.
    expect(await ask('/report', same, { ...PAID })).toBe(402);
  });

  test.each([
    '127.0.0.1',
    '10.1.2.3',
    '172.20.0.1',
    '192.168.1.1',
    '100.64.0.1',
    '::1',
    'fd00::1',
    'fe80::1',
  ])('of %s have no share, because it is the address of a proxy', async (address) => {
    limitQuotes();
    expect(await flood(asking(), () => address)).toBe(24);
  });
});

test('the quotes of another replica count, and a limit that an operator has raised is used', async () => {
  limitQuotes(300);
  const flood = async (paywall: ReturnType<typeof api.paywall>) => {
    const named = paywall.protect({ price: '50000' }, () => Response.json({}));
    for (let i = 0; i < 300; i += 1) await named(at(`/articles/${Math.random()}`));
    return made();
  };
  // The second replica has its share of the last fifth, which the first one has left.
  expect(await flood(api.paywall())).toBe(240);
  expect(await flood(api.paywall())).toBe(270);
  later(60_001);
  expect(await flood(api.paywall())).toBe(510);
});

test('requests for invented addresses use half of the quotes, and the other routes continue to sell', async () => {
  limitQuotes();
  const paywall = api.paywall();
  const named = paywall.protect({ price: '50000' }, () => Response.json({}));
  const other = paywall.protect({ price: '50000' }, () => Response.json({}));
  const flood = async (n: number) => {
    const statuses: number[] = [];
    for (let i = 0; i < n; i += 1) statuses.push((await named(at(`/articles/${Math.random()}`))).status);
    return statuses.filter((status) => status === 402).length;
  };
  expect(await flood(100)).toBe(24);
  // Another service of the account uses up what is left, so the API refuses one.
  for (let i = 0; i < 6; i += 1)
    await api.paywall().protect({ price: '50000' }, () => Response.json({}))(at(`/${i}`));
  expect((await other(at('/first'))).status).toBe(503);
  later(61_000);
  for (let minute = 0; minute < 3; minute += 1) {
    expect(await flood(100)).toBe(12);
    for (let i = 0; i < 10; i += 1) expect((await other(at(`/${minute}-${i}`))).status).toBe(402);
    const { body } = await readAnswer(named(at(`/sold/${minute}`)));
    expect(body.error).toBe('service_unavailable');
    later(61_000);
  }
});
