import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { fromBase64, memoOf, paymentOn, type Rail } from '../../../../test/support/actors/incoming-buyers.ts';
import { OTHER_SERVICE_KEY, SERVICE_KEY } from '../../../../test/support/base/keys.ts';
import { withoutPauses } from '../../../../test/support/base/skipped-pauses.ts';
import { refusal } from '../../../../test/support/stand-ins/scripted-server.ts';
import {
  at,
  RESOURCE,
  readAnswer,
  reasonOf,
  sellBy,
  startVendorApi,
  type VendorApi,
} from '../../../../test/support/stand-ins/vendor-api.ts';
import { memoryStore, type PaywallOptions, paymentOf } from '../main.ts';
import { mpp } from './mpp.ts';
import { x402 } from './x402.ts';

const SECRET = 'a secret of the vendor, 32 or more';
const OTHER_SECRET = 'the next secret, also of 32 or more';
const signedBy = (secret: string | readonly string[]) => [x402({ secret }), mpp({ secret })];
const dialects = signedBy(SECRET);
const RAILS: Rail[] = ['x402', 'mpp'];
let api: VendorApi;
beforeEach(async () => {
  api = await startVendorApi();
});
afterEach(async () => {
  jest.restoreAllMocks();
  await api.stop();
});
const sell = (answers?: (() => Response | Promise<Response>)[], options: Partial<PaywallOptions> = {}) =>
  sellBy(api, answers, { dialects, ...options });
const paidCalls = () => api.asked.filter(({ call }) => call === 'POST /v1/settlements/foreign');
const passTime = (ms: number) => {
  const now = Date.now();
  jest.spyOn(Date, 'now').mockImplementation(() => now + ms);
};

/** A vendor with a 402 of its route, and the header of a payment for it. */
const charged = async (rail: Rail, ...settings: Parameters<typeof sell>) => {
  const sold = sell(...settings);
  const { headers } = await sold.serve(at('/report'));
  return { ...sold, memo: memoOf[rail](headers), payment: paymentOn[rail](headers) };
};
/** A fault of the call that settles, for its first `times` calls. */
const failing = (said: ReturnType<VendorApi['faults'][number]>, times = Number.POSITIVE_INFINITY) => {
  let left = times;
  api.faults.push(({ call }) => {
    if (call !== 'POST /v1/settlements/foreign' || left === 0) return null;
    left -= 1;
    return said;
  });
};
const PENDING = {
  status: 202,
  body: { settlement_id: 'stl_1', status: 'pending', tx_hash: null },
  retryAfter: 0,
};

describe('the 402', () => {
  test('has the offers of all protocols beside the quote, unchanged for native buyers, in less than 4 KiB', async () => {
    const { headers, body } = await readAnswer(sell().serve(at('/report')));
    expect(body).toMatchObject({ error: 'payment_required', quote_amount: '50000' });
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('access-control-expose-headers')).toContain('payment-required');
    expect(headers.get('access-control-expose-headers')).toContain('www-authenticate');
    // Stock clients of x402 have compute units for 43 characters.
    expect(memoOf.x402(headers)).toMatch(/^[\w-]{22}$/);
    expect(memoOf.mpp(headers)).toMatch(/^0\.05 USDC to shop\.example\.com [\w-]{22}$/);
  });

  test.each([100, 1000, 1024, 1100, 4000])(
    'of a resource of %d characters more has headers of less than 4 KiB',
    async (length) => {
      const { serve } = sell(undefined, {
        dialects: [x402({ secret: SECRET, v1: true }), mpp({ secret: SECRET })],
      });
      const { headers } = await serve(at(`/${'x'.repeat(length)}`));
      const size = [...headers].reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0);
      expect(size).toBeLessThan(4096);
      const { url } = fromBase64(headers.get('payment-required')).resource;
      expect(URL.canParse(url)).toBe(true);
      expect(url.length).toBeLessThanOrEqual(1024);
    },
  );

  test('each has another memo, and unpaid requests cost no call after the first', async () => {
    const { serve } = sell();
    const memos = new Set<string>();
    // After some seconds the status of a shared quote is read again.
    passTime(0);
    for (const _ of Array.from({ length: 20 })) {
      const { headers } = await serve(at('/report'));
      for (const rail of RAILS) memos.add(memoOf[rail](headers));
    }
    expect(memos.size).toBe(40);
    expect(api.calls()).toHaveLength(2);
    expect(new Set(api.calls())).toEqual(new Set(['quote', 'terms']));
  });

  test('without terms has the quote only, and the log names the reason', async () => {
    api.faults.push(({ call }) => (call.endsWith('/terms') ? refusal(404, 'not_found') : null));
    const { serve } = sell();
    for (const _ of [1, 2]) {
      const { status, headers } = await readAnswer(serve(at('/report')));
      expect([status, headers.get('payment-required'), headers.get('www-authenticate')]).toEqual([
        402,
        null,
        null,
      ]);
    }
    expect(api.calls().filter((call) => call === 'terms')).toHaveLength(1);
    expect(api.log).toContainEqual(
      expect.objectContaining({ event: 'error', reason: 'foreign_terms not_found' }),
    );
    api.faults.pop();
    passTime(10_001);
    expect((await serve(at('/report'))).headers.get('payment-required')).not.toBeNull();
  });

  test('of a prepaid route has the quote only, because an incoming payment buys one delivery', async () => {
    const serve = api
      .paywall({ dialects })
      .protect({ price: '50000', prepaid: { units: 5 } }, () => Response.json({}));
    const { headers } = await serve(at('/report'));
    expect([headers.get('payment-required'), headers.get('www-authenticate')]).toEqual([null, null]);
  });

  test('a native payment is delivered without a receipt of another protocol', async () => {
    const { serve } = sell();
    const { status, headers } = await serve(at('/report', api.pay({ resource: RESOURCE })));
    expect([status, headers.get('payment-response'), headers.get('payment-receipt')]).toEqual([
      200,
      null,
      null,
    ]);
  });
});

describe.each(RAILS)('a payment of %s', (rail) => {
  test('is settled with the amount and memo of its offer, and the handler knows the settlement', async () => {
    const { serve, deliveries, payment, memo } = await charged(rail);
    const first = await readAnswer(serve(at('/report', payment)));
    expect(first).toMatchObject({ status: 200, body: { report: 'yes' } });
    expect(first.headers.get('cache-control')).toContain('private');
    const [asked] = paidCalls();
    expect(asked!.token).toBe(SERVICE_KEY);
    expect(asked!.body).toEqual({
      rail,
      quote_amount: '50000',
      memo,
      transaction: expect.any(String),
      redeem_id: deliveries[0],
      resource: RESOURCE,
    });
    const { settlement_id } = [...api.incoming.values()][0]!;
    expect(api.log).toContainEqual(
      expect.objectContaining({ event: 'delivered', payment_id: settlement_id, status: 200 }),
    );
  });

  test('sent again gets the stored answer with its receipt, and another request is charged anew', async () => {
    const { serve, deliveries, payment } = await charged(rail);
    const first = await readAnswer(serve(at('/report', payment)));
    const again = await readAnswer(serve(at('/report', payment)));
    expect(again.body).toEqual(first.body);
    expect(again.headers.get('x-payment-replayed')).toBe('true');
    const receipt = rail === 'x402' ? 'payment-response' : 'payment-receipt';
    expect(again.headers.get(receipt)).toBe(first.headers.get(receipt));
    expect(first.headers.get(receipt)).not.toBeNull();
    const other = await readAnswer(serve(at('/report?other', payment)));
    expect(other).toMatchObject({
      status: 402,
      body: { error: 'payment_failed', details: { reason: 'spent' } },
    });
    expect(memoOf[rail](other.headers)).toBeTruthy();
    expect([deliveries.length, paidCalls().length]).toEqual([1, 1]);
  });

  test('sent 64 times at once to two replicas runs the handler once, and no answer is a 402', async () => {
    const store = memoryStore();
    const replicas = [sell(undefined, { store }), sell(undefined, { store })];
    const { headers } = await replicas[0]!.serve(at('/report'));
    const payment = paymentOn[rail](headers);
    const statuses = await Promise.all(
      Array.from(
        { length: 64 },
        async (_, n) => (await readAnswer(replicas[n % 2]!.serve(at('/report', payment)))).status,
      ),
    );
    expect(new Set(statuses)).toEqual(new Set([200, 503]));
    expect(replicas.flatMap(({ deliveries }) => deliveries)).toHaveLength(1);
    expect(paidCalls()).toHaveLength(1);
    expect((await replicas[1]!.serve(at('/report', payment))).status).toBe(200);
  });

  test('of 64 buyers with an offer each is delivered to all', async () => {
    const { serve, deliveries } = sell();
    const statuses = await Promise.all(
      Array.from({ length: 64 }, async () => {
        const { headers } = await serve(at('/report'));
        return (await serve(at('/report', paymentOn[rail](headers)))).status;
      }),
    );
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(new Set(deliveries).size).toBe(64);
  });

  test('at a replica without the store is spent, because its redeem id is another', async () => {
    const { serve, payment } = await charged(rail);
    await serve(at('/report', payment));
    const other = sell();
    expect(await reasonOf(other.serve(at('/report', payment)))).toBe('402 payment_failed spent');
    expect(other.deliveries).toEqual([]);
  });

  test('whose handler fails runs it again for the same request, with the receipt and without a call', async () => {
    const { serve, deliveries, payment } = await charged(rail, [
      () => new Response('no', { status: 500 }),
      () => Response.json({ report: 'yes' }),
    ]);
    expect((await serve(at('/report', payment))).status).toBe(500);
    const again = await serve(at('/report', payment));
    expect(again.status).toBe(200);
    expect(again.headers.get(rail === 'x402' ? 'payment-response' : 'payment-receipt')).not.toBeNull();
    expect(new Set(deliveries).size).toBe(1);
    expect(paidCalls()).toHaveLength(1);
  });

  test.each([
    ['202', PENDING],
    ['500', { ...(refusal(500, 'internal_error') as object), retryAfter: 0 } as never],
    ['503', refusal(503, 'service_unavailable')],
    ['429', refusal(429, 'rate_limited')],
    ['no answer', 'lost' as const],
    ['a conflict with an unknown outcome', refusal(409, 'conflict', { money_moved: 'unknown' })],
  ])('is repeated with the same redeem id after %s', async (_, said) => {
    const { serve, deliveries, payment } = await charged(rail);
    failing(said, 1);
    expect((await withoutPauses(() => serve(at('/report', payment)))).status).toBe(200);
    const ids = paidCalls().map(({ body }) => body!.redeem_id);
    expect([ids.length, new Set(ids).size, deliveries.length]).toEqual([2, 1, 1]);
  });

  test.each([
    ['payment_failed', 409],
    ['insufficient_funds', 402],
    ['conflict', 409],
    ['validation_error', 400],
  ])('refused with %s gets a 402 with a new offer, and no handler runs', async (code, status) => {
    const { serve, deliveries, payment, memo } = await charged(rail);
    failing(refusal(status, code, { money_moved: 'no' }));
    const said = await readAnswer(serve(at('/report', payment)));
    expect(said).toMatchObject({ status: 402, body: { error: 'payment_failed', details: { reason: code } } });
    expect(said.body.quote_token).toBeTruthy();
    expect(memoOf[rail](said.headers)).not.toBe(memo);
    expect(deliveries).toEqual([]);
    expect(api.log).toContainEqual(expect.objectContaining({ event: 'refused', status: 402, reason: code }));
  });

  test.each([
    ['unauthorized', 401],
    ['forbidden', 403],
    ['not_found', 404],
  ])(
    'that the API refuses to this vendor with %s gets a 503, because it is not the payment',
    async (code, status) => {
      const { serve, payment } = await charged(rail);
      failing(refusal(status, code));
      expect(await reasonOf(serve(at('/report', payment)))).toBe(
        '503 service_unavailable vendor_configuration',
      );
    },
  );

  test.each(['facilitator_credit_exhausted', 'service_closing'])(
    'that the API refuses because of the vendor (%s) gets a 503 that names the reason',
    async (reason) => {
      const { serve, payment } = await charged(rail);
      const message = `${reason}: what the vendor can do`;
      failing(refusal(409, 'conflict', { message, money_moved: 'no' }));
      const said = await readAnswer(serve(at('/report', payment)));
      expect([said.status, said.headers.get('retry-after'), said.body.details.reason]).toEqual([
        503,
        '60',
        reason,
      ]);
    },
  );

  test('for another address, a higher price or of another vendor is refused without a call', async () => {
    const { payment } = await charged(rail);
    const paywall = api.paywall({ dialects });
    const other = paywall.protect({ price: '50000' }, () => Response.json({}));
    expect(await reasonOf(other(at('/other', payment)))).toBe('402 payment_failed other_resource');
    const dearer = paywall.protect({ price: '50001' }, () => Response.json({}));
    expect(await reasonOf(dearer(at('/report', payment)))).toBe('402 payment_failed amount_too_small');
    const cheaper = paywall.protect({ price: '49999' }, () => Response.json({}));
    expect((await cheaper(at('/report', payment))).status).toBe(200);
    expect(paidCalls().map(({ body }) => body!.quote_amount)).toEqual(['50000']);
    const stranger = sell(undefined, {
      dialects: signedBy(OTHER_SECRET),
    });
    expect(await reasonOf(stranger.serve(at('/report', payment)))).toBe('402 payment_failed invalid_offer');
    expect(paidCalls()).toHaveLength(1);
  });

  test('with a record goes on after a higher price, another service key and other secrets', async () => {
    const store = memoryStore();
    const { serve, deliveries, payment } = await charged(rail, undefined, { store });
    const open = { ...(refusal(503, 'service_unavailable') as object), retryAfter: 60 } as never;
    const undecided = '503 service_unavailable being_confirmed';
    failing(open, 2);
    expect(await reasonOf(serve(at('/report', payment)))).toBe(undecided);
    const changed = api.paywall({
      store,
      serviceKey: OTHER_SERVICE_KEY,
      dialects: signedBy(OTHER_SECRET),
    });
    const dearer = changed.protect({ price: '50001' }, (request) => {
      deliveries.push(paymentOf(request)!.deliveryId);
      return Response.json({ report: 'yes' });
    });
    expect(await reasonOf(dearer(at('/report', payment)))).toBe(undecided);
    expect(await reasonOf(dearer(at('/report?other', payment)))).toBe('503 payment_in_progress in_progress');
    expect((await readAnswer(dearer(at('/report', payment)))).status).toBe(200);
    const prepaid = changed.protect({ price: '50001', prepaid: { units: 5 } }, () => Response.json({}));
    for (const sold of [dearer, prepaid])
      expect((await sold(at('/report', payment))).headers.get('x-payment-replayed')).toBe('true');
    expect(deliveries).toHaveLength(1);
    const bodies = paidCalls().map(({ body }) => body);
    expect(bodies).toEqual([bodies[0], bodies[0], bodies[0]]);
  });

  test('for an offer of the previous secret is accepted for seven minutes', async () => {
    const { payment } = await charged(rail);
    const rotated = sell(undefined, { dialects: signedBy([OTHER_SECRET, SECRET]) });
    expect((await rotated.serve(at('/report', payment))).status).toBe(200);
    const { headers } = await rotated.serve(at('/report'));
    const next = sell(undefined, { dialects: signedBy(OTHER_SECRET) });
    expect((await next.serve(at('/report', paymentOn[rail](headers)))).status).toBe(200);
    passTime(420_001);
    const forged = await charged(rail);
    expect(await reasonOf(rotated.serve(at('/report', forged.payment)))).toBe(
      '402 payment_failed invalid_offer',
    );
  });

  test('of an expired offer is accepted for two minutes, then refused without a call', async () => {
    const { serve, payment } = await charged(rail);
    passTime(415_000);
    expect((await serve(at('/report', payment))).status).toBe(200);
    const late = await charged(rail);
    passTime(421_000);
    expect(await reasonOf(late.serve(at('/report', late.payment)))).toBe('402 payment_failed offer_expired');
    expect(paidCalls()).toHaveLength(1);
  });

  test('that was undecided while its offer was valid is accepted after the expiry', async () => {
    const { serve, payment } = await charged(rail);
    failing({ ...PENDING, retryAfter: 0 });
    passTime(0);
    const now = Date.now();
    // The wait of the first request ends with its first answer.
    let waited = 0;
    jest.spyOn(Date, 'now').mockImplementation(() => now + (paidCalls().length > 0 ? 60_000 : waited));
    expect(await reasonOf(serve(at('/report', payment)))).toBe('503 service_unavailable being_confirmed');
    api.faults.pop();
    waited = 450_000;
    jest.spyOn(Date, 'now').mockImplementation(() => now + waited);
    expect((await serve(at('/report', payment))).status).toBe(200);
    const ids = paidCalls().map(({ body }) => body!.redeem_id);
    expect(new Set(ids).size).toBe(1);
  });

  test('presented on a prepaid route is refused', async () => {
    const { payment } = await charged(rail);
    const prepaid = api
      .paywall({ dialects })
      .protect({ price: '50000', prepaid: { units: 5 } }, () => Response.json({}));
    expect(await reasonOf(prepaid(at('/report', payment)))).toBe('402 payment_failed other_resource');
    expect(paidCalls()).toEqual([]);
  });

  test('is logged without the credential, the offer and the secrets', async () => {
    const { serve, payment } = await charged(rail);
    await serve(at('/report', payment));
    const logged = JSON.stringify(api.log);
    for (const secret of [...Object.values(payment), SECRET, 'vendor_test_'])
      expect(logged).not.toContain(secret.slice(0, 40));
  });
});
