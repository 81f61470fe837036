import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { EVENT_DAYS } from '../../../shared/contract/sent-events.ts';
import { newId } from '../../../shared/lib/id.ts';
import { callerOf, startIdentity } from '../../../test/support/fixtures/identity.ts';
import { atOnce } from '../../../test/support/servers/stack.ts';
import { endpointDisabled } from './on-webhook-endpoint-disabled.ts';
import { queueEventMails } from './queue-event-mails.ts';
import { purgeHandledEvents } from './store.ts';

let running: Awaited<ReturnType<typeof startIdentity>>;
beforeAll(async () => {
  running = await startIdentity();
});
afterAll(() => running.stop());

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

test('an event that comes on the last day that it is kept is mailed, and its repeat a day later is not', async () => {
  const { account_id, email } = (await running.signIn()).account;
  const queue = queueEventMails(running.deps);
  const disabled = (daysAgo: number) => ({
    ...{ account_id, endpoint_id: newId('whe'), host: 'hooks.example.com', reason: 'gone' as const },
    at: new Date(running.now() - daysAgo * 86_400_000).toISOString(),
  });
  const [kept, gone] = [disabled(EVENT_DAYS - 0.1), disabled(EVENT_DAYS + 0.1)];
  const mails = async () => {
    await running.allHandledAndMailed();
    return running.smtp.mailsTo(email).filter(({ text }) => text.includes('answered 410')).length;
  };
  for (const event of [kept, gone]) await queue(endpointDisabled(event));
  expect(await mails()).toBe(1);
  await running.passSeconds(86_400);
  await purgeHandledEvents(running.deps.pool);
  await queue(endpointDisabled(kept));
  expect(await mails()).toBe(1);
});
