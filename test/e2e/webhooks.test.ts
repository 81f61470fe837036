import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import {
  type Consumer,
  createConsumer,
  createVendor,
  quoteOf,
  settleWith,
  type Vendor,
} from '../../deploy/local/seed/actors.ts';
import { createApi, must } from '../../deploy/local/seed/api.ts';
import { verifyWebhook } from '../../sdk/src/main.ts';
import { waitFor, waitUntil } from '../support/base/wait.ts';
import { answer, type Receiver, startReceiver } from '../support/servers/receiver.ts';
import { scrape } from '../support/servers/scrape.ts';
import { runningStack } from '../support/servers/stack.ts';

/**
 * The events of a payment through the public API, for its two accounts: delivered to a receiver,
 * and read at GET /v1/events.
 */
const stack = runningStack();
const api = createApi(stack.gateway_url);

let [vendor, consumer]: [Vendor, Consumer] = [] as never;
let [toVendor, toConsumer]: [Receiver, Receiver] = [] as never;
beforeAll(async () => {
  [vendor, consumer, toVendor, toConsumer] = await Promise.all([
    createVendor(api, stack),
    createConsumer(api, stack),
    startReceiver(answer(200)),
    startReceiver(answer(200)),
  ]);
});
afterAll(() => Promise.all([toVendor.stop(), toConsumer.stop()]));

type Event = { event_id: string; type: string; object_id: string; created_at: string; data: object };
type Endpoint = { endpoint_id: string; secret: string };
type Body = { id: string; type: string; timestamp: string; data: { role?: string; settlement_id?: string } };

const endpointOf = (token: string, { url }: Receiver, event_types: string[]) =>
  must(
    api<Endpoint>('POST /v1/webhook-endpoints', { token, body: { url, event_types } }),
    'webhook endpoint',
  );
/**
 * The received events, verified by the SDK and by the reference implementation, in the order of
 * their types.
 */
const verified = async ({ received }: Receiver, { secret }: Endpoint): Promise<Body[]> => {
  const events = received.map(async ({ body, headers }) => {
    const event = await verifyWebhook(body, headers, secret);
    expect(new Webhook(secret).verify(body, headers)).toEqual(event);
    return event as Body;
  });
  return (await Promise.all(events)).sort((a, b) => (a.type < b.type ? -1 : 1));
};
const until = (there: () => boolean): Promise<void> => waitUntil(there, { withinMs: 20_000, everyMs: 50 });
const eventsOf = async (token: string): Promise<Event[]> =>
  (await must(api<{ data: Event[] }>('GET /v1/events?limit=100', { token }), 'events')).data;

test('vendor and payer get the events of a payment, by verified deliveries and by GET /v1/events', async () => {
  const vendorToken = vendor.signIn.access_token;
  const [vendors, consumers] = await Promise.all([
    endpointOf(vendorToken, toVendor, ['quote.*', 'settlement.*']),
    endpointOf(consumer.token, toConsumer, ['settlement.*']),
  ]);
  const scope = { order: 'A-17', größe: [1, { ok: true }] };
  const quote = await quoteOf(api, vendor, { scope });
  const paid = await must(settleWith(api, consumer.token, quote), 'settle');
  const { settlement_id, settlement_token } = paid;
  const redeem = { token: vendor.apiKey, body: { settlement_token, redeem_id: 'replica-1' } };
  await must(api(`POST /v1/settlements/${settlement_id}/redeem`, redeem), 'redeem');
  // A repeat publishes no event.
  await must(api(`POST /v1/settlements/${settlement_id}/redeem`, redeem), 'redeem again');
  await until(() => toVendor.received.length >= 5 && toConsumer.received.length >= 3);
  // What the objective of webhooks counts. The page is read until the last delivery is recorded.
  const { webhook } = stack.metrics;
  await waitFor(
    async () => (await scrape(webhook!)).value('quittance_webhook_first_answer_seconds_count') ?? 0,
    (answered) => answered >= 8,
  );

  const bodies = [await verified(toVendor, vendors), await verified(toConsumer, consumers)] as const;
  const lifecycle = ['settlement.finalized', 'settlement.issued', 'settlement.redeemed'];
  expect(bodies[0].map(({ type }) => type)).toEqual(['quote.settled', 'quote.settling', ...lifecycle]);
  expect(bodies[1].map(({ type }) => type)).toEqual(lifecycle);
  expect(bodies[0][2]!.data).toMatchObject({ settlement_id, role: 'vendor', tx_hash: paid.tx_hash });
  for (const body of [...bodies[0].slice(2), ...bodies[1]]) expect(body.data).toMatchObject({ scope });
  expect(bodies[1][2]!.data).toMatchObject({ settlement_id, role: 'payer', wallet_id: consumer.walletId });
  // The settlement token is for redeem only.
  expect(JSON.stringify([toVendor.received, toConsumer.received])).not.toContain(settlement_token);

  for (const [token, sent] of [
    [vendorToken, bodies[0]],
    [consumer.token, bodies[1]],
  ] as const) {
    const events = (await eventsOf(token)).filter(({ type }) => sent.some((body) => body.type === type));
    const shown = events.map(({ event_id: id, type, created_at: timestamp, data }) => ({
      id,
      type,
      timestamp,
      data,
    }));
    expect(new Set(shown.map((each) => JSON.stringify(each)))).toEqual(
      new Set(sent.map((each) => JSON.stringify(each))),
    );
  }
  const log = await must(
    api<{ data: { status: string; attempts: { status_code: number }[] }[] }>(
      `GET /v1/webhook-endpoints/${vendors.endpoint_id}/deliveries`,
      { token: vendorToken },
    ),
    'deliveries',
  );
  expect(
    log.data.map(({ status, attempts }) => [status, attempts.map(({ status_code }) => status_code)]),
  ).toEqual(Array.from({ length: 5 }, () => ['delivered', [200]]));
});

test('an account gets the events of its delegate and the delegate’s keys', async () => {
  const { token } = consumer;
  const delegate = await must(
    api<{ delegate_id: string }>('POST /v1/delegates', {
      token,
      body: { name: 'Robot', wallet_id: consumer.walletId, limits: { total: '5' } },
    }),
    'delegate',
  );
  const at = `/v1/delegates/${delegate.delegate_id}` as const;
  await must(api(`PATCH ${at}`, { token, body: { limits: { total: '4' } } }), 'update');
  await must(api(`POST ${at}/key/rotate`, { token, body: {} }), 'rotate');
  await must(api(`DELETE ${at}`, { token }), 'delete');
  const expected = ['delegate.created', 'delegate.deleted', 'delegate.updated', 'key.ended', 'key.rotated'];
  const types = async () =>
    (await eventsOf(token))
      .filter(({ object_id }) => object_id === delegate.delegate_id)
      .map(({ type }) => type)
      .toSorted((a, b) => (a < b ? -1 : 1));
  expect(await waitFor(types, (found) => found.length >= expected.length)).toEqual(expected);
});

test('a receiver that answers 410 disables its endpoint immediately, and the owner gets a mail', async () => {
  const { token, signIn } = consumer;
  const gone = await startReceiver(answer(410));
  const { endpoint_id } = await endpointOf(token, gone, ['refund.*']);
  await must(api(`POST /v1/webhook-endpoints/${endpoint_id}/test`, { token }), 'test event');
  const mailsOf = async () => {
    const to = encodeURIComponent(signIn.account.email);
    const response = await fetch(`${stack.mail_url}/messages?to=${to}`);
    const messages = (await response.json()) as { subject: string; text: string }[];
    return messages.filter(({ subject }) => /^A webhook endpoint was turned off/.test(subject));
  };
  const [mail, ...more] = await waitFor(mailsOf, (found) => found.length > 0);
  expect(mail!.text).toContain(endpoint_id);
  expect(more).toEqual([]);
  expect((await api(`GET /v1/webhook-endpoints/${endpoint_id}`, { token })).body).toMatchObject({
    enabled: false,
    disabled_reason: 'gone',
  });
  await gone.stop();
});
