import { describe, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { verifyWebhook, type WebhookEvent, type WebhookEventOf, WebhookVerificationError } from '../main.ts';

/** Deliveries signed by the reference implementation of Standard Webhooks. */

const secretOf = (fill: number) => `whsec_${Buffer.alloc(32, fill).toString('base64')}`;
const [SECRET, OTHER] = [secretOf(1), secretOf(250)];
const BODY = JSON.stringify({
  id: 'evt_1',
  type: 'settlement.issued',
  timestamp: '2026-11-21T10:00:00.000Z',
  data: { settlement_id: 'stl_1', role: 'vendor', quote_amount: '50000', note: 'Grüße' },
});
const signed = (secrets = [SECRET], { at = new Date(), body = BODY } = {}) => ({
  'webhook-id': 'evt_1',
  'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
  'webhook-signature': secrets.map((secret) => new Webhook(secret).sign('evt_1', at, body)).join(' '),
});
const secondsAgo = (seconds: number) => new Date(Date.now() - seconds * 1000);

describe('a delivery is verified', () => {
  test.each<[string, Parameters<typeof verifyWebhook>[0]]>([
    ['a text', BODY],
    ['bytes of Node', Buffer.from(BODY)],
    ['a view into a larger buffer', Buffer.from(`..${BODY}`).subarray(2)],
    ['an ArrayBuffer', new TextEncoder().encode(BODY).buffer],
  ])('with %s as its body', async (_, body) => {
    expect(await verifyWebhook(body, signed(), SECRET)).toEqual(JSON.parse(BODY));
  });

  test('with the headers of fetch, of Node, and with names in any case', async () => {
    const headers = signed();
    const upper = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]),
    );
    const lists = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]));
    for (const each of [new Headers(headers), upper, lists])
      expect(await verifyWebhook(BODY, each, SECRET)).toMatchObject({ id: 'evt_1' });
  });

  test('while the secret is rotated: with either secret, on either side', async () => {
    for (const [secrets, known] of [
      [[OTHER, SECRET], SECRET],
      [[SECRET], [OTHER, SECRET]],
      [
        [OTHER, SECRET],
        [SECRET, secretOf(7)],
      ],
    ] as const)
      expect(await verifyWebhook(BODY, signed([...secrets]), known)).toMatchObject({ id: 'evt_1' });
  });

  test('within the tolerance of the clocks', async () => {
    for (const at of [secondsAgo(290), secondsAgo(-290)])
      expect(await verifyWebhook(BODY, signed([SECRET], { at }), SECRET)).toBeDefined();
    const late = signed([SECRET], { at: secondsAgo(1000) });
    expect(await verifyWebhook(BODY, late, SECRET, { toleranceSeconds: 2000 })).toBeDefined();
  });
});

describe('a delivery is refused', () => {
  const refused = async (
    message: RegExp,
    ...[body, headers, secret, options]: Parameters<typeof verifyWebhook>
  ) => {
    const error = await verifyWebhook(body, headers, secret, options).catch((each: unknown) => each);
    expect(error).toBeInstanceOf(WebhookVerificationError);
    expect((error as Error).message).toMatch(message);
    expect((error as Error).message).not.toContain(SECRET.slice(6));
  };

  test.each(['webhook-id', 'webhook-timestamp', 'webhook-signature'])('without %s', (name) =>
    refused(new RegExp(`^the header ${name} is missing`), BODY, { ...signed(), [name]: undefined }, SECRET),
  );

  test('with another secret, a changed body, id or time, and a signature of another scheme', async () => {
    const none = /^no signature matches/;
    await refused(none, BODY, signed(), OTHER);
    await refused(none, `${BODY} `, signed(), SECRET);
    await refused(none, BODY, { ...signed(), 'webhook-id': 'evt_2' }, SECRET);
    await refused(
      none,
      BODY,
      { ...signed(), 'webhook-timestamp': String(Math.floor(Date.now() / 1000) - 1) },
      SECRET,
    );
    const { 'webhook-signature': signature } = signed();
    await refused(
      /no signature of the form/,
      BODY,
      { ...signed(), 'webhook-signature': signature.replace('v1,', 'v2,') },
      SECRET,
    );
    await refused(/no signature of the form/, BODY, { ...signed(), 'webhook-signature': 'v1,%%%' }, SECRET);
    await refused(none, BODY, { ...signed(), 'webhook-signature': signature.slice(0, -8) }, SECRET);
  });

  test('when it is too old or too new, or has no time', async () => {
    await refused(
      /sent 30\d s ago, and 300 s are accepted/,
      BODY,
      signed([SECRET], { at: secondsAgo(301) }),
      SECRET,
    );
    await refused(/in the future/, BODY, signed([SECRET], { at: secondsAgo(-310) }), SECRET);
    await refused(/not a time/, BODY, { ...signed(), 'webhook-timestamp': '1e9' }, SECRET);
    await refused(/sent \d+ s ago/, BODY, signed([SECRET], { at: secondsAgo(20) }), SECRET, {
      toleranceSeconds: 5,
    });
  });

  test('when its signed body is no event', async () => {
    for (const body of ['{}', '"a"', 'null', '{', ''])
      await refused(/no event/, body, signed([SECRET], { body }), SECRET);
  });

  test('by a TypeError if the program is wrong: a parsed body, a secret that is none', async () => {
    const typeError = async (message: RegExp, body: unknown, secret: unknown) => {
      const error = await verifyWebhook(body as string, signed(), secret as string).catch(
        (each: unknown) => each,
      );
      expect(error).toBeInstanceOf(TypeError);
      expect((error as Error).message).toMatch(message);
      expect((error as Error).message).not.toContain('hunter2');
    };
    await typeError(/^body: pass the received text or bytes/, JSON.parse(BODY), SECRET);
    for (const secret of ['hunter2', 'whsec_', 'whsec_%%%', [SECRET, undefined]])
      await typeError(/^secret: use the text that begins with whsec_/, BODY, secret);
    for (const secret of [undefined, []]) await typeError(/^secret is missing/, BODY, secret);
  });
});

test('the type of an event determines its data', () => {
  const amountOf = (event: WebhookEvent): string | null => {
    switch (event.type) {
      case 'settlement.issued':
        return event.data.role === 'vendor' ? event.data.net_amount : event.data.quote_amount;
      case 'refund.confirmed':
        return event.data.amount;
      case 'deposit.completed':
        return event.data.amount;
      case 'webhook.test':
        return event.data.endpoint_id;
      default:
        return null;
    }
  };
  const tested: WebhookEventOf<'webhook.test'> = {
    id: 'evt_1',
    type: 'webhook.test',
    timestamp: '2026-11-21T10:00:00.000Z',
    data: { endpoint_id: 'whe_1' },
  };
  expect(amountOf(tested)).toBe('whe_1');
  // @ts-expect-error: a test has no amount
  expect(tested.data.amount).toBeUndefined();
});
