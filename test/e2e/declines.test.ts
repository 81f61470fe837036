import { beforeAll, expect, test } from '@jest/globals';
import {
  type Consumer,
  createConsumer,
  createDelegate,
  createVendor,
  quoteOf,
  settleWith,
  type Vendor,
} from '../../deploy/local/seed/actors.ts';
import { createApi, must } from '../../deploy/local/seed/api.ts';
import { waitFor } from '../support/base/wait.ts';
import { atOnce, runningStack } from '../support/servers/stack.ts';

/** A refused payment over the public API: both sides see it, each its own part. */
const stack = runningStack();
const api = createApi(stack.gateway_url);
const PRICE = 3_000_000n;

let vendor: Vendor;
let ada: Consumer;
beforeAll(async () => {
  [vendor, ada] = await Promise.all([createVendor(api, stack, { price: PRICE }), createConsumer(api, stack)]);
});

type Decline = Record<'decline_id' | 'quote_id' | 'code' | 'service_name', string> & { item: string | null };
type Event = { type: string; object_id: string; data: Record<string, unknown> };
const list = async (token: string, query: string) =>
  (await must(api<{ data: Decline[] }>(`GET /v1/declines?${query}`, { token }), 'declines')).data;
const eventsOf = (token: string, type: string, object: string) =>
  waitFor(
    async () =>
      (
        await must(
          api<{ data: Event[] }>(`GET /v1/events?type=${type}&object_id=${object}`, { token }),
          'events',
        )
      ).data,
    ({ length }) => length > 0,
  );

test('a delegate above its daily limit: the refusal, the list, the events and the mail have the figures', async () => {
  const agent = await createDelegate(api, ada, { daily: '2000000' });
  const quote = await quoteOf(api, vendor);
  // A client in a loop is one decline.
  const answers = await atOnce(8, () => settleWith(api, agent.api_key, quote, crypto.randomUUID()));
  const limit = {
    asked: `${PRICE}`,
    limit: '2000000',
    left: '2000000',
    resets_at: expect.stringMatching(/T00:00:00.000Z$/),
  };
  for (const { status, body } of answers) {
    expect(status).toBe(403);
    expect(body).toMatchObject({
      error: {
        code: 'limit_exceeded',
        message: expect.stringMatching(
          /^daily: this payment of 3.00 USDC .* 2.00 USDC of 2.00 USDC are left until /,
        ),
        safe_action: 'raise_limit',
        limit: { name: 'daily', ...limit },
      },
    });
  }
  const query = `quote_id=${quote.quote_id}`;
  const [decline, ...others] = await list(agent.api_key, query);
  expect(others).toEqual([]);
  expect(decline).toMatchObject({
    code: 'limit_exceeded',
    reason: 'daily',
    delegate_id: agent.delegate_id,
    amount: `${PRICE}`,
    limit,
  });
  expect(await list(ada.token, query)).toEqual([decline]);
  const { decline_id } = decline!;
  const toVendor = await list(vendor.apiKey, query);
  expect(toVendor).toEqual([
    {
      ...{ decline_id, quote_id: quote.quote_id, service_id: vendor.serviceId, amount: `${PRICE}` },
      ...{ service_name: decline!.service_name, item: decline!.item },
      code: 'payer_declined',
      created_at: expect.any(String),
    },
  ]);
  expect(await list(vendor.signIn.access_token, `role=vendor&${query}`)).toEqual(toVendor);

  const [payerEvents, vendorEvents, exhausted] = await Promise.all([
    eventsOf(ada.token, 'settlement.declined', decline_id),
    eventsOf(vendor.signIn.access_token, 'settlement.declined', decline_id),
    eventsOf(ada.token, 'delegate.exhausted', agent.delegate_id),
  ]);
  expect(payerEvents.map(({ data }) => data)).toEqual([{ ...decline, role: 'payer' }]);
  expect(vendorEvents.map(({ data }) => data)).toEqual([{ ...toVendor[0], role: 'vendor' }]);
  expect(exhausted.map(({ data }) => data)).toMatchObject([{ name: 'daily', limit: '2000000', used: '0' }]);

  const to = encodeURIComponent(ada.signIn.account.email);
  const mails = await waitFor(
    async () =>
      ((await (await fetch(`${stack.mail_url}/messages?to=${to}`)).json()) as { text: string }[]).filter(
        ({ text }) => text.includes('was declined'),
      ),
    ({ length }) => length > 0,
  );
  expect(mails).toHaveLength(1);
  expect(mails[0]!.text).toContain('Daily limit of the agent: 2.00 USDC of 2.00 USDC are left until ');
});
