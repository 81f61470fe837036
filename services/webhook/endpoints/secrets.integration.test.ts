import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { waitUntil } from '../../../test/support/base/wait.ts';
import {
  account,
  admin,
  ask,
  restart,
  startFixture,
  stopFixture,
} from '../../../test/support/fixtures/webhook.ts';
import { answer, type Receiver, startReceiver } from '../../../test/support/servers/receiver.ts';

/** SECRETS_KEY is replaced in the three steps of docs/signing-keys.md. */
const [old, next] = [0, 0].map(() => randomBytes(32).toString('base64url')) as [string, string];
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver(answer(204));
  await startFixture({ SECRETS_KEY: old, DELIVERY_TIMEOUT_MS: '5000' });
});
afterAll(async () => {
  await stopFixture();
  await receiver.stop();
});

test('no secret of an endpoint is lost while the key is replaced, and the old key opens nothing afterwards', async () => {
  const who = account();
  const event_types = ['quote.expired'];
  const { endpoint_id, secret } = await ask('createEndpoint', who, { url: receiver.url, event_types });
  const rotated = await ask('rotateEndpointSecret', who, { endpoint_id });
  const sealed = async (): Promise<string[]> =>
    Object.values(
      (
        await admin.query('select secret, previous_secret from endpoints where endpoint_id = $1', [
          endpoint_id,
        ])
      ).rows[0],
    );
  /** Both secrets of the endpoint sign a delivery. */
  const deliver = async (): Promise<void> => {
    const before = receiver.received.length;
    await ask('testEndpoint', who, { endpoint_id });
    await waitUntil(() => receiver.received.length > before, { withinMs: 30_000 });
    const { body, headers } = receiver.received.at(-1)!;
    for (const each of [secret, rotated.secret])
      expect(new Webhook(each).verify(body, headers)).toMatchObject({ type: 'webhook.test' });
  };
  await deliver();
  const first = await sealed();

  await restart({ SECRETS_KEY: `${old},${next}` });
  await deliver();
  await restart({ SECRETS_KEY: `${next},${old}` });
  await deliver();
  // Both are sealed with the next key, by a job of the service.
  await waitUntil(async () => (await sealed()).every((text) => !first.includes(text)), { withinMs: 90_000 });

  await restart({ SECRETS_KEY: next });
  await deliver();
}, 300_000);
