import { expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { verifyWebhook } from '../../sdk/src/main.ts';
import { newWebhookSecret, signedHeaders } from './webhooks.ts';

test('a delivery is verified by the SDK and by the reference implementation of Standard Webhooks', async () => {
  const secret = newWebhookSecret();
  const body = '{"id":"evt_1","type":"quote.expired"}';
  const headers = signedHeaders(secret, { id: 'evt_1', body, now: Date.now() });
  expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
  expect(await verifyWebhook(body, headers, secret)).toEqual(JSON.parse(body));
  expect(() => new Webhook(newWebhookSecret()).verify(body, headers)).toThrow();
  expect(() => new Webhook(secret).verify(`${body} `, headers)).toThrow();
});
