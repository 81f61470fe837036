import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { DELEGATE_KEY } from '../../../test/support/base/keys.ts';
import { refusal } from '../../../test/support/stand-ins/scripted-server.ts';
import {
  errorOf,
  type Harness,
  honest,
  type Said,
  settlementOf,
  startHarness,
  type Visit,
} from '../../../test/support/stand-ins/scripted-vendors.ts';
import { InsufficientFundsError, PaymentUndecidedError } from '../main.ts';
import {
  BodyTooLargeError,
  memoryStore,
  NotDeliveredError,
  PaymentKeyReusedError,
  type PaymentStore,
  PriceAboveCapError,
  receiptOf,
} from './main.ts';

let harness: Harness;
beforeEach(async () => {
  harness = await startHarness();
});
afterEach(() => harness.stop());

const idOf = ({ headers }: Visit) => headers['x-payment-request-id'];
const byOf = async (answer: Response) => ((await answer.json()) as { by: string }).by;
const settles = () => harness.api.asked.filter(({ call }) => call.startsWith('POST'));
const atOnce = <T>(n: number, make: (i: number) => Promise<T>) =>
  Promise.all(Array.from({ length: n }, (_, i) => make(i)));
const tally = (values: readonly unknown[]) =>
  Object.fromEntries(
    Object.entries(Object.groupBy(values, String)).map(([value, of]) => [value, of!.length]),
  );

/** All records of a store. */
const watched = () => {
  const store = memoryStore();
  const names = new Set<string>();
  const held = async () => (await Promise.all([...names].map((name) => store.load(name)))).flat();
  const save: PaymentStore['save'] = (name, record) => {
    names.add(name);
    return store.save(name, record);
  };
  return { store: { ...store, save }, held };
};

describe('a request', () => {
  test('a 402 with offers of x402 and MPP beside the quote is paid natively, once', async () => {
    const vendor = await harness.vendor((visit, origin) => {
      const said = honest()(visit, origin);
      if (said === 'lost' || said.status !== 402) return said;
      const accepts = [{ scheme: 'exact', network: 'solana-devnet', maxAmountRequired: '1' }];
      return {
        ...said,
        headers: {
          'payment-required': Buffer.from('{"x402Version":2}').toString('base64'),
          'www-authenticate': 'Payment id="a", realm="b", method="solana", intent="charge", request="e30"',
        },
        body: { ...(said.body as object), x402Version: 1, accepts },
      };
    });
    const answer = await harness.payer()(`${vendor.origin}/a`);
    expect(await byOf(answer)).toBe(harness.paid()[0]!.settlement_id);
    expect(settles()).toHaveLength(1);
    const [, paid] = vendor.visits;
    for (const name of ['payment-signature', 'x-payment', 'authorization'])
      expect(paid!.headers[name]).toBeUndefined();
  });

  test('a 402 is paid once with the delegate key and delivered, and no record remains', async () => {
    const { store, held } = watched();
    const vendor = await harness.vendor(honest());
    const answer = await harness.payer({ store })(`${vendor.origin}/a?q=1#x`);
    expect(await answer.json()).toEqual({
      by: harness.paid()[0]!.settlement_id,
      id: idOf(vendor.visits[1]!),
    });
    expect(idOf(vendor.visits[0]!)).toBeUndefined();
    expect(settles()).toHaveLength(1);
    expect(settles()[0]).toMatchObject({ call: 'POST /v1/settle', token: DELEGATE_KEY });
    expect(vendor.visits.map(({ path }) => path)).toEqual(['/a?q=1', '/a?q=1']);
    expect(await held()).toEqual([]);
  });

  test('an answer without a price is returned unchanged, without a call of the API', async () => {
    const vendor = await harness.vendor(({ path }) => ({ status: Number(path.slice(1)), body: path }));
    for (const status of [200, 404, 500])
      expect((await harness.payer()(`${vendor.origin}/${status}`)).status).toBe(status);
    expect(await (await harness.payer()('data:,x')).text()).toBe('x');
    expect(harness.api.asked).toEqual([]);
  });

  test.each<[string, () => RequestInit & { duplex?: string }]>([
    ['a text', () => ({ body: 'höflich' })],
    ['bytes', () => ({ body: new TextEncoder().encode('höflich') })],
    ['a blob', () => ({ body: new Blob(['höflich']) })],
    ['a stream', () => ({ body: new Blob(['höflich']).stream() })],
    ['a form', () => ({ body: new URLSearchParams({ a: 'höflich' }) })],
  ])('with %s as its body is sent twice with the same bytes and content type', async (_name, init) => {
    const vendor = await harness.vendor(honest());
    const make = () => ({ method: 'POST', ...init() });
    await harness.payer()(vendor.origin, make());
    await harness.payer()(new Request(vendor.origin, { duplex: 'half', ...make() } as RequestInit));
    const sent = vendor.visits.map(({ method, body, headers }) => ({
      method,
      body,
      type: headers['content-type'],
    }));
    expect(sent).toHaveLength(4);
    expect(sent[0]!.body).toMatch(/h(ö|%C3%B6)flich/);
    for (const each of sent) expect(each).toEqual(sent[0]);
  });

  test('with a body over the limit passes as by fetch if it is free, and is not paid if it has a price', async () => {
    const vendor = await harness.vendor((visit, origin) =>
      visit.path === '/free' ? { status: 200, body: visit.body.length } : honest()(visit, origin),
    );
    const pay = harness.payer({ maxBodyBytes: 10 });
    expect((await pay(vendor.origin, { method: 'POST', body: 'x'.repeat(10) })).status).toBe(200);
    const text = 'x'.repeat(110_000);
    const bodies = () => [text, new Blob([text]), new Blob([text]).stream(), new TextEncoder().encode(text)];
    for (const body of bodies()) {
      const init = { method: 'PUT', body, duplex: 'half' } as RequestInit;
      expect(await (await pay(`${vendor.origin}/free`, init)).text()).toBe(String(text.length));
    }
    for (const body of bodies()) {
      const init = { method: 'PUT', body, duplex: 'half' } as RequestInit;
      const request = new Request(`${vendor.origin}/free`, init);
      expect(await (await pay(request)).text()).toBe(String(text.length));
    }
    for (const body of bodies())
      expect(await errorOf(pay(vendor.origin, { method: 'PUT', body }))).toBeInstanceOf(BodyTooLargeError);
    expect(harness.paid()).toHaveLength(1);
  });

  test('that is aborted fails like fetch before the payment, and with PaymentUndecidedError during the payment', async () => {
    const slow = await harness.vendor(() => new Promise<Said>(() => undefined));
    expect(await errorOf(harness.payer()(slow.origin, { signal: AbortSignal.timeout(50) }))).toMatchObject({
      name: 'TimeoutError',
    });
    const stop = new AbortController();
    harness.script.settle = () => {
      stop.abort();
      return { status: 202, body: { settlement_id: 'stl_1', status: 'pending', tx_hash: null } };
    };
    const vendor = await harness.vendor(honest());
    const pay = harness.payer();
    const request = new Request(vendor.origin, { signal: stop.signal });
    expect(await errorOf(pay(request))).toBeInstanceOf(PaymentUndecidedError);
    // The next equal request continues the same attempt.
    harness.script.settle = () => null;
    expect((await pay(vendor.origin)).status).toBe(200);
    expect(new Set(settles().map(({ body }) => body!.payment_attempt_id)).size).toBe(1);
  });
});

test('an abort during approve pays nothing and releases the budget', async () => {
  const vendor = await harness.vendor(honest());
  const stop = new AbortController();
  const approve = () => {
    stop.abort();
    return true;
  };
  const pay = harness.payer({ approve, budget: { total: 1000n } });
  expect(await errorOf(pay(vendor.origin, { signal: stop.signal }))).toMatchObject({ name: 'AbortError' });
  expect(settles()).toEqual([]);
  expect((await pay(`${vendor.origin}/other`)).status).toBe(200);
});

describe('a crash', () => {
  /** A store whose process dies at the nth save. Earlier records remain. */
  const dying = (store: PaymentStore, n: number): PaymentStore => {
    let saves = 0;
    const save: PaymentStore['save'] = (name, record) => {
      saves += 1;
      if (saves > n) throw new Error('the process died');
      return store.save(name, record);
    };
    return { ...store, save };
  };

  test.each([
    ['after the payment and before it was stored', 1, 2],
    ['before the payment was sent', 0, 1],
  ])('%s leads to one payment', async (_name, survives, sent) => {
    const store = memoryStore();
    const vendor = await harness.vendor(honest());
    await errorOf(harness.payer({ store: dying(store, survives) })(`${vendor.origin}/a`));
    expect((await harness.payer({ store })(`${vendor.origin}/a`)).status).toBe(200);
    expect(harness.paid()).toHaveLength(1);
    expect(settles()).toHaveLength(sent);
  });

  test('before the delivery: the same request presents the same payment with the same id, and another request buys', async () => {
    let lost = true;
    const vendor = await harness.vendor((visit, origin) =>
      lost && settlementOf(visit) !== undefined ? 'lost' : honest()(visit, origin),
    );
    const store = memoryStore();
    const make = (body: string) => [`${vendor.origin}/a`, { method: 'POST', body }] as const;
    await errorOf(harness.payer({ store })(...make('x')));
    lost = false;
    const pay = harness.payer({ store });
    expect((await pay(...make('y'))).status).toBe(200);
    expect(harness.paid()).toHaveLength(2);
    const before = vendor.visits.length;
    expect((await pay(...make('x'))).status).toBe(200);
    expect(harness.paid()).toHaveLength(2);
    // It did not request the price.
    expect(vendor.visits).toHaveLength(before + 1);
    expect(idOf(vendor.visits.at(-1)!)).toBe(idOf(vendor.visits[1]!));
    // It is delivered, so the next request is a new purchase.
    await pay(...make('x'));
    expect(harness.paid()).toHaveLength(3);
  });

  test('a payment that failed without moving money is replaced by a new quote and a new attempt', async () => {
    const store = memoryStore();
    const vendor = await harness.vendor(honest());
    harness.script.settle = () => refusal(400, 'validation_error', { money_moved: 'unknown' });
    await errorOf(harness.payer({ store })(vendor.origin));
    harness.script.settle = (asked) => {
      harness.script.settle = () => null;
      expect(asked.body!.payment_attempt_id).toBe(settles()[0]!.body!.payment_attempt_id);
      return refusal(410, 'quote_expired', { money_moved: 'no' });
    };
    expect((await harness.payer({ store })(vendor.origin)).status).toBe(200);
    expect(new Set(settles().map(({ body }) => body!.payment_attempt_id)).size).toBe(2);
    expect(harness.paid()).toHaveLength(1);
  });
});

describe('the answer of the vendor to a payment', () => {
  test.each([500, 503, 429, 401])(
    '%i: the same request is delivered later by the same payment',
    async (status) => {
      let failing = true;
      const vendor = await harness.vendor((visit, origin) =>
        failing && settlementOf(visit) !== undefined ? { status } : honest()(visit, origin),
      );
      const pay = harness.payer();
      expect((await pay(vendor.origin)).status).toBe(status);
      failing = false;
      expect((await pay(vendor.origin)).status).toBe(200);
      expect(harness.paid()).toHaveLength(1);
    },
  );

  test.each([204, 404, 422])('%i is the delivery', async (status) => {
    const vendor = await harness.vendor((visit, origin) =>
      settlementOf(visit) !== undefined ? { status } : honest()(visit, origin),
    );
    harness.script.read = () => ({ status: 'redeemed', redeemed_at: new Date().toISOString() });
    const { store, held } = watched();
    expect((await harness.payer({ store })(vendor.origin)).status).toBe(status);
    expect(await held()).toEqual([]);
  });

  test.each([400, 404, 413, 431])(
    '%i without a redeem is no delivery: the buyer keeps the payment, and the next equal request presents it',
    async (status) => {
      let refusing = true;
      const vendor = await harness.vendor((visit, origin) =>
        refusing && settlementOf(visit) !== undefined ? { status } : honest()(visit, origin),
      );
      harness.script.read = () => ({ status: 'issued', redeemed_at: null });
      const { store, held } = watched();
      const pay = harness.payer({ store });
      expect(await errorOf(pay(vendor.origin))).toBeInstanceOf(NotDeliveredError);
      expect(await held()).toHaveLength(1);
      // While the API does not answer, nobody knows, so the payment stays too.
      harness.script.read = () => 'lost' as never;
      const undecided = await pay(vendor.origin);
      expect([undecided.status, receiptOf(undecided)]).toEqual([status, null]);
      expect(await held()).toHaveLength(1);
      refusing = false;
      expect((await pay(vendor.origin)).status).toBe(200);
      expect(harness.paid()).toHaveLength(1);
    },
  );

  test('payment_failed is final during the redelivery window; then an equal request buys again, and one with a key never does', async () => {
    let refusing = true;
    const vendor = await harness.vendor((visit, origin) =>
      refusing && settlementOf(visit) !== undefined ? { status: 402 } : honest()(visit, origin),
    );
    const store = memoryStore();
    // The payment is recorded as a quarter of an hour old.
    const old = (record: Parameters<PaymentStore['save']>[1]) =>
      record.paidAt === null ? record : { ...record, paidAt: Date.now() - 900_000 };
    const pay = harness.payer({ store: { ...store, save: (name, record) => store.save(name, old(record)) } });
    for (let i = 0; i < 3; i += 1) {
      expect(await errorOf(pay(vendor.origin, { paymentKey: 'order-17' }))).toBeInstanceOf(NotDeliveredError);
      expect(harness.paid()).toHaveLength(1);
    }
    // The second one presents the old payment again, is refused, and removes the record.
    for (let i = 0; i < 2; i += 1) {
      expect(await errorOf(pay(vendor.origin))).toBeInstanceOf(NotDeliveredError);
      expect(harness.paid()).toHaveLength(2);
    }
    refusing = false;
    expect((await pay(vendor.origin)).status).toBe(200);
    expect(harness.paid()).toHaveLength(3);
  });

  test('a store that fails after the delivery does not prevent it', async () => {
    const vendor = await harness.vendor(honest());
    const remove = () => Promise.reject(new Error('the disk is full'));
    expect((await harness.payer({ store: { ...memoryStore(), remove } })(vendor.origin)).status).toBe(200);
  });
});

describe('concurrent calls', () => {
  test('of 64 calls 10 are paid within the cap of an origin, and calls to another origin within the total', async () => {
    const [vendor, other] = [await harness.vendor(honest()), await harness.vendor(honest())];
    const pay = harness.payer({ budget: { perOrigin: 10_000n, total: 12_000n, periodMs: 3_600_000 } });
    const answers = await atOnce(64, (i) => errorOf(pay(`${vendor.origin}/${i}`)));
    expect(
      tally(answers.map((answer) => (answer instanceof PriceAboveCapError ? answer.cap : answer))),
    ).toEqual({
      'answered 200': 10,
      perOrigin: 54,
    });
    const further = await atOnce(8, (i) => errorOf(pay(`${other.origin}/${i}`)));
    expect(
      tally(further.map((answer) => (answer instanceof PriceAboveCapError ? answer.cap : answer))),
    ).toEqual({
      'answered 200': 2,
      total: 6,
    });
    expect(harness.paid()).toHaveLength(12);
  });

  test('only "no money moved" releases the budget', async () => {
    const vendor = await harness.vendor(honest());
    const pay = harness.payer({ budget: { total: 1000n } });
    harness.script.settle = () => refusal(402, 'insufficient_funds', { money_moved: 'no' });
    for (const path of ['/a', '/b'])
      expect(await errorOf(pay(`${vendor.origin}${path}`))).toBeInstanceOf(InsufficientFundsError);
    harness.script.settle = () => refusal(401, 'unauthorized', { money_moved: 'unknown' });
    await errorOf(pay(`${vendor.origin}/a`));
    harness.script.settle = () => null;
    expect(await errorOf(pay(`${vendor.origin}/b`))).toBeInstanceOf(PriceAboveCapError);
    // The call that has the reservation may continue.
    expect((await pay(`${vendor.origin}/a`)).status).toBe(200);
    expect(await errorOf(pay(`${vendor.origin}/a`))).toBeInstanceOf(PriceAboveCapError);
    expect(harness.paid()).toHaveLength(1);
  });

  test('equal calls buy one each; with one key they buy one, and each gets the complete answer', async () => {
    const vendor = await harness.vendor(honest());
    const pay = harness.payer();
    const each = await atOnce(8, async () => byOf(await pay(vendor.origin)));
    expect(new Set(each).size).toBe(8);
    expect(new Set(vendor.visits.filter(settlementOf).map(idOf)).size).toBe(8);
    const shared = await atOnce(8, async () => byOf(await pay(vendor.origin, { paymentKey: 'order-17' })));
    expect(new Set(shared).size).toBe(1);
    expect(harness.paid()).toHaveLength(9);
  });

  test('a call does not use the payment that is being delivered to an equal call', async () => {
    const vendor = await harness.vendor(async (visit, origin) => {
      // The delivery of the first call waits until the second one has paid.
      while (settlementOf(visit) !== undefined && harness.paid().length < 2)
        await new Promise((resolve) => setTimeout(resolve, 5));
      return honest()(visit, origin);
    });
    const pay = harness.payer();
    const first = pay(vendor.origin);
    while (vendor.visits.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    const answers = await Promise.all([first, pay(vendor.origin)]);
    expect(new Set(await Promise.all(answers.map(byOf))).size).toBe(2);
  });

  test('a key belongs to one request', async () => {
    const vendor = await harness.vendor((visit, origin) =>
      settlementOf(visit) === undefined ? honest()(visit, origin) : { status: 500 },
    );
    const pay = harness.payer();
    const make = (path: string) => pay(`${vendor.origin}${path}`, { paymentKey: 'order-17' });
    const paths = ['/a', '/b'];
    const errors = await Promise.all(paths.map((path) => errorOf(make(path))));
    // Either request may be the first one.
    const refused = errors.findIndex((error) => error instanceof PaymentKeyReusedError);
    expect(errors[1 - refused]).toBe('answered 500');
    expect(await errorOf(make(paths[refused]!))).toBeInstanceOf(PaymentKeyReusedError);
    expect(harness.paid()).toHaveLength(1);
  });
});

test('the error for a credential of another kind does not contain it', () => {
  expect(() => harness.payer({ delegateKey: 'vendor_test_secret' })).toThrow(/^(?!.*secret)/);
  expect(() => harness.payer({ maxAmount: 5 as never })).toThrow("write '$5' for 5 USDC");
});
