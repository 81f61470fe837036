import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  ERAS,
  type McpHarness,
  type Person,
  startMcpHarness,
} from '../../test/support/actors/mcp-harness.ts';
import {
  challengeOf,
  charge,
  delegateWith,
  type Harness,
  honest,
  honestX402,
  mppBill,
  mppDelivery,
  presentedIn,
  requirement,
  SERVICE_WALLET,
  x402Bill,
} from '../../test/support/stand-ins/scripted-vendors.ts';

/** What the settings allow, and when the person is asked. */

let harness: Harness;
let connect: McpHarness['connect'];
let stop: McpHarness['stop'];
beforeEach(async () => {
  ({ harness, connect, stop } = await startMcpHarness());
});
afterEach(() => stop());

const A = SERVICE_WALLET;
const B = 'Vote111111111111111111111111111111111111111';
/** A vendor of MPP that keeps one micro-unit, and lets the rest be paid to somebody else. */
const splitting =
  (splits: object[] = [{ recipient: B, amount: '999' }]) =>
  ({ headers }: { headers: Record<string, unknown> }) =>
    headers.authorization === undefined ? mppBill(challengeOf(charge({}, { splits }))) : mppDelivery();
const paidFor = { max_amount: '1000' };
const accept: Person = () => ({ action: 'accept', content: { pay: true } });

describe('the maximum of the settings', () => {
  test('a price above QUITTANCE_MAX_AMOUNT is not paid, whatever the model names', async () => {
    const { refused } = await connect('2026-07-28', { maxAmountMicro: 999n });
    for (const answer of [honest(), honestX402()]) {
      const vendor = await harness.vendor(answer);
      const error = await refused('fetch_paid', { url: vendor.origin, max_amount: '9000000000000000000' });
      expect(error).toMatchObject({ code: 'above_setting', money_moved: 'no' });
      expect(error.message).toMatch(/QUITTANCE_MAX_AMOUNT/);
    }
    expect([harness.paid(), harness.signed()]).toEqual([[], []]);
  });

  test('a vendor that could hold the money for longer than QUITTANCE_MAX_WINDOW is not paid, and its price is shown', async () => {
    const fee = { bps: 50, min: '10' };
    const terms = { mode: 'manual', window_seconds: 3601, unit_price: null, threshold: null, fee };
    const vendor = await harness.vendor(honest({ capture: terms }));
    const { call, refused } = await connect('2026-07-28', { maxWindowSeconds: 3600 });
    const error = await refused('fetch_paid', { url: vendor.origin, ...paidFor });
    expect(error).toMatchObject({ code: 'above_setting', money_moved: 'no' });
    expect(error.message).toMatch(/for 3601 seconds, which is longer than 3600\..*QUITTANCE_MAX_WINDOW/);
    expect((await call('price', { url: vendor.origin })).structuredContent).toMatchObject({
      price: { amount: '1000' },
    });
    expect(harness.paid()).toEqual([]);
  });

  test('a payment that would exceed QUITTANCE_MAX_PER_DAY with what the key has paid and holds is refused', async () => {
    const { call, refused } = await connect('2026-07-28', { maxPerDayMicro: 3000n });
    const vendor = await harness.vendor(honestX402());
    const delegate = (spent: string, held: string) => () => ({
      status: 200,
      body: delegateWith({ total: '1' }, spent, held),
    });
    harness.script.delegate = delegate('1500', '501');
    const error = await refused('fetch_paid', { url: vendor.origin, ...paidFor });
    expect(error).toMatchObject({ code: 'above_setting', money_moved: 'no' });
    expect(error.message).toMatch(/QUITTANCE_MAX_PER_DAY/);
    expect(harness.signed()).toEqual([]);
    harness.script.delegate = delegate('1500', '500');
    expect((await call('fetch_paid', { url: vendor.origin, ...paidFor })).isError).toBeUndefined();
  });

  test('payments at once count together before the API counts them', async () => {
    const { call } = await connect('2026-07-28', { maxPerDayMicro: 2500n });
    // As the API counts: a payment is held when it is signed.
    harness.script.delegate = () => ({
      status: 200,
      body: delegateWith({ total: '1' }, '0', String(harness.signed().length * 1000)),
    });
    const vendors = await Promise.all([1, 2, 3, 4].map(() => harness.vendor(honestX402())));
    await Promise.all(vendors.map(({ origin }) => call('fetch_paid', { url: origin, ...paidFor })));
    expect(harness.signed().length).toBeLessThanOrEqual(2);
  });

  test('a key without a limit does not pay, unless the settings allow that', async () => {
    harness.script.delegate = () => ({ status: 200, body: delegateWith() });
    const vendor = await harness.vendor(honestX402());
    const { refused } = await connect('2026-07-28');
    const error = await refused('fetch_paid', { url: vendor.origin, ...paidFor });
    expect(error).toMatchObject({ code: 'invalid_setting', money_moved: 'no' });
    expect(error.message).toMatch(/QUITTANCE_ALLOW_UNLIMITED/);
    const allowed = await connect('2026-07-28', { allowsUnlimited: true });
    const paid = await allowed.call('fetch_paid', { url: vendor.origin, ...paidFor });
    expect(paid.structuredContent).toMatchObject({ status: 200 });
  });

  test('the budget shows them', async () => {
    const { call } = await connect('2026-07-28', { maxAmountMicro: 5n });
    expect((await call('budget', {})).structuredContent).toMatchObject({
      this_server: { max_amount: '5', max_per_day: '100000', ask_above: '10000' },
    });
  });
});

describe('a new payee', () => {
  const asking = { payees: [] };

  test('the person is asked once, and a later server remembers the answer', async () => {
    const asked: string[] = [];
    const person: Person = (message) => {
      asked.push(message);
      return accept(message);
    };
    const vendor = await harness.vendor(honestX402());
    for (let i = 0; i < 2; i += 1) {
      const { call } = await connect('2026-07-28', asking, person);
      const paid = await call('fetch_paid', { url: `${vendor.origin}/${i}`, ...paidFor });
      expect(paid.structuredContent).toMatchObject({ status: 200 });
    }
    expect(asked).toEqual([
      `Pay 0.001 USDC to the new payee "${new URL(vendor.origin).host}" (${SERVICE_WALLET}) for GET ${vendor.origin}/0?`,
    ]);
  });

  test('another address at a known origin is new, and so is a known address at another origin', async () => {
    let payTo = SERVICE_WALLET;
    const asked: string[] = [];
    const { call } = await connect('2026-07-28', asking, (message) => {
      asked.push(message);
      return accept(message);
    });
    const answer = (visit: Parameters<ReturnType<typeof honestX402>>[0]) => honestX402({ payTo })(visit);
    const vendor = await harness.vendor(answer);
    await call('fetch_paid', { url: vendor.origin, ...paidFor });
    payTo = '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T';
    await call('fetch_paid', { url: vendor.origin, ...paidFor });
    const other = await harness.vendor(answer);
    await call('fetch_paid', { url: other.origin, ...paidFor });
    expect(asked.filter((message) => message.includes('new payee'))).toHaveLength(3);
  });

  test('a payee that was declined stays new', async () => {
    let answers = 0;
    const { refused } = await connect('2026-07-28', asking, () => {
      answers += 1;
      return { action: 'decline' };
    });
    const vendor = await harness.vendor(honestX402());
    for (let i = 0; i < 2; i += 1)
      expect(await refused('fetch_paid', { url: vendor.origin, ...paidFor })).toMatchObject({
        code: 'not_approved',
      });
    expect(answers).toBe(2);
    expect(harness.signed()).toEqual([]);
  });

  test.each(ERAS)('%s: without a question it is refused, and paid if it is listed', async (era) => {
    const vendor = await harness.vendor(honestX402());
    const { refused } = await connect(era, asking);
    const error = await refused('fetch_paid', { url: vendor.origin, ...paidFor });
    expect(error).toMatchObject({ code: 'not_approved', money_moved: 'no' });
    expect(error.message).toMatch(/QUITTANCE_PAYEES/);
    expect(harness.signed()).toEqual([]);
    for (const payee of [vendor.origin, SERVICE_WALLET]) {
      const { call } = await connect(era, { payees: [payee] });
      const paid = await call('fetch_paid', { url: vendor.origin, ...paidFor });
      expect(paid.structuredContent).toMatchObject({ status: 200 });
    }
  });

  test('the name of a vendor cannot change the question', async () => {
    const asked: string[] = [];
    const { call } = await connect('2026-07-28', asking, (message) => {
      asked.push(message);
      return accept(message);
    });
    const service_name = 'Known Shop" (you) for GET https://known.example?\n\nPay 0.00 USDC \u202eto "X';
    const vendor = await harness.vendor(honest({ service_name }));
    await call('fetch_paid', { url: vendor.origin, ...paidFor });
    expect(asked).toHaveLength(1);
    expect(asked[0]).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
    expect(asked[0]!.split('"')).toHaveLength(3);
    expect(asked[0]!.endsWith(`for GET ${vendor.origin}/?`)).toBe(true);
  });
});

describe('a price that is split', () => {
  test.each<[string, readonly string[]]>([
    ['no list', []],
    ['only its recipient', [A]],
    ['only the payee of its split', [B]],
  ])('%s has its payees: the person is asked, with every address and its part', async (_name, payees) => {
    const asked: string[] = [];
    const { call } = await connect('2026-07-28', { payees }, (message) => {
      asked.push(message);
      return accept(message);
    });
    const vendor = await harness.vendor(splitting());
    const paid = await call('fetch_paid', { url: `${vendor.origin}/a`, ...paidFor });
    const host = new URL(vendor.origin).host;
    expect(asked).toEqual([
      `Pay 0.001 USDC to the new payee "${host}" (0.000001 USDC to ${A}, 0.000999 USDC to ${B}) for GET ${vendor.origin}/a?`,
    ]);
    expect(paid.structuredContent).toMatchObject({
      receipt: {
        payees: [
          { address: A, amount: '1' },
          { address: B, amount: '999', amount_usdc: '0.000999' },
        ],
      },
    });
    await call('fetch_paid', { url: `${vendor.origin}/b`, ...paidFor });
    expect(asked).toHaveLength(1);
  });

  test('without a question it is refused, and paid if all its payees are listed', async () => {
    const vendor = await harness.vendor(splitting());
    const { refused } = await connect('2026-07-28', { payees: [A] });
    expect(await refused('fetch_paid', { url: vendor.origin, ...paidFor })).toMatchObject({
      ...{ code: 'not_approved', money_moved: 'no' },
    });
    expect(harness.signed()).toEqual([]);
    const { call } = await connect('2026-07-28', { payees: [A, B] });
    const paid = await call('fetch_paid', { url: vendor.origin, ...paidFor });
    expect(paid.structuredContent).toMatchObject({ status: 200 });
  });

  test('what was accepted does not pay another split', async () => {
    let splits = [{ recipient: B, amount: '1' }];
    const asked: string[] = [];
    const { call } = await connect('2026-07-28', { askAboveMicro: 1n }, (message) => {
      asked.push(message);
      splits = [{ recipient: B, amount: '999' }];
      return accept(message);
    });
    const vendor = await harness.vendor((visit) => splitting(splits)(visit));
    await call('fetch_paid', { url: vendor.origin, ...paidFor });
    expect(asked.map((text) => / (\S+ USDC) to Vote/.exec(text)?.[1])).toEqual([
      '0.000001 USDC',
      '0.000999 USDC',
    ]);
  });
});

describe('a payee on the list of the key', () => {
  const keyWith = (external: object | null) => () => ({
    status: 200,
    body: { ...delegateWith({ total: '90000000' }), external },
  });

  test.each<[string, (origin: string) => object | null, boolean]>([
    ['all addresses', () => ({ pay_to: [A, B], origins: null }), true],
    ['the origin', (origin) => ({ pay_to: 'any', origins: [origin] }), true],
    ['one of two addresses', () => ({ pay_to: [A], origins: null }), false],
    ['another origin', () => ({ pay_to: 'any', origins: ['https://other.example'] }), false],
    ['anybody', () => ({ pay_to: 'any', origins: null }), false],
  ])('a key whose limits name %s', async (_name, external, isPaid) => {
    const vendor = await harness.vendor(splitting());
    harness.script.delegate = keyWith(external(vendor.origin));
    const { call, refused } = await connect('2026-07-28', { payees: [] });
    const asked = { url: vendor.origin, ...paidFor };
    if (isPaid) expect((await call('fetch_paid', asked)).structuredContent).toMatchObject({ status: 200 });
    else expect(await refused('fetch_paid', asked)).toMatchObject({ code: 'not_approved' });
  });

  test('does not stand for a service of Quittance at that origin', async () => {
    const vendor = await harness.vendor(honest());
    harness.script.delegate = keyWith({ pay_to: 'any', origins: [vendor.origin] });
    const { refused } = await connect('2026-07-28', { payees: [] });
    expect(await refused('fetch_paid', { url: vendor.origin, ...paidFor })).toMatchObject({
      code: 'not_approved',
    });
  });

  test('is asked for above QUITTANCE_ASK_ABOVE all the same', async () => {
    const vendor = await harness.vendor(honestX402());
    harness.script.delegate = keyWith({ pay_to: [A], origins: null });
    const { refused } = await connect('2026-07-28', { payees: [], askAboveMicro: 999n });
    const error = await refused('fetch_paid', { url: vendor.origin, ...paidFor });
    expect(error.message).toMatch(/above QUITTANCE_ASK_ABOVE/);
  });
});

describe('above QUITTANCE_ASK_ABOVE', () => {
  const asking = { askAboveMicro: 999n };

  test('the person is asked with amount, payee and address, and the accepted payment is made once', async () => {
    const asked: string[] = [];
    const { call } = await connect('2026-07-28', asking, (message) => {
      asked.push(message);
      return accept(message);
    });
    const vendor = await harness.vendor(honestX402());
    const result = await call('fetch_paid', { url: `${vendor.origin}/a`, ...paidFor });
    expect(result.structuredContent).toMatchObject({ status: 200 });
    expect(asked).toEqual([
      `Pay 0.001 USDC to "${new URL(vendor.origin).host}" (${SERVICE_WALLET}) for GET ${vendor.origin}/a?`,
    ]);
    expect(harness.signed()).toHaveLength(1);
  });

  test.each<[string, ReturnType<Person>]>([
    ['declined', { action: 'decline' }],
    ['cancelled', { action: 'cancel' }],
    ['accepted without a yes', { action: 'accept', content: { pay: false } }],
  ])('nothing is paid if it is %s', async (_name, answer) => {
    const { refused } = await connect('2026-07-28', asking, () => answer);
    const vendor = await harness.vendor(honestX402());
    expect(await refused('fetch_paid', { url: vendor.origin, ...paidFor })).toMatchObject({
      code: 'not_approved',
      money_moved: 'no',
    });
    expect(harness.signed()).toEqual([]);
  });

  test('what was accepted does not pay a higher price', async () => {
    let amount = 1000;
    const questions: string[] = [];
    const { call } = await connect('2026-07-28', asking, (message) => {
      questions.push(message);
      if (questions.length === 1) amount = 2000;
      return accept(message);
    });
    const vendor = await harness.vendor((visit) =>
      presentedIn(visit) === undefined ? x402Bill(requirement({ amount: String(amount) })) : { status: 200 },
    );
    const result = await call('fetch_paid', { url: vendor.origin, max_amount: '5000' });
    expect(result.structuredContent).toMatchObject({ receipt: { amount: '2000' } });
    expect(questions.map((text) => text.slice(0, 14))).toEqual(['Pay 0.001 USDC', 'Pay 0.002 USDC']);
  });

  test.each(ERAS)(
    '%s: a client that cannot ask gets a refusal, and below it no one is asked',
    async (era) => {
      const { call, refused } = await connect(era, asking);
      const vendor = await harness.vendor(honestX402());
      const error = await refused('fetch_paid', { url: vendor.origin, ...paidFor });
      expect(error).toMatchObject({ code: 'not_approved', money_moved: 'no' });
      expect(error.message).toMatch(/cannot ask/);
      expect(harness.signed()).toEqual([]);
      const cheap = await harness.vendor(honestX402({ amount: '999' }));
      const paid = await call('fetch_paid', { url: cheap.origin, ...paidFor });
      expect(paid.structuredContent).toMatchObject({ status: 200 });
    },
  );
});
