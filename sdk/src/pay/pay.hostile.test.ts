import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { DELEGATE_KEY } from '../../../test/support/base/keys.ts';
import { withoutPauses } from '../../../test/support/base/skipped-pauses.ts';
import { refusal } from '../../../test/support/stand-ins/scripted-server.ts';
import {
  bill,
  errorOf,
  type Harness,
  honest,
  type Said,
  SIGNERS,
  settlementOf,
  startHarness,
  tokenFor,
} from '../../../test/support/stand-ins/scripted-vendors.ts';
import { NoAnswerError } from '../errors.ts';
import {
  BadTokenError,
  NotAllowedError,
  NotDeliveredError,
  PaidRedirectError,
  PaymentDeclinedError,
  PriceAboveCapError,
  QuoteLapsedError,
  ResourceMismatchError,
} from './main.ts';

/**
 * Attempts of a vendor, or of an attacker on the way, to be paid too much, twice, or for the quote
 * of another vendor.
 */

let harness: Harness;
beforeEach(async () => {
  harness = await startHarness();
});
afterEach(() => harness.stop());

const settles = () => harness.api.asked.filter(({ call }) => call.startsWith('POST'));
const nothingPaid = () => expect(settles()).toEqual([]);

describe('a quote that is not for the called address is not paid', () => {
  test('the fresh quote of another site', async () => {
    const victim = await harness.vendor(honest());
    const relay = await harness.vendor(async () => {
      const theirs = await fetch(`${victim.origin}/dear`);
      return { status: 402, body: await theirs.json() };
    });
    const error = await errorOf(harness.payer()(`${relay.origin}/dear`));
    expect(error).toBeInstanceOf(ResourceMismatchError);
    expect(error).toMatchObject({ quote: { scope: { resource: `${victim.origin}/dear` } } });
    nothingPaid();
  });

  test.each([
    ['another path', (origin: string) => `${origin}/b`],
    ['an additional slash', (origin: string) => `${origin}/a/`],
    ['only the origin', (origin: string) => origin],
    ['no resource', () => undefined],
    ['a list', (origin: string) => [`${origin}/a`]],
    ['a query', (origin: string) => `${origin}/a?x=1`],
    ['localhost instead of its address', (origin: string) => `${origin.replace('127.0.0.1', 'localhost')}/a`],
  ])('a quote of the same site: %s', async (_name, resource) => {
    const vendor = await harness.vendor((_visit, origin) => bill(tokenFor(resource(origin))));
    expect(await errorOf(harness.payer()(`${vendor.origin}/a?x=1`))).toBeInstanceOf(ResourceMismatchError);
    nothingPaid();
  });

  test.each([
    ['/report', '/api/report', 'must contain the prefix /api.'],
    ['/api/report', '/report', 'must not contain the prefix /api.'],
    ['/a', '/b', 'is another one.'],
  ])(
    'a quote for %s at %s: both addresses and what the vendor has to change',
    async (quoted, called, remedy) => {
      const vendor = await harness.vendor((_visit, origin) => bill(tokenFor(`${origin}${quoted}`)));
      const { message } = (await errorOf(harness.payer()(`${vendor.origin}${called}`))) as Error;
      expect(message).toBe(
        `The quote is for ${vendor.origin}${quoted}, and ${vendor.origin}${called} was called. If this is your vendor: its publicUrl ${remedy}`,
      );
      const other = await harness.vendor(() => bill(tokenFor(`http://localhost:1${called}`)));
      expect(((await errorOf(harness.payer()(`${other.origin}${called}`))) as Error).message).toMatch(
        new RegExp(`its publicUrl must begin with ${other.origin}\\.$`),
      );
    },
  );

  test('a quote without a scope', async () => {
    const vendor = await harness.vendor(() => bill(tokenFor('', { scope: null })));
    expect(await errorOf(harness.payer()(vendor.origin))).toBeInstanceOf(ResourceMismatchError);
    nothingPaid();
  });

  test('a redirect to another origin with a valid quote', async () => {
    const other = await harness.vendor(honest());
    const vendor = await harness.vendor(() => ({ status: 307, headers: { location: `${other.origin}/a` } }));
    expect(await errorOf(harness.payer()(`${vendor.origin}/a`))).toBeInstanceOf(ResourceMismatchError);
    nothingPaid();
  });

  test('a redirected POST, whose method at the target is unknown', async () => {
    const vendor = await harness.vendor((visit, origin) =>
      visit.path === '/old' ? { status: 303, headers: { location: '/new' } } : honest()(visit, origin),
    );
    const pay = harness.payer();
    expect(await errorOf(pay(`${vendor.origin}/old`, { method: 'POST', body: 'x' }))).toBeInstanceOf(
      ResourceMismatchError,
    );
    nothingPaid();
    // A GET that is redirected within the origin is paid at its target.
    const delivered = await pay(`${vendor.origin}/old`);
    expect(delivered.status).toBe(200);
    expect(vendor.visits.at(-1)).toMatchObject({ path: '/new' });
  });
});

describe('an invalid token is not paid', () => {
  test.each([
    ['signed by an attacker with the kid of the API', (r: string) => tokenFor(r, {}, SIGNERS.stranger)],
    ['of an unknown key', (r: string) => tokenFor(r, {}, SIGNERS.unknown)],
    ['of the other environment', (r: string) => tokenFor(r, { env: 'live' }, SIGNERS.live)],
    [
      'with a cheaper payload before its signature',
      (r: string) => {
        const [, signature] = tokenFor(r, { quote_amount: '9999' }).split('.');
        return `${tokenFor(r, { quote_amount: '1' }).split('.')[0]}.${signature}`;
      },
    ],
  ])('%s', async (_name, token) => {
    const vendor = await harness.vendor((_visit, origin) => bill(token(`${origin}/a`)));
    expect(await errorOf(harness.payer()(`${vendor.origin}/a`))).toBeInstanceOf(BadTokenError);
    nothingPaid();
  });

  test('an expired quote', async () => {
    const expires_at = new Date(Date.now() - 1).toISOString();
    const vendor = await harness.vendor(honest({ expires_at }));
    expect(await errorOf(harness.payer()(vendor.origin))).toBeInstanceOf(QuoteLapsedError);
    nothingPaid();
  });

  test('a quote while the API’s keys cannot be loaded', async () => {
    harness.script.keys = () => ({ status: 404, html: true });
    const vendor = await harness.vendor(honest());
    const error = await withoutPauses(() => errorOf(harness.payer()(vendor.origin)));
    expect(error).toBeInstanceOf(NoAnswerError);
    nothingPaid();
  });

  test('the amount of the token counts, not the displayed amount', async () => {
    const vendor = await harness.vendor(honest({ quote_amount: '5001' }));
    const error = await errorOf(harness.payer()(vendor.origin));
    expect(error).toBeInstanceOf(PriceAboveCapError);
    expect(error).toMatchObject({ cap: 'maxAmount', quote: { quote_amount: '5001' } });
    nothingPaid();
  });
});

describe('a quote that the options do not allow is not paid', () => {
  test.each([
    ['another mint', { mints: ['EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'] }],
    ['another service', { serviceIds: ['0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17'] }],
    ['another origin', { origins: ['https://api.example.com'] }],
    ['nothing', { origins: [] }],
  ])('%s', async (_name, allow) => {
    const vendor = await harness.vendor(honest());
    expect(await errorOf(harness.payer({ allow })(vendor.origin))).toBeInstanceOf(NotAllowedError);
    nothingPaid();
  });

  test('approve decides last, and its refusal releases the budget', async () => {
    const vendor = await harness.vendor(honest());
    const asked: unknown[] = [];
    const pay = harness.payer({
      budget: { total: 1000n },
      approve: ({ quote_amount }, { method, url }) => {
        asked.push({ quote_amount, method, url });
        return asked.length === 2;
      },
    });
    expect(await errorOf(pay(`${vendor.origin}/a?q=1`))).toBeInstanceOf(PaymentDeclinedError);
    nothingPaid();
    expect((await pay(`${vendor.origin}/a?q=1`)).status).toBe(200);
    const each = { quote_amount: '1000', method: 'GET', url: `${vendor.origin}/a?q=1` };
    expect(asked).toEqual([each, each]);
  });

  test('plain http to another machine is refused unless the origin is listed', async () => {
    // A name that is not a loopback address. The fetch of the test redirects it to the vendor.
    const vendor = await harness.vendor(({ headers }) =>
      headers['x-settlement-id'] === undefined
        ? bill(tokenFor('http://vendor.internal/a'))
        : { status: 200, body: {} },
    );
    const { payingFetch } = await import('./main.ts');
    const payerOf = (allow: object) =>
      payingFetch(
        (url, init) =>
          fetch(url.replace('http://vendor.internal', vendor.origin), init).then(
            (response) => new Response(response.body, response),
          ),
        {
          baseUrl: harness.api.baseUrl,
          delegateKey: DELEGATE_KEY,
          maxAmount: 5000n,
          allow,
        },
      );
    expect(await errorOf(payerOf({})('http://vendor.internal/a'))).toBeInstanceOf(NotAllowedError);
    nothingPaid();
    const listed = payerOf({ origins: ['http://vendor.internal'] });
    expect((await listed('http://vendor.internal/a')).status).toBe(200);
  });
});

describe('after the payment', () => {
  test.each<[string, (token: string) => Said]>([
    ['payment_failed', () => ({ status: 402, body: { error: 'payment_failed' } })],
    ['another quote each time', (token) => bill(token)],
    ['a 402 of another protocol', () => ({ status: 402 })],
  ])('if the vendor answers %s, repeated calls make one payment', async (_name, answer) => {
    const vendor = await harness.vendor((visit, origin) => {
      const token = tokenFor(`${origin}/a`);
      return settlementOf(visit) === undefined ? bill(token) : answer(token);
    });
    const pay = harness.payer();
    const errors = [];
    for (let i = 0; i < 3; i += 1) errors.push(await errorOf(pay(`${vendor.origin}/a`)));
    for (const error of errors) expect(error).toBeInstanceOf(NotDeliveredError);
    expect(harness.paid()).toHaveLength(1);
    expect(errors[0]).toMatchObject({ settlementId: harness.paid()[0]!.settlement_id });
    expect(vendor.visits).toHaveLength(4);
  });

  test('a redirect is not followed, so neither headers nor body reach another origin', async () => {
    const other = await harness.vendor(() => ({ status: 200 }));
    const vendor = await harness.vendor((visit, origin) =>
      settlementOf(visit) === undefined
        ? honest()(visit, origin)
        : { status: 307, headers: { location: other.origin } },
    );
    const error = await errorOf(harness.payer()(vendor.origin, { method: 'POST', body: 'x' }));
    expect(error).toBeInstanceOf(PaidRedirectError);
    expect(error).toMatchObject({ location: other.origin, settlementId: harness.paid()[0]!.settlement_id });
    expect(other.visits).toEqual([]);
    // A caller with manual redirects gets the redirect, which counts as the delivery.
    const answer = await harness.payer()(vendor.origin, { redirect: 'manual' });
    expect(answer.status).toBe(307);
  });

  test('payment headers of the caller are replaced, and no payment is shown to another vendor', async () => {
    const first = await harness.vendor(honest());
    const second = await harness.vendor(honest());
    const pay = harness.payer();
    const headers = { 'x-settlement-id': 'mine', 'x-payment-request-id': 'mine', 'x-other': 'kept' };
    await pay(first.origin, { headers });
    await pay(second.origin, { headers });
    const [asked, paid] = [second.visits[0]!, second.visits[1]!];
    expect(asked.headers).toMatchObject({ 'x-other': 'kept' });
    expect(asked.headers).not.toHaveProperty('x-settlement-id');
    expect(settlementOf(paid)).toBe(harness.paid()[1]!.settlement_id);
    expect(paid.headers['x-payment-request-id']).toMatch(/^[A-Za-z0-9._:-]{1,128}$/);
    expect(asked.headers['x-payment-request-id']).toBeUndefined();
    for (const { headers: sent } of [...first.visits, ...second.visits]) {
      expect(JSON.stringify(sent)).not.toContain(DELEGATE_KEY);
    }
  });
});

describe('the API reports the remaining units of a prepaid settlement', () => {
  /** A vendor that sells prepaid units. `answer` answers a request that presents a settlement. */
  const bundles = (answer: (due: Said, shown: number) => Said) => {
    let shown = 0;
    return harness.vendor((visit, origin) => {
      const resource = `${origin}${visit.path.split('?')[0]}`;
      const due = bill(tokenFor(resource, { scope: { resource, units: 1000 } }));
      if (settlementOf(visit) === undefined) return due;
      shown += 1;
      return answer(due, shown);
    });
  };
  const left = (units_remaining: number, status = 'redeemed') => ({
    status,
    units_total: 1000,
    units_remaining,
    redeem_expires_at: new Date(Date.now() + 60_000).toISOString(),
    redeemed_at: status === 'redeemed' ? new Date().toISOString() : null,
  });
  const served: Said = { status: 200, body: {} };

  test.each<[string, (due: Said) => Said]>([
    ['a new quote', (due) => due],
    ['payment_failed', () => ({ status: 402, body: { error: 'payment_failed' } })],
  ])('with 999 units left and the answer %s, nothing more is bought', async (_name, refuse) => {
    const vendor = await bundles((due, shown) => (shown === 1 ? served : refuse(due)));
    harness.script.read = () => left(999);
    const pay = harness.payer();
    expect((await pay(`${vendor.origin}/a?0`)).status).toBe(200);
    for (let i = 1; i < 4; i += 1)
      expect(await errorOf(pay(`${vendor.origin}/a?${i}`))).toBeInstanceOf(NotDeliveredError);
    expect(harness.paid()).toHaveLength(1);
  });

  test('a vendor that never delivers sells one prepaid settlement for any number of requests', async () => {
    const vendor = await bundles((due) => due);
    harness.script.read = () => left(1000, 'issued');
    const pay = harness.payer();
    for (let i = 0; i < 4; i += 1)
      expect(await errorOf(pay(`${vendor.origin}/a?${i}`))).toBeInstanceOf(NotDeliveredError);
    expect(harness.paid()).toHaveLength(1);
  });

  test('while the API cannot be read, nothing more is bought', async () => {
    const vendor = await bundles((due, shown) => (shown === 1 ? served : due));
    const pay = harness.payer();
    await pay(`${vendor.origin}/a?0`);
    harness.script.read = () => refusal(401, 'unauthorized');
    expect(await errorOf(pay(`${vendor.origin}/a?1`))).toBeInstanceOf(NotDeliveredError);
    expect(harness.paid()).toHaveLength(1);
  });

  test.each([
    ['used up', () => left(0)],
    ['past its redeem window', () => ({ ...left(1000, 'issued'), status: 'expired' })],
    [
      'past the 30 days after its redeem',
      () => ({ ...left(7), redeemed_at: new Date(Date.now() - 31 * 86_400_000).toISOString() }),
    ],
    ['finally reversed by a fork', () => ({ ...left(7), chain_status: 'failed' })],
  ])('after a settlement that is %s, the next one is bought', async (_name, said) => {
    const vendor = await bundles((due, shown) => (shown === 2 ? due : served));
    const pay = harness.payer();
    await pay(`${vendor.origin}/a?0`);
    harness.script.read = said;
    expect((await pay(`${vendor.origin}/a?1`)).status).toBe(200);
    expect(harness.paid()).toHaveLength(2);
  });
});

test('settle_url is never called, and an unknown 402 is returned unchanged', async () => {
  const vendor = await harness.vendor(({ path }) =>
    path === '/html'
      ? { status: 402, body: '<h1>pay</h1>' }
      : { status: 402, body: { error: 'payment_failed' } },
  );
  for (const path of ['/html', '/failed']) {
    const answer = await harness.payer()(`${vendor.origin}${path}`);
    expect(answer.status).toBe(402);
    expect(await answer.text()).toMatch(/pay/);
  }
  const huge = await harness.vendor(() => ({
    status: 402,
    body: { error: 'payment_required', quote_token: 'x'.repeat(200_000) },
  }));
  const answer = await harness.payer()(huge.origin);
  expect((await answer.text()).length).toBeGreaterThan(200_000);
  expect(harness.api.asked).toEqual([]);
});
