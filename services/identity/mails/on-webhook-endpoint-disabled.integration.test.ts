import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '../../../shared/lib/id.ts';
import { callerOf, startIdentity } from '../../../test/support/fixtures/identity.ts';
import { atOnce } from '../../../test/support/servers/stack.ts';
import { endpointDisabled } from './on-webhook-endpoint-disabled.ts';
import { queueEventMails } from './queue-event-mails.ts';

let running: Awaited<ReturnType<typeof startIdentity>>;
beforeAll(async () => {
  running = await startIdentity();
}, 180_000);
afterAll(() => running.stop(), 180_000);

test('the owner is mailed once each time an endpoint is disabled, whatever the settings say', async () => {
  const session = await running.signIn();
  await running.ask('updateSettings', { mail_key_events: false }, callerOf(session));
  const { account_id, email } = session.account;
  const at = (seconds: number) => new Date(running.now() - seconds * 1000).toISOString();
  const first = {
    account_id,
    endpoint_id: newId('whe'),
    host: 'hooks.example.com',
    reason: 'failing' as const,
    at: at(60),
  };
  const queue = queueEventMails(running.deps);
  const handle = (event: Parameters<typeof endpointDisabled>[0]) => queue(endpointDisabled(event));
  await atOnce(64, () => handle(first));
  await handle({ ...first, reason: 'gone', at: at(0) });
  await handle(first);
  await running.allHandledAndMailed();
  const texts = running.smtp
    .mailsTo(email)
    .filter(({ subject }) => subject.startsWith('A webhook endpoint was turned off'))
    .map(({ text }) => text);
  expect(texts).toHaveLength(2);
  expect(texts.filter((text) => text.includes('answered 410'))).toHaveLength(1);
});
