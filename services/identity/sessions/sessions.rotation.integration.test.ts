import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { waitUntil } from '../../../test/support/base/wait.ts';
import { callerOf, PAYOUT, startIdentity, tokenIn } from '../../../test/support/fixtures/identity.ts';

/** IDENTITY_SECRET and CURSOR_KEY are replaced in the three steps of docs/signing-keys.md. */
let running: Awaited<ReturnType<typeof startIdentity>>;
beforeAll(async () => {
  running = await startIdentity();
});
afterAll(() => running.stop());

const [old, next] = [Buffer.alloc(32, 9), Buffer.alloc(32, 19)];
const STEPS = { before: [old], added: [old, next], used: [next, old], removed: [next] };
const step = (name: keyof typeof STEPS) => running.setSecrets({ identity: STEPS[name], cursor: STEPS[name] });
const refresh = (refresh_token: string | undefined) => running.ask('refresh', { refresh_token });
const unauthorized = { name: 'ServiceError', code: 'unauthorized' };

test('no session, link or cursor is lost while the secret is replaced, and afterwards the old one opens nothing', async () => {
  step('before');
  const [owner, idle] = [await running.signIn(), await running.signIn()];
  const caller = callerOf(owner);
  await running.signIn(owner.account.email);
  const { service_id } = await running.ask(
    'createService',
    { name: 'Rotation', price: '20000', payout_address: PAYOUT },
    caller,
  );
  const list = (cursor?: string) =>
    running.ask('listSessions', { limit: '1', ...(cursor !== undefined && { cursor }) }, caller);
  const cursor = (await list()).next_cursor!;
  const unused = await running.linkFor(running.newAddress());

  step('added');
  const second = await refresh(owner.refresh_token);
  // Mails whose links were derived before the next step are sent after it.
  const late = running.newAddress();
  running.smtp.refuseNext(451);
  await running.ask('requestMagicLink', { email: late });
  await waitUntil(
    async () => (await running.count('mails', `to_address = '${late}' and attempts = 1`)) === 1,
  );
  running.smtp.refuseNext(451);
  await running.ask('revealServiceKey', { service_id }, caller);
  const isReveal = "kind = 'key_reveal' and attempts = 1";
  await waitUntil(async () => (await running.count('mails', isReveal)) === 1);

  step('used');
  await running.passSeconds(5);
  const lateToken = tokenIn((await running.smtp.waitFor(late)).text);
  expect((await running.ask('verifyMagicLink', { token: lateToken })).account.email).toBe(late);
  const revealed = await running.mailTo(owner.account.email, ({ text }) => text.includes('#token=rv_test_'));
  const token = /#token=(rv_test_[A-Za-z0-9_-]{43})\s/.exec(revealed.text)![1]!;
  expect((await running.ask('verifyServiceReveal', { service_id, token })).api_key).toMatch(/^vendor_test_/);
  expect(await running.ask('verifyMagicLink', { token: unused })).toBeDefined();
  expect((await list(cursor)).data).toHaveLength(1);
  const third = await refresh(second.refresh_token);

  step('removed');
  expect(await refresh(third.refresh_token)).toBeDefined();
  await expect(refresh(idle.refresh_token)).rejects.toMatchObject(unauthorized);
  await expect(list(cursor)).rejects.toThrow('not a cursor of this list');
  step('before');
});
