import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ServiceError } from '../../../shared/contract/errors.ts';
import { newId, newServiceId } from '../../../shared/lib/id.ts';
import { createAuthenticator, type Says } from '../../../test/support/actors/authenticator.ts';
import {
  callerOf,
  codeOf,
  PAYOUT,
  type Session,
  startIdentity,
} from '../../../test/support/fixtures/identity.ts';
import { atOnce, tally } from '../../../test/support/servers/stack.ts';
import { requestApproval } from '../../settlement/approvals/request-approval.ts';
import { approvalChallenge } from './challenge.ts';

let running: Awaited<ReturnType<typeof startIdentity>>;
beforeAll(async () => {
  running = await startIdentity();
});
afterAll(() => running.stop());

const register = async (session: Session) => {
  const authenticator = createAuthenticator();
  const options = await running.ask('passkeyRegisterOptions', {}, callerOf(session));
  await running.ask('passkeyRegisterVerify', { response: authenticator.create(options) }, callerOf(session));
  return authenticator;
};
/** An owner with a passkey. */
const owner = async () => {
  const session = await running.signIn();
  return { session, account_id: session.account.account_id, passkey: await register(session) };
};
type Owner = Awaited<ReturnType<typeof owner>>;

/** What settlement asks for when a delegate pays above its amount. */
const request = async (account_id: string, change: { amountMicro?: bigint } = {}) => {
  const { extras } = (await requestApproval(
    { pool: running.settlementPool, relay: { dispatch: () => {} } },
    {
      accountId: account_id,
      delegateId: newId('del'),
      paymentAttemptId: newId('evt'),
      rail: 'quittance',
      quoteId: newId('q'),
      amountMicro: 2_500_000n,
      payees: [{ address: PAYOUT, amount: '2500000' }],
      serviceId: newServiceId(),
      serviceName: 'Weather',
      resource: null,
      expiresAt: new Date(running.now() + 600_000).toISOString(),
      ...change,
    },
  ).catch((error: unknown) => error)) as ServiceError;
  return extras.approval_id!;
};
const find = async (account_id: string, approval_id: string) =>
  (await running.deps.findApproval(account_id, approval_id))!;
const optionsOf = (session: Session, approval_id: string) =>
  running.ask('approvalOptions', { approval_id }, callerOf(session));
const approveWith = async ({ session, passkey }: Owner, approval_id: string, says: Says = {}) => {
  const response = passkey.get(await optionsOf(session, approval_id), says);
  return running.ask('approve', { approval_id, response }, callerOf(session));
};

describe('approval with a passkey', () => {
  test('the challenge is that of the payment, and the passkeys of the account may sign it', async () => {
    const ada = await owner();
    const second = await register(ada.session);
    const approval_id = await request(ada.account_id);
    const approval = await find(ada.account_id, approval_id);
    const options = await optionsOf(ada.session, approval_id);
    expect(options).toEqual({
      challenge: approvalChallenge('test', approval),
      rpId: 'localhost',
      timeout: 300_000,
      userVerification: 'required',
      allowCredentials: [second, ada.passkey].map(({ credentialId: id }) => ({
        id,
        type: 'public-key',
        transports: ['internal'],
      })),
    });
    // Requested again, it is the same and still open.
    expect(await optionsOf(ada.session, approval_id)).toEqual(options);
    const response = ada.passkey.get(options);
    const approved = await running.ask('approve', { approval_id, response }, callerOf(ada.session));
    expect(approved).toEqual({ ...approval, status: 'approved', decided_at: expect.any(String) });
    const { rows } = await running.admin.query(
      `select passkey_id from settlement.approvals where approval_id = '${approval_id}'`,
    );
    expect(rows[0].passkey_id).toMatch(/^pk_/);
    expect(await codeOf(optionsOf(ada.session, approval_id))).toBe('conflict');
  });

  test('an authenticator may leave out the user handle, and one of another account is refused', async () => {
    const ada = await owner();
    const other = await request(ada.account_id);
    expect(await codeOf(approveWith(ada, other, { userHandle: 'AAAA' }))).toBe('validation_error');
    expect((await approveWith(ada, other, { userHandle: null })).status).toBe('approved');
  });

  test.each<[string, Says]>([
    ['another origin', { origin: 'https://evil.example' }],
    ['another RP', { rpId: 'evil.example' }],
    ['a registration', { type: 'webauthn.create' }],
    ['a frame of another site', { crossOrigin: true }],
    ['no user verification', { userVerified: false }],
    ['no user presence', { userPresent: false }],
    ['another challenge', { challenge: 'A'.repeat(43) }],
    ['a counter that went back', { counter: 1 }],
  ])('refuses %s', async (_name, says) => {
    const ada = await owner();
    await approveWith(ada, await request(ada.account_id), { counter: 7 });
    const approval_id = await request(ada.account_id);
    expect(await codeOf(approveWith(ada, approval_id, says))).toBe('validation_error');
    expect((await find(ada.account_id, approval_id)).status).toBe('awaiting_approval');
  });

  test('an answer to one approval approves no other one, also of the same amount and payee', async () => {
    const ada = await owner();
    const [small, large] = [
      await request(ada.account_id, { amountMicro: 1n }),
      await request(ada.account_id, { amountMicro: 10n ** 12n }),
    ];
    const response = ada.passkey.get(await optionsOf(ada.session, small));
    await optionsOf(ada.session, large);
    const crossed = running.ask('approve', { approval_id: large, response }, callerOf(ada.session));
    expect(await codeOf(crossed)).toBe('validation_error');
    expect((await find(ada.account_id, large)).status).toBe('awaiting_approval');
    // The refused answer has consumed its challenge.
    const late = running.ask('approve', { approval_id: small, response }, callerOf(ada.session));
    expect(await codeOf(late)).toBe('validation_error');
  });

  test('an answer is used once, by the session that requested it', async () => {
    const ada = await owner();
    const approval_id = await request(ada.account_id);
    const response = ada.passkey.get(await optionsOf(ada.session, approval_id));
    const elsewhere = await running.signIn(ada.session.account.email);
    const asElsewhere = running.ask('approve', { approval_id, response }, callerOf(elsewhere));
    expect(await codeOf(asElsewhere)).toBe('validation_error');
    const again = ada.passkey.get(await optionsOf(ada.session, approval_id));
    const codes = await atOnce(8, () =>
      codeOf(running.ask('approve', { approval_id, response: again }, callerOf(ada.session))),
    );
    expect(tally(codes)).toEqual({ ok: 1, validation_error: 7 });
  });

  test('the passkey, the session and the approval must be of one account', async () => {
    const [ada, eve] = [await owner(), await owner()];
    const approval_id = await request(ada.account_id);
    expect(await codeOf(optionsOf(eve.session, approval_id))).toBe('not_found');
    // Eve's passkey, in Ada's session.
    const options = await optionsOf(ada.session, approval_id);
    const response = eve.passkey.get(options);
    const asAda = running.ask('approve', { approval_id, response }, callerOf(ada.session));
    expect(await codeOf(asAda)).toBe('validation_error');
    // Eve's own answer in Eve's session.
    const asEve = running.ask(
      'approve',
      { approval_id, response: eve.passkey.get(options) },
      callerOf(eve.session),
    );
    expect(await codeOf(asEve)).toBe('not_found');
    expect((await find(ada.account_id, approval_id)).status).toBe('awaiting_approval');
  });

  test('an answer is no sign-in, and a sign-in is no answer', async () => {
    const ada = await owner();
    const approval_id = await request(ada.account_id);
    const response = ada.passkey.get(await optionsOf(ada.session, approval_id));
    expect(await codeOf(running.ask('passkeyLoginVerify', { response }))).toBe('unauthorized');
    const login = ada.passkey.get(await running.ask('passkeyLoginOptions', {}));
    const crossed = running.ask('approve', { approval_id, response: login }, callerOf(ada.session));
    expect(await codeOf(crossed)).toBe('validation_error');
  });

  test('without a passkey the caller is refused with what to do', async () => {
    const session = await running.signIn();
    const approval_id = await request(session.account.account_id);
    await expect(optionsOf(session, approval_id)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('add one'),
    });
  });

  test('an approval that has expired between the options and the answer is refused', async () => {
    const ada = await owner();
    const approval_id = await request(ada.account_id);
    const response = ada.passkey.get(await optionsOf(ada.session, approval_id));
    await running.admin.query(
      `update settlement.approvals set expires_at = app_now() where approval_id = '${approval_id}'`,
    );
    const late = running.ask('approve', { approval_id, response }, callerOf(ada.session));
    expect(await codeOf(late)).toBe('conflict');
    expect(await codeOf(optionsOf(ada.session, approval_id))).toBe('conflict');
  });
});

describe('mail', () => {
  const SUBJECT = 'A payment needs your approval (Quittance)';

  test('the owner is mailed once per approval, whatever the settings say', async () => {
    const ada = await owner();
    const { email } = ada.session.account;
    const delegate_id = newId('del');
    const wallet_id = running.newWallet(ada.account_id);
    const delegate = await running.ask(
      'createDelegate',
      { name: 'Robot <b>', wallet_id, limits: {} },
      callerOf(ada.session),
    );
    await running.ask('updateSettings', { mail_key_events: false }, callerOf(ada.session));
    const approval = await find(ada.account_id, await request(ada.account_id));
    const event = {
      ...approval,
      delegate_id: delegate.delegate_id,
      resource: 'https://api.example.com/<img>',
      account_id: ada.account_id,
    };
    for (let time = 0; time < 3; time += 1) await running.publish(event, 'approvalRequested');
    // Of a delegate that is not known here, and of an approval that has expired.
    const stranger = { ...event, approval_id: newId('apr'), delegate_id };
    await running.publish({ ...stranger, expires_at: '2020-01-01T00:00:00.000Z' }, 'approvalRequested');
    const last = { ...stranger, approval_id: newId('apr'), service_name: 'Last' };
    await running.publish(last, 'approvalRequested');
    await running.allHandledAndMailed('approvalRequested');
    expect(await running.count('handled_events', "event_key like 'apr_%'")).toBe(3);
    const mails = running.smtp.mailsTo(email).filter(({ subject }) => subject === SUBJECT);
    expect(mails).toHaveLength(2);
    expect(mails.filter(({ text }) => text.includes('“Last”'))).toHaveLength(1);
    const mail = mails.find(({ text }) => text.includes('Robot'))!;
    for (const part of [
      `https://console.quittance.example/approvals/${approval.approval_id}\n`,
      '2.50 USDC',
      'Robot <b>',
      'Weather',
      PAYOUT,
      'api[.]example[.]com',
    ]) {
      expect(mail.text).toContain(part);
    }
  });
});
