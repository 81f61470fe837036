import { beforeAll, expect, test } from '@jest/globals';
import {
  type Consumer,
  createConsumer,
  createVendor,
  type Paid,
  quoteOf,
  settleWith,
  type Vendor,
} from '../../deploy/local/seed/actors.ts';
import { createApi, must } from '../../deploy/local/seed/api.ts';
import { atOnce, runningStack, tally } from '../support/servers/stack.ts';

/**
 * Many small deliveries on one payment (docs/spec/decisions.md, Redeem, verify, consume, expiry).
 */
const stack = runningStack();
const api = createApi(stack.gateway_url);

let vendor: Vendor;
let consumer: Consumer;
beforeAll(async () => {
  [vendor, consumer] = await Promise.all([createVendor(api, stack), createConsumer(api, stack)]);
});

type Answer = { units_consumed: number; units_remaining: number; error?: { code: string } };
const consume = (paid: Paid, units: number, request_id: string, token = vendor.apiKey) =>
  api<Answer>(`POST /v1/settlements/${paid.settlement_id}/consume`, {
    token,
    body: { settlement_token: paid.settlement_token, units, request_id },
  });
const prepay = async (units: unknown) =>
  must(settleWith(api, consumer.token, await quoteOf(api, vendor, { scope: { units } })), 'settle');

test('20 units and 32 concurrent consumes: 20 succeed, each request once, and the service cannot be deleted before', async () => {
  const paid = await prepay(20);
  const { settlement_id } = paid;
  expect(await consume(paid, 1, 'r0')).toMatchObject({
    status: 200,
    body: { settlement_id, units_consumed: 1, units_remaining: 19 },
  });
  const end = () =>
    api<Answer>(`DELETE /v1/services/${vendor.serviceId}`, { token: vendor.signIn.access_token });
  expect(await end()).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } });

  const answers = await atOnce(32, (i) => consume(paid, 1, `r${i}`));
  expect(tally(answers.map(({ status }) => status))).toEqual({ 200: 20, 409: 12 });
  const refused = answers.filter(({ status }) => status === 409);
  expect(tally(refused.map(({ body }) => body.error?.code))).toEqual({ settlement_exhausted: 12 });
  expect(answers[0]!.body).toMatchObject({ units_consumed: 1, units_remaining: 19 });

  const verified = await must(
    api(`POST /v1/settlements/${settlement_id}/verify`, { token: vendor.apiKey }),
    'verify',
  );
  expect(verified).toMatchObject({ status: 'redeemed', units_total: 20, units_remaining: 0 });
  const redeemed = await must(
    api(`POST /v1/settlements/${settlement_id}/redeem`, {
      token: vendor.apiKey,
      body: { settlement_token: paid.settlement_token },
    }),
    'redeem',
  );
  expect(redeemed).toMatchObject({ status: 'redeemed', replayed: true });
});

test('consume answers 409 if not prepaid, 404 to another service, 400 for another settlement’s token or an invalid number of units', async () => {
  const [paid, other, plain] = [await prepay(5), await prepay(5), await prepay('5')];
  const stranger = await createVendor(api, stack);
  const answers = await Promise.all([
    consume(plain, 1, 'r1'),
    consume(paid, 1, 'r1', stranger.apiKey),
    consume({ ...paid, settlement_token: other.settlement_token }, 1, 'r1'),
    consume(paid, 0, 'r1'),
    consume(paid, 1, ''),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([409, 404, 400, 400, 400]);
  expect(await consume(paid, 5, 'r1')).toMatchObject({ status: 200, body: { units_remaining: 0 } });
});
