import { afterEach, expect, test } from '@jest/globals';
import {
  type Asked,
  refusal,
  type Scripted,
  startScripted,
} from '../../test/support/stand-ins/scripted-server.ts';
import { makeSyntheticPayment } from './payment.ts';

let stop: () => Promise<void> = async () => {};
afterEach(() => stop());

const QUOTE = { status: 201, body: { quote_id: 'q_1', quote_token: 'a.b' } };
const SETTLED = { status: 200, body: { settlement_id: 'stl_1', settlement_token: 'c.d' } };
const PENDING = { status: 202, body: { settlement_id: 'stl_1' } };

/** Makes a payment at an API that answers each call by the next of its script. */
const payAt = async (script: Record<'quote' | 'settle' | 'redeem', Scripted[]>, withinSeconds = 20) => {
  const left = structuredClone(script);
  const server = await startScripted(({ call }: Asked) => {
    const step = (['quote', 'settle', 'redeem'] as const).find((name) => call.endsWith(`/${name}`))!;
    const [next, ...rest] = left[step];
    if (rest.length > 0) left[step] = rest;
    return next!;
  });
  stop = server.stop;
  const made = await makeSyntheticPayment(
    { gatewayUrl: server.baseUrl, serviceId: 's', serviceKey: 'vendor_1', delegateKey: 'dk_1' },
    { withinSeconds },
  );
  return { made, asked: server.asked };
};

test('a payment is quoted with the service key, settled with the delegate key and redeemed once', async () => {
  const { made, asked } = await payAt({
    quote: [QUOTE],
    settle: [SETTLED],
    redeem: [{ status: 200, body: {} }],
  });
  expect(made).toEqual({
    outcome: 'paid',
    seconds: expect.any(Number),
    quote_id: 'q_1',
    settlement_id: 'stl_1',
  });
  expect(asked.map(({ call, token }) => [call, token])).toEqual([
    ['POST /v1/quote', 'vendor_1'],
    ['POST /v1/settle', 'dk_1'],
    ['POST /v1/settlements/stl_1/redeem', 'vendor_1'],
  ]);
});

test('an open settle is repeated with the same attempt, after a pending answer, a lost one and a 503', async () => {
  const { made, asked } = await payAt({
    quote: [QUOTE],
    settle: [PENDING, 'lost', refusal(503, 'service_unavailable'), SETTLED],
    redeem: [{ status: 200, body: {} }],
  });
  expect(made.outcome).toBe('paid');
  const attempts = asked.filter(({ call }) => call.endsWith('/settle')).map(({ body }) => body);
  expect(attempts).toHaveLength(4);
  expect(new Set(attempts.map((body) => JSON.stringify(body))).size).toBe(1);
});

const PAID = [{ status: 200, body: {} }];
test.each([
  ['quote_failed', { quote: [refusal(403, 'forbidden')], settle: [SETTLED], redeem: PAID }, 'forbidden'],
  [
    'settle_failed',
    { quote: [QUOTE], settle: [refusal(422, 'limit_exceeded')], redeem: PAID },
    'limit_exceeded',
  ],
  ['redeem_failed', { quote: [QUOTE], settle: [SETTLED], redeem: [refusal(409, 'conflict')] }, 'conflict'],
] as const)(
  '%s: the step that is refused is named with its code and request id',
  async (outcome, script, code) => {
    const { made } = await payAt(script as never);
    expect(made).toMatchObject({ outcome, code, request_id: expect.stringMatching(/^[0-9a-f-]{36}$/) });
  },
);

test('a payment that stays pending fails when its time is over', async () => {
  const { made } = await payAt({ quote: [QUOTE], settle: [PENDING], redeem: PAID as never }, 2);
  expect(made).toMatchObject({ outcome: 'settle_failed', status: 202, quote_id: 'q_1' });
});
