import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '../../../shared/lib/id.ts';
import { callerOf, startIdentity } from '../../../test/support/fixtures/identity.ts';
import { atOnce } from '../../../test/support/servers/stack.ts';
import { securityNoted } from '../mails/on-settlement-security-noted.ts';

let running: Awaited<ReturnType<typeof startIdentity>>;
beforeAll(async () => {
  running = await startIdentity();
}, 300_000);
afterAll(() => running.stop(), 300_000);

const CLIENT = { address: '203.0.113.0/24', agent: 'Firefox' };
const eventsOf = async (session: Awaited<ReturnType<typeof running.signIn>>) =>
  (await running.ask('listSecurityEvents', {}, callerOf(session))).data;

test('what another service notes is recorded and mailed once, from where it was done', async () => {
  const session = await running.signIn();
  await running.ask('updateSettings', { mail_key_events: false }, callerOf(session));
  const { account_id, email } = session.account;
  const note = (kind: 'endpoint_created' | 'endpoint_deleted') => ({
    ...{ security_event_id: newId('sev'), account_id, kind, client: CLIENT },
    details: { endpoint_id: 'whe_1', host: 'hooks.example.com' },
  });
  const [created, deleted] = [note('endpoint_created'), note('endpoint_deleted')];
  const consume = securityNoted(running.deps);
  await atOnce(8, () => consume(created));
  await consume(deleted);
  const events = await eventsOf(session);
  expect(events.filter(({ kind }) => kind.startsWith('endpoint_'))).toEqual([
    { ...deleted, ...CLIENT, created_at: expect.any(String), account_id: undefined, client: undefined },
    { ...created, ...CLIENT, created_at: expect.any(String), account_id: undefined, client: undefined },
  ]);
  await running.allHandledAndMailed();
  const mails = running.smtp.mailsTo(email).filter(({ subject }) => /webhook endpoint/.test(subject));
  expect(mails.map(({ subject }) => subject)).toEqual([
    expect.stringContaining('A webhook endpoint was created'),
  ]);
  expect(mails[0]!.text).toContain('It was done from the network 203.0.113.0/24, with Firefox.');
});

test('an event of a call names from where it came, and one of another call does not', async () => {
  const session = await running.signIn();
  await running.ask('updateSettings', { mail_key_events: false }, callerOf(session), { client: CLIENT });
  const events = await eventsOf(session);
  expect(events.map(({ kind, address, agent }) => [kind, address, agent])).toEqual([
    ['key_mails_off', CLIENT.address, CLIENT.agent],
    ['signed_in', null, null],
  ]);
});

test('an announced export is an event, and one of the whole account is mailed', async () => {
  const session = await running.signIn();
  for (const what of ['statement', 'account', 'sales'] as const)
    await running.ask('noteExport', { of: what }, callerOf(session), { client: CLIENT });
  const events = await eventsOf(session);
  expect(events.slice(0, 3).map(({ kind, details, address }) => [kind, details.of, address])).toEqual([
    ['export_made', 'sales', CLIENT.address],
    ['export_made', 'account', CLIENT.address],
    ['export_made', 'statement', CLIENT.address],
  ]);
  await running.allHandledAndMailed();
  const mails = running.smtp.mailsTo(session.account.email).filter(({ subject }) => /exported/.test(subject));
  expect(mails).toHaveLength(1);
});
