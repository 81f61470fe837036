import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { waitUntil } from '../../../test/support/base/wait.ts';
import { callerOf, startIdentity } from '../../../test/support/fixtures/identity.ts';
import { atOnce } from '../../../test/support/servers/stack.ts';

/** Changes that follow one another from one place are one mail, unless they must be mailed. */
let running: Awaited<ReturnType<typeof startIdentity>>;
beforeAll(async () => {
  running = await startIdentity();
}, 300_000);
afterAll(() => running.stop(), 300_000);

const HERE = { address: '203.0.113.0/24', agent: 'Firefox' };
const ELSEWHERE = { address: '198.51.100.0/24', agent: 'curl' };
type Session = Awaited<ReturnType<typeof running.signIn>>;

/** A change that is mailed to whoever has not turned such mails off. */
const change = (session: Session, client = HERE) =>
  running.ask('noteExport', { of: 'account' }, callerOf(session), { client });
const subjectsOf = ({ account }: Session) =>
  running.smtp
    .mailsTo(account.email)
    .map(({ subject }) => subject.replace(' (Quittance)', ''))
    .filter((subject) => subject !== 'Sign in to Quittance');
const mailed = (session: Session, subject: RegExp) =>
  running.mailTo(session.account.email, (mail) => subject.test(mail.subject));
const EXPORTED = 'Your account data were exported';

test('the first change is mailed at once, those of the next five minutes in one mail', async () => {
  const session = await running.signIn();
  await change(session);
  await mailed(session, /exported/);
  await atOnce(8, () => change(session));
  await change(session, ELSEWHERE);
  await running.mailTo(session.account.email, ({ text }) => text.includes('with curl'));
  expect(subjectsOf(session)).toEqual([EXPORTED, EXPORTED]);
  await running.passSeconds(301);
  const mail = await mailed(session, /^8 changes to your account/);
  expect(mail.text).toContain('It was done from the network 203.0.113.0/24, with Firefox.');
  expect(mail.text.match(/UTC: All data of your account were downloaded/g)).toHaveLength(8);
  expect(mail.text).toContain('https://console.quittance.example/account\n');

  // A later one begins anew.
  await change(session);
  await running.allHandledAndMailed();
  expect(subjectsOf(session)).toHaveLength(4);
});

test('a mail of a kind that only a later version knows waits for that version', async () => {
  const session = await running.signIn();
  await running.admin.query(
    "insert into identity.mails (kind, to_address, details, expires_at) values ('later', $1, '{}', app_now() + interval '1 day')",
    [session.account.email],
  );
  const left = async () =>
    (
      await running.admin.query<{ attempts: number; waits: boolean }>(
        "select attempts, next_attempt_at > app_now() + interval '50 seconds' as waits from identity.mails where kind = 'later'",
      )
    ).rows;
  await waitUntil(async () => (await left()).some(({ attempts }) => attempts > 0));
  expect(await left()).toEqual([{ attempts: 1, waits: true }]);
  expect(subjectsOf(session)).toEqual([]);
  await running.admin.query("delete from identity.mails where kind = 'later'");
});

test('a single change that follows is a mail of its own', async () => {
  const session = await running.signIn();
  await change(session);
  await change(session);
  await running.passSeconds(301);
  await running.allHandledAndMailed();
  expect(subjectsOf(session)).toEqual([EXPORTED, EXPORTED]);
});

test('what cannot be turned off is mailed at once, and what is turned off never', async () => {
  const session = await running.signIn();
  await change(session);
  await running.ask('updateSettings', { mail_key_events: false }, callerOf(session), { client: HERE });
  await mailed(session, /^E-mails about keys were turned off/);
  await change(session);
  await running.passSeconds(301);
  await running.allHandledAndMailed();
  expect(subjectsOf(session)).toHaveLength(2);
});
