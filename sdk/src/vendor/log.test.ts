import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { refusal, type Scripted } from '../../../test/support/scripted-server.ts';
import {
  at,
  RESOURCE,
  readAnswer,
  sellBy,
  startVendorApi,
  type VendorApi,
} from '../../../test/support/vendor-api.ts';
import type { PaywallOptions } from './main.ts';

let api: VendorApi;
let printed: string[];
beforeEach(async () => {
  api = await startVendorApi();
  printed = [];
  jest.spyOn(console, 'error').mockImplementation((line: unknown) => void printed.push(String(line)));
});
afterEach(async () => {
  jest.restoreAllMocks();
  await api.stop();
});

const REVOKED = 'the key was revoked; create another one in the console';
const refuseKey = (call: RegExp) =>
  api.faults.push((asked) =>
    call.test(asked.call)
      ? { status: 401, body: { error: { code: 'unauthorized', message: REVOKED } } }
      : null,
  );
/** A paywall without a log of its own. */
const selling = (price: string | (() => string) = '50000', options: Partial<PaywallOptions> = {}) =>
  api.paywall({ ...options, log: undefined as never }).protect({ price }, () => new Response());

describe('without a log of its own, the paywall prints', () => {
  test('why a quote cannot be made, with the API’s message and request id, once a minute', async () => {
    refuseKey(/quote/);
    const serve = selling();
    expect((await serve(at('/report'))).status).toBe(503);
    expect((await serve(at('/report'))).status).toBe(503);
    expect(printed).toEqual([
      expect.stringMatching(
        new RegExp(`^paywall: unauthorized: ${REVOKED} \\(${RESOURCE}, request id request-\\d+\\)$`),
      ),
    ]);
    const later = Date.now() + 61_000;
    jest.spyOn(Date, 'now').mockReturnValue(later);
    await serve(at('/report'));
    expect(printed).toHaveLength(2);
  });

  test('why a paid request is not delivered, if only the vendor can change it', async () => {
    refuseKey(/redeem/);
    const { status, body } = await readAnswer(selling()(at('/report', api.pay({ resource: RESOURCE }))));
    expect([status, body.details]).toEqual([503, { reason: 'vendor_configuration' }]);
    expect(printed).toEqual([expect.stringContaining(`paywall: vendor_configuration: ${REVOKED} (`)]);
    // The buyer learns nothing about the vendor's key.
    expect(JSON.stringify(body)).not.toContain('revoked');
  });

  test('what is wrong with the price of a function, whose request gets 503', async () => {
    const { status, body } = await readAnswer(selling(() => '0.05')(at('/report')));
    expect([status, body.details]).toEqual([503, { reason: 'vendor_configuration' }]);
    expect(printed).toEqual([
      `paywall: vendor_configuration: price: the function has returned a wrong price; name the unit: '$0.05', or '50000' in micro-units (${RESOURCE})`,
    ]);
    expect(api.calls()).toEqual([]);
  });

  test('that the API’s address does not answer, and why', async () => {
    const serve = selling('50000', { baseUrl: 'http://127.0.0.1:1' });
    expect((await serve(at('/report'))).status).toBe(503);
    expect(printed).toEqual([
      expect.stringMatching(/^paywall: NoAnswerError: POST \/v1\/quote: no answer: .+/),
    ]);
  });

  test('nothing about sales and refused payments', async () => {
    const serve = selling();
    await serve(at('/report'));
    const payment = api.pay({ resource: RESOURCE });
    expect((await serve(at('/report', payment))).status).toBe(200);
    expect((await serve(at('/report?other', payment))).status).toBe(402);
    expect(printed).toEqual([]);
  });

  test('no secret that a message of a store contains', async () => {
    const get = () => {
      const [key, token] = ['vendor_test_abc', 'eyJhIjoxfQ.c2lnbmF0dXJl'];
      throw new Error(`redis://me:hunter2@host\nrefuses ${key} ${token}`);
    };
    const serve = selling('50000', { store: { get, compareAndSet: () => true } });
    await serve(at('/report', api.pay({ resource: RESOURCE })));
    expect(printed.join('\n')).toMatch(/^paywall: Error: redis:\/\/\*\*\*@host refuses \*\*\* \*\*\*/);
    expect(printed.join('\n')).not.toMatch(/hunter2|vendor_test_abc|c2lnbmF0dXJl/);
  });
});

test('an own log gets the message and the request id of every refusal, and the console nothing', async () => {
  const answers: [RegExp, Scripted][] = [
    [/quote/, refusal(403, 'forbidden')],
    [/redeem/, refusal(404, 'not_found')],
  ];
  api.faults.push(({ call }) => answers.find(([pattern]) => pattern.test(call))?.[1] ?? null);
  const { serve } = sellBy(api);
  await serve(at('/report'));
  await serve(at('/report', api.pay({ resource: RESOURCE })));
  expect(api.log).toMatchObject([
    { event: 'error', reason: 'forbidden', message: 'told forbidden', api_request_id: expect.any(String) },
    { event: 'refused', status: 503, reason: 'no_quote' },
    { event: 'refused', status: 402, reason: 'not_found', message: 'told not_found' },
  ]);
  expect(printed).toEqual([]);
});

test('a log that does nothing turns the console off', async () => {
  refuseKey(/quote/);
  await api.paywall({ log: () => {} }).protect({ price: '50000' }, () => new Response())(at('/report'));
  expect(printed).toEqual([]);
});
