import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { DELEGATE_KEY, SERVICE_KEY } from '../../test/support/base/keys.ts';
import { amountFault, bigintFault, typedFault } from './amounts.ts';
import { type ClientOptions, createClient, memoryTokens } from './main.ts';
import { type PayOptions, payingFetch } from './pay/main.ts';
import * as forExpress from './paywall/adapters/express.ts';
import * as forFastify from './paywall/adapters/fastify.ts';
import * as forHono from './paywall/adapters/hono.ts';
import * as forNext from './paywall/adapters/next.ts';
import { mpp } from './paywall/dialects/mpp.ts';
import { x402 } from './paywall/dialects/x402.ts';
import { createPaywall, memoryStore, type Paywall, type PaywallOptions } from './paywall/main.ts';

/** Every mistake in an option ends the declaration with a sentence that begins with its name. */

const SERVICE_ID = '019a5a3e-0c4e-7c3a-8a52-6f2b1c0d9e7f';
const BASE = { baseUrl: 'https://api.example.com' };
const OFFER_SECRET = 'a secret of offers, 32 or more of c2VjcmV0';
const SELLING: PaywallOptions = {
  ...BASE,
  serviceKey: SERVICE_KEY,
  serviceId: SERVICE_ID,
  environment: 'test',
  publicUrl: 'https://shop.example.com/base/',
  store: memoryStore(),
};
const PAYING: PayOptions = { ...BASE, delegateKey: DELEGATE_KEY, maxAmount: 50_000n };
const JWT = 'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJhIn0.c2VjcmV0';

const messageOf = (declare: () => unknown): string => {
  try {
    declare();
  } catch (error) {
    expect(error).toBeInstanceOf(TypeError);
    return (error as Error).message;
  }
  throw new Error('nothing was refused');
};

const HOW = "write '$0.05', '0.05' or '0.05 USDC'";

describe('amounts', () => {
  test.each<[string, string | null]>([
    ['$0.10', null],
    ['0.10', null],
    ['0.10 USDC', null],
    ['$5', null],
    ['5 USDC', null],
    ['5', `${HOW}; not '5': write '$5' for 5.00 USDC`],
    ['50000', `${HOW}; not '50000': write '$50000' for 50,000.00 USDC`],
    ['0', "must be more than 0: '$0.05'"],
    ['0.0', "must be more than 0: '$0.05'"],
    ['1'.repeat(20), 'is too large: the largest amount is 9,223,372,036,854.775807 USDC'],
    ['0,05', HOW],
    ['', HOW],
    ['a lot', HOW],
  ])('a person types %p: %s', (typed, fault) => expect(typedFault(typed)).toBe(fault));

  test.each<[unknown, string | null]>([
    ['50000', null],
    ['$0.05', null],
    ['$ 0.05', null],
    ['0.05 USDC', null],
    ['5 usdc', null],
    ['$999999999999.999999', null],
    ['9223372036854775807', null],
    ['9223372036854775808', "is too large: the largest amount is '9223372036854775807' micro-units"],
    ['0.05', null],
    ['12.000001', null],
    ['0.0000001', "has more than six decimals: '$0.000001' is the least amount"],
    [0.05, "use a string, not a number: '$0.05'"],
    [50_000, "use a string, not a number: '$50000.00', or '50000' for 0.05 USDC in micro-units"],
    [0, `use a string, not a number: ${HOW}`],
    [Number.NaN, `use a string, not a number: ${HOW}`],
    [50_000n, "use a string of micro-units, not a bigint: '50000'"],
    ['50,000', `leave out commas: ${HOW}`],
    ['-5', `leave out the sign: ${HOW}`],
    ['+5', `leave out the sign: ${HOW}`],
    ['', `is empty: ${HOW}`],
    ['0', "must be more than 0: '$0.05'"],
    ['0.0', "must be more than 0: '$0.05'"],
    ['050', `must not begin with 0: ${HOW}`],
    [' 50000', HOW],
    ['$0.0000001', "has more than six decimals: '$0.000001' is the least amount"],
    ['$0.00', "must be more than 0: '$0.05'"],
    ['$1,000', HOW],
    ['$-1', HOW],
    ['1e3 USDC', HOW],
    ['$99999999999999', 'is too large: the largest amount is 9,223,372,036,854.775807 USDC'],
    ['0.05 EUR', HOW],
    ['０５', HOW],
    [undefined, HOW],
    [['5'], HOW],
  ])('a price %p: %s', (value, fault) => {
    expect(amountFault(value)).toBe(fault);
  });

  test.each<[unknown, string | null]>([
    [50_000n, null],
    [0n, null],
    [-1n, 'must not be negative'],
    [50_000, "write '$50000' for 50000 USDC, or 50000n for 0.05 USDC in micro-units"],
    ['50000', "write '$50000' for 50000 USDC, or 50000n for 0.05 USDC in micro-units"],
    [0.05, "use a string, not a number: '$0.05'"],
    ['0.1', null],
    ['5 cents', HOW],
    ['$0', "must be more than 0: '$0.05'"],
    [undefined, `${HOW}, or a bigint of micro-units`],
  ])('a maximum %p: %s', (value, fault) => {
    expect(bigintFault(value)).toBe(fault);
  });
});

describe('createClient', () => {
  test.each<[object, RegExp]>([
    [
      { baseUrl: 'api.example.com' },
      /^baseUrl: use an http\(s\) address with its scheme: https:\/\/api\.example\.com$/,
    ],
    [{ baseUrl: 'localhost:3000' }, /scheme: http:\/\/localhost:3000$/],
    [
      { baseUrl: 'https://api.example.com/v1' },
      /^baseUrl: leave out \/v1, which the SDK adds: https:\/\/api\.example\.com$/,
    ],
    [{ baseUrl: 'https://a.example/pay/v1/' }, /leave out \/v1.*: https:\/\/a\.example\/pay$/],
    [{ baseUrl: 'https://api.example.com?a' }, /^baseUrl: leave out the query/],
    [{ baseUrl: 'https://me:secret@api.example.com' }, /^baseUrl: leave out the user and the password$/],
    [{ credential: 'Bearer dk_test_secret' }, /^credential: leave out "Bearer"/],
    [{ credential: 'dk_test_secret\n' }, /^credential: remove spaces and line breaks$/],
    [{ credential: 'dk_test_…' }, /^credential has characters that no credential has/],
    [{ credential: 'rt_test_secret' }, /^credential: a refresh token is no credential; pass memoryTokens/],
    [{ credential: 'whsec_secret' }, /^credential: a webhook secret is no credential/],
    [{ credential: {} }, /^credential: pass an object with load, save \(TokenStore, or pass a key\)$/],
    [{ maxRetries: '3' }, /^maxRetries: use a whole number of retries, at least 0$/],
    [{ attempts: new Map() }, /^attempts: pass an object with getOrInsert, remove \(AttemptStore\)$/],
    [{ fetch: true }, /^fetch: pass a function$/],
    [{ apiKey: 'x' }, /^createClient: unknown option "apiKey"\. The options are baseUrl, credential,/],
    [{ baseURL: 'x' }, /unknown option "baseURL"\. Did you mean "baseUrl"\?/],
    [{ credentials: 'x' }, /Did you mean "credential"\?/],
  ])('%j is refused', (change, message) => {
    const said = messageOf(() => createClient({ ...BASE, ...change } as ClientOptions));
    expect(said).toMatch(message);
    expect(said).not.toContain('secret@');
    expect(said).not.toMatch(/_secret/);
  });

  test('no options, and options that are right', () => {
    expect(messageOf(() => createClient(undefined as never))).toMatch(/^createClient: pass an object/);
    for (const baseUrl of [
      'https://a.example/',
      'http://127.0.0.1:3000',
      'https://a.example/pay',
      'https://v1',
    ])
      expect(() => createClient({ baseUrl, credential: 'key', maxRetries: 0 })).not.toThrow();
    expect(() => createClient({ ...BASE, credential: memoryTokens(null) })).not.toThrow();
  });
});

describe('createPaywall', () => {
  test.each<[object, RegExp]>([
    [
      { serviceKey: 'dk_test_secret' },
      /^serviceKey must be a service key .*; this is a delegate key, by which an agent pays$/,
    ],
    [{ serviceKey: JWT }, /^serviceKey must be a service key .*; this is an access token/],
    [{ serviceKey: 'secret' }, /; this is none$/],
    [{ serviceKey: 'vendor_test_…' }, /replace the placeholder by the whole key$/],
    [{ serviceKey: 'vendor_live_secret' }, /^serviceKey belongs to the other environment/],
    [{ serviceId: 'my shop' }, /^serviceId: use the id of the service, a UUID/],
    [
      { publicUrl: 'shop.example.com' },
      /^publicUrl: use an http\(s\) address with its scheme: https:\/\/shop\.example\.com$/,
    ],
    [{ publicUrl: 'https://shop.example.com/?a' }, /^publicUrl: leave out the query/],
    [{ baseUrl: 'https://api.example.com/v1/settle' }, /^baseUrl: leave out \/v1/],
    [{ store: { load: () => [] } }, /^store: pass an object with get, compareAndSet \(PaywallStore\)$/],
    [{ dialects: x402({ secret: OFFER_SECRET }) }, /^dialects: pass a list/],
    [{ dialects: [x402] }, /^dialects: call x402, as in \[x402\(\{ secret \}\)\]$/],
    [{ dialects: [() => x402({ secret: OFFER_SECRET })] }, /^dialects: each is a dialect, or what x402\(\)/],
    [{ log: 'console' }, /^log: pass a function$/],
    [{ maxBodyBytes: '1mb' }, /^maxBodyBytes: use a whole number of bytes/],
    [{ servicekey: 'x' }, /Did you mean "serviceKey"\?/],
  ])('%j is refused', (change, message) => {
    const said = messageOf(() => createPaywall({ ...SELLING, ...change } as PaywallOptions));
    expect(said).toMatch(message);
    expect(said).not.toMatch(/_secret|c2VjcmV0/);
  });

  test.each<[object, RegExp]>([
    [{ price: '5 cents' }, /^price: write '\$0\.05', '0\.05' or '0\.05 USDC'$/],
    [{ price: 50_000 }, /^price: use a string, not a number/],
    [{ prise: '1' }, /^route: unknown option "prise"\. Did you mean "price"\?/],
    [{}, /^price: write '\$0\.05'/],
    [{ price: '1', prepaid: 5 }, /^prepaid: pass an object with options/],
    [{ price: '1', prepaid: { unit: 5 } }, /^prepaid: unknown option "unit"\. Did you mean "units"\?/],
    [{ price: '1', prepaid: {} }, /^prepaid\.units: use a whole number of requests, at least 1$/],
    [{ price: '1', prepaid: { units: 1e9 + 1 } }, /^prepaid\.units: use at most 1000000000/],
    [{ max: '0,5' }, /^max: leave out commas: write '\$0\.05'/],
    [{ max: '$1', prise: '1' }, /^route: unknown option "prise"\. Did you mean "price"\?/],
    [{ max: '$1', price: '$1.01' }, /^price: use at most max$/],
    [{ max: '$1', price: 5 }, /^price: use a string, not a number/],
    [{ max: '$1', unitPrice: '0' }, /^unitPrice: must be more than 0/],
    [{ max: '$1', windowSeconds: 59 }, /^windowSeconds: use a whole number of seconds, at least 60$/],
    [{ max: '$1', windowSeconds: 604_801 }, /^windowSeconds: use at most 604800 seconds$/],
    [{ max: '$9007199255' }, /^max: use at most '9007199254740991' micro-units$/],
    [{ max: '$1', tab: true }, /^tab\.perCall is missing/],
    [{ max: '$1', tab: false, price: '1' }, /^tab: pass an object with options/],
    [
      { max: '$1', tab: { percall: '1' }, price: '1' },
      /^tab: unknown option "percall"\. Did you mean "perCall"/,
    ],
    [{ max: '$1', tab: { perCall: '$2' } }, /^tab\.perCall: use at most max$/],
    [{ max: '$1', tab: { perCall: '$0.01' }, price: '$0.02' }, /^tab\.perCall: use at least price$/],
    [{ max: '$1', tab: { threshold: '$2' }, price: '1' }, /^tab\.threshold: use at most max$/],
    [{ max: '$1', tab: { replay: 'no' }, price: '1' }, /^tab\.replay: use false/],
  ])('a route %j is refused by every adapter where it is declared', (route, message) => {
    const paywall = createPaywall(SELLING);
    const handler = () => new Response();
    for (const declare of [
      () => forExpress.paid(paywall, route as never),
      () => forFastify.paid(paywall, route as never),
      () => forHono.paid(paywall, route as never),
      () => forNext.paid(paywall, route as never, handler),
      () => paywall.protect(route as never, handler),
    ])
      expect(messageOf(declare)).toMatch(message);
  });

  test('tabs are refused with a store that cannot count them', () => {
    const { get, compareAndSet } = memoryStore();
    const paywall = createPaywall({ ...SELLING, store: { get, compareAndSet } });
    const tab = { max: '$1', price: '1', tab: true } as const;
    expect(messageOf(() => forExpress.paid(paywall, tab))).toMatch(/^tab: the store .* take/);
  });

  test('exchanged arguments, and options of the dialects', () => {
    const paywall = createPaywall(SELLING);
    const exchanged = () => forExpress.paid({ price: '1' } as unknown as Paywall, paywall as never);
    expect(messageOf(exchanged)).toMatch(/^paid: the first argument must be the paywall/);
    expect(messageOf(() => x402({ v2: true } as never))).toMatch(/^x402: unknown option "v2"/);
    expect(messageOf(() => x402(undefined as never))).toMatch(/^x402: pass an object with options/);
    for (const secret of [[], 'short', [OFFER_SECRET, 'short']])
      for (const dialect of [x402, mpp])
        expect(messageOf(() => dialect({ secret: secret as never }))).toMatch(
          /^secret must be a text of at least 32/,
        );
    expect(() => forExpress.paid(paywall, { price: () => '1' })).not.toThrow();
  });
});

describe('payingFetch', () => {
  test.each<[object, RegExp]>([
    [{ maxAmount: 0.05 }, /^maxAmount: use a string, not a number: '\$0\.05'$/],
    [{ maxAmount: undefined }, /^maxAmount: write '\$0\.05'/],
    [
      { delegateKey: 'vendor_test_secret' },
      /^delegateKey must be a delegate key .*; this is a service key, by which a vendor sells$/,
    ],
    [{ delegateKey: JWT }, /this is an access token/],
    [{ delegateKey: { signIn: JWT } }, /^delegateKey\.environment: use 'test' or 'live'$/],
    [{ budget: { total: 5 } }, /^budget\.total: write '\$5' for 5 USDC, or 5n for 0\.000005 USDC/],
    [{ budget: { perOrigin: '0,1' } }, /^budget\.perOrigin: write '\$0\.05'/],
    [{ budget: { periodMs: '1d' } }, /^budget\.periodMs: use a whole number of milliseconds/],
    [{ budget: { perorigin: 1n } }, /^budget: unknown option "perorigin"\. Did you mean "perOrigin"\?/],
    [{ allow: { origins: 'https://a.example' } }, /^allow\.origins: pass a list of texts$/],
    [{ allow: { origins: ['a.example'] } }, /^allow\.origins: use addresses with their scheme/],
    [{ allow: { services: [] } }, /^allow: unknown option "services"/],
    [{ store: memoryStore() }, /^store: pass an object with load, save, remove \(PaymentStore\)$/],
    [{ onpaid: () => {} }, /Did you mean "onPaid"\?/],
    [{ onPaid: true }, /^onPaid: pass a function$/],
    [{ maxamount: 1n }, /Did you mean "maxAmount"\?/],
  ])('case %#: %s', (change, message) => {
    const said = messageOf(() => payingFetch(fetch, { ...PAYING, ...change } as PayOptions));
    expect(said).toMatch(message);
    expect(said).not.toMatch(/_secret|c2VjcmV0/);
  });

  test('a wrong maximum of one call is refused before anything is sent', async () => {
    const never = () => Promise.reject(new Error('sent'));
    const pay = payingFetch(never, PAYING);
    await expect(pay('https://a.example', { maxAmount: 5 as never })).rejects.toThrow(
      /^maxAmount: write '\$5' for 5 USDC/,
    );
    expect(messageOf(() => payingFetch(PAYING as never, undefined as never))).toMatch(
      /first argument must be a fetch/,
    );
  });
});

describe('an option without a value', () => {
  const warned: string[] = [];
  beforeEach(() => {
    jest.spyOn(console, 'warn').mockImplementation((line) => warned.push(line) as never);
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  test('a mistyped key is reported where it is declared, and refused at the first use', async () => {
    const mistyped = (key: string) => key.replace('secret', 'Secret');
    const serviceKey = mistyped(SERVICE_KEY);
    const route = createPaywall({ ...SELLING, serviceKey }).protect({ price: '$0.05' }, () => new Response());
    const refusal = /^serviceKey is mistyped or incomplete: .*; copy the whole key again/;
    await expect(route(new Request('http://a.example/'))).rejects.toThrow(refusal);
    expect(warned.at(-1)).toMatch(/^createPaywall: serviceKey is mistyped/);
    const delegateKey = mistyped(DELEGATE_KEY);
    const never = () => Promise.reject(new Error('sent'));
    const paying = payingFetch(never, { ...PAYING, delegateKey });
    await expect(paying('https://a.example')).rejects.toThrow(/^delegateKey is mistyped/);
    for (const key of [serviceKey, delegateKey]) expect(warned.join()).not.toContain(key);
  });

  // As `process.env.SERVICE_KEY` is while a framework builds.
  test.each(['', undefined])('(%p) is refused by the first use, not where it is declared', async (value) => {
    const refusal = (name: string) => new RegExp(`^${name} is (missing|empty)`);
    for (const name of ['baseUrl', 'serviceKey', 'serviceId', 'environment', 'publicUrl'] as const) {
      const sold = createPaywall({ ...SELLING, [name]: value as never });
      const route = sold.protect({ price: '50000' }, () => new Response());
      await expect(route(new Request('http://a.example/'))).rejects.toThrow(refusal(name));
      expect(warned.at(-1)).toMatch(
        new RegExp(`^createPaywall: ${name} is missing.*A build needs no value$`),
      );
    }
    for (const dialect of [x402, mpp]) {
      const sold = createPaywall({ ...SELLING, dialects: [dialect({ secret: value as never })] });
      await expect(sold.admit({} as never, {}, { price: '1' })).rejects.toThrow(refusal('secret'));
    }
    for (const name of ['baseUrl', 'delegateKey'] as const) {
      const pay = payingFetch(fetch, { ...PAYING, [name]: value as never });
      await expect(pay('http://a.example/')).rejects.toThrow(refusal(name));
    }
    const client = createClient({ ...BASE, baseUrl: value as never, credential: 'key' });
    await expect(client.identity.getAccount()).rejects.toThrow(refusal('baseUrl'));
    const nobody = createClient({ ...BASE, credential: '' });
    await expect(nobody.identity.getAccount()).rejects.toThrow(refusal('credential'));
  });
});
