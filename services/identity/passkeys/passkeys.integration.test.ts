import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ServiceError } from '../../../shared/contract/errors.ts';
import { createAuthenticator, type Says } from '../../../test/support/actors/authenticator.ts';
import { callerOf, type Session, startIdentity } from '../../../test/support/fixtures/identity.ts';
import { atOnce, tally } from '../../../test/support/servers/stack.ts';
import { userHandle } from './webauthn.ts';

let running: Awaited<ReturnType<typeof startIdentity>>;
beforeAll(async () => {
  running = await startIdentity();
});
afterAll(() => running.stop());

type Authenticator = ReturnType<typeof createAuthenticator>;
const refused = (code: string) => ({ name: 'ServiceError', code });

const registrationOptions = (session: Session) =>
  running.ask('passkeyRegisterOptions', {}, callerOf(session));
const register = async (session: Session, label?: string, says: Says = {}): Promise<Authenticator> => {
  const authenticator = createAuthenticator();
  const response = authenticator.create(await registrationOptions(session), says);
  await running.ask('passkeyRegisterVerify', { response, ...(label ? { label } : {}) }, callerOf(session));
  return authenticator;
};
const loginOptions = () => running.ask('passkeyLoginOptions', {});
const login = async (authenticator: Authenticator, says: Says = {}) =>
  running.ask('passkeyLoginVerify', { response: authenticator.get(await loginOptions(), says) });
const passkeys = async (session: Session) => (await running.ask('listPasskeys', {}, callerOf(session))).data;
const outcomes = async (calls: Promise<unknown>[]) =>
  tally(
    (await Promise.allSettled(calls)).map((result) =>
      result.status === 'fulfilled' ? 'ok' : (result.reason as ServiceError).code,
    ),
  );

/** Waits for a mail to the owner with this subject and this part. Mails may arrive in any order. */
const untilMailed = ({ account }: Session, subject: string, part = '') =>
  running.mailTo(
    account.email,
    (mail) => mail.subject === `${subject} (Quittance)` && mail.text.includes(part),
  );

describe('registration', () => {
  test('requests a discoverable credential with user verification, and discloses no personal data to the authenticator', async () => {
    const session = await running.signIn();
    const options = await registrationOptions(session);
    expect(options).toMatchObject({
      rp: { id: 'localhost', name: 'Quittance' },
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      attestation: 'none',
      excludeCredentials: [],
    });
    const { account_id } = session.account;
    expect(options.user.id).toBe(userHandle('test', account_id).toString('base64url'));
    expect(userHandle('live', account_id)).not.toEqual(userHandle('test', account_id));
    const first = await register(session);
    expect((await registrationOptions(session)).excludeCredentials.map(({ id }) => id)).toEqual([
      first.credentialId,
    ]);
  });

  test('an account may have several passkeys, listed newest first, and the owner is notified of each', async () => {
    const session = await running.signIn();
    await register(session, 'Laptop');
    await register(session, '<b>Phone</b>');
    expect((await passkeys(session)).map(({ label }) => label)).toEqual(['<b>Phone</b>', 'Laptop']);
    const mail = await untilMailed(session, 'A passkey was added', '“<b>Phone</b>”');
    expect(mail.to).toEqual([session.account.email]);
    expect(mail.html).not.toContain('<b>');
  });

  test('needs a fresh sign-in at both steps', async () => {
    const session = await running.signIn();
    const response = createAuthenticator().create(await registrationOptions(session));
    await running.passSeconds(301);
    await running.clockUpdated();
    await expect(registrationOptions(session)).rejects.toMatchObject(refused('reauthentication_required'));
    await expect(running.ask('passkeyRegisterVerify', { response }, callerOf(session))).rejects.toMatchObject(
      refused('reauthentication_required'),
    );
    // A refreshed token keeps the age of its sign-in.
    const refreshed = await running.ask('refresh', { refresh_token: session.refresh_token });
    await expect(registrationOptions(refreshed)).rejects.toMatchObject(refused('reauthentication_required'));
  });

  test.each([
    ['from another origin', { origin: 'http://localhost:4001' }],
    ['from a look-alike origin', { origin: 'http://localhost:4000.evil.example' }],
    ['for another rp id', { rpId: 'evil.example' }],
    ['without user verification', { userVerified: false }],
    ['without user presence', { userPresent: false }],
    ['in a frame of another site', { crossOrigin: true }],
    ['that is a sign-in', { type: 'webauthn.get' }],
    ['with a challenge that was not issued', { challenge: 'A'.repeat(43) }],
    ['with NUL as challenge', { challenge: '\0' }],
  ] as [string, Says][])('is refused %s, and stores nothing', async (_name, says) => {
    const session = await running.signIn();
    await expect(register(session, 'Bad', says)).rejects.toMatchObject(refused('validation_error'));
    expect(await passkeys(session)).toEqual([]);
  });

  test('a registration without user verification names its cause and the way out', async () => {
    const session = await running.signIn();
    await expect(register(session, 'Bad', { userVerified: false })).rejects.toMatchObject({
      message: expect.stringMatching(
        /^response: the authenticator did not check who uses it; set up its PIN/,
      ),
    });
  });

  test('a challenge is valid for its ceremony, its session and one answer', async () => {
    const [mine, theirs] = [await running.signIn(), await running.signIn()];
    const options = await registrationOptions(mine);
    const response = createAuthenticator().create(options);
    const verify = (session: Session) =>
      running.ask('passkeyRegisterVerify', { response }, callerOf(session));
    await expect(verify(theirs)).rejects.toMatchObject(refused('validation_error'));
    // The refused answer consumed the challenge.
    await expect(verify(mine)).rejects.toMatchObject(refused('validation_error'));
    const ofLogin = createAuthenticator().create({ ...(await loginOptions()), user: options.user });
    await expect(
      running.ask('passkeyRegisterVerify', { response: ofLogin }, callerOf(mine)),
    ).rejects.toMatchObject(refused('validation_error'));
  });

  test('64 concurrent answers to one challenge register one passkey', async () => {
    const session = await running.signIn();
    const response = createAuthenticator().create(await registrationOptions(session));
    const calls = Array.from({ length: 64 }, () =>
      running.ask('passkeyRegisterVerify', { response }, callerOf(session)),
    );
    expect(await outcomes(calls)).toEqual({ ok: 1, validation_error: 63 });
    expect(await passkeys(session)).toHaveLength(1);
  });

  test('a challenge expires after 5 minutes', async () => {
    const authenticator = await register(await running.signIn());
    const options = await loginOptions();
    await running.passSeconds(300);
    await expect(
      running.ask('passkeyLoginVerify', { response: authenticator.get(options) }),
    ).rejects.toMatchObject(refused('unauthorized'));
  });

  test('an account has at most 20 passkeys', async () => {
    const session = await running.signIn();
    for (let i = 0; i < 19; i += 1) await register(session);
    const options = [await registrationOptions(session), await registrationOptions(session)];
    const calls = options.map((each) =>
      running.ask(
        'passkeyRegisterVerify',
        { response: createAuthenticator().create(each) },
        callerOf(session),
      ),
    );
    expect(await outcomes(calls)).toEqual({ ok: 1, conflict: 1 });
    await expect(registrationOptions(session)).rejects.toMatchObject(refused('conflict'));
  });

  test('a credential belongs to one account', async () => {
    const [mine, theirs] = [await running.signIn(), await running.signIn()];
    const authenticator = await register(mine);
    const response = authenticator.create(await registrationOptions(theirs));
    await expect(running.ask('passkeyRegisterVerify', { response }, callerOf(theirs))).rejects.toMatchObject(
      refused('conflict'),
    );
  });

  test('a body for the other environment is refused', async () => {
    const session = await running.signIn();
    await expect(
      running.ask('passkeyRegisterOptions', { environment: 'live' }, callerOf(session)),
    ).rejects.toMatchObject(refused('validation_error'));
  });
});

describe('sign-in', () => {
  test('opens a session of the account that is as fresh as one by a mailed link', async () => {
    const session = await running.signIn();
    const authenticator = await register(session);
    await running.passSeconds(600);
    const again = await login(authenticator);
    expect(again.account).toEqual(session.account);
    const caller = callerOf(again);
    expect(Math.abs(caller.auth_time * 1000 - running.now())).toBeLessThan(5000);
    expect(again.access_token.split('.')[1]).toBeDefined();
    await registrationOptions(again); // step-up
    expect((await passkeys(again))[0]!.last_used_at).not.toBeNull();
    const sessions = (await running.ask('listSessions', {}, caller)).data;
    expect(sessions.map(({ method, current }) => [method, current])).toEqual([
      ['passkey', true],
      ['email', false],
    ]);
  });

  const strangersKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  test.each([
    ['from another origin', { origin: 'http://127.0.0.1:4000' }],
    ['for another rp id', { rpId: 'evil.example' }],
    ['without user verification', { userVerified: false }],
    ['without user presence', { userPresent: false }],
    ['in a frame of another site', { crossOrigin: true }],
    ['that is a registration', { type: 'webauthn.create' }],
    ['with a challenge that was not issued', { challenge: 'A'.repeat(43) }],
    ['signed by another key', { key: strangersKey }],
    ['without a user handle', { userHandle: null }],
    ['with another user handle', { userHandle: userHandle('live', 'acct_1').toString('base64url') }],
  ] as [string, Says][])('is refused %s', async (_name, says) => {
    const authenticator = await register(await running.signIn());
    const before = await running.count('sessions');
    await expect(login(authenticator, says)).rejects.toMatchObject(refused('unauthorized'));
    expect(await running.count('sessions')).toBe(before);
    await login(authenticator);
  });

  test('an answer that names the passkey of another account is refused', async () => {
    const [mine, theirs] = [await register(await running.signIn()), await register(await running.signIn())];
    const response = {
      ...mine.get(await loginOptions()),
      id: theirs.credentialId,
      rawId: theirs.credentialId,
    };
    await expect(running.ask('passkeyLoginVerify', { response })).rejects.toMatchObject(
      refused('unauthorized'),
    );
  });

  test('64 concurrent uses of one answer open one session', async () => {
    const authenticator = await register(await running.signIn());
    const response = authenticator.get(await loginOptions());
    const before = await running.count('sessions');
    const calls = Array.from({ length: 64 }, () => running.ask('passkeyLoginVerify', { response }));
    expect(await outcomes(calls)).toEqual({ ok: 1, unauthorized: 63 });
    expect(await running.count('sessions')).toBe(before + 1);
  });

  test('a challenge of a registration is refused for a sign-in', async () => {
    const session = await running.signIn();
    const authenticator = await register(session);
    const { challenge } = await registrationOptions(session);
    await expect(
      running.ask('passkeyLoginVerify', { response: authenticator.get({ challenge }) }),
    ).rejects.toMatchObject(refused('unauthorized'));
  });

  test('a counter that does not grow is refused while the stored one is above 0, and the owner is notified', async () => {
    const session = await running.signIn();
    await running.ask('updateSettings', { mail_key_events: false }, callerOf(session));
    const authenticator = await register(session, 'Key ring');
    await login(authenticator, { counter: 7 });
    for (const counter of [6, 7, 0]) {
      await expect(login(authenticator, { counter })).rejects.toMatchObject({
        ...refused('unauthorized'),
        message: expect.stringMatching(/^the counter of this passkey went back.*register a new one$/),
      });
    }
    await login(authenticator, { counter: 8 });
    // The settings cannot turn this notice off.
    await untilMailed(session, 'A sign-in with a passkey was refused', '“Key ring”');
  });

  test('of two copies that are used at the same time with one counter, one signs in', async () => {
    const authenticator = await register(await running.signIn());
    const answers = await Promise.all([loginOptions(), loginOptions()]);
    const responses = answers.map((options) => authenticator.get(options, { counter: 3 }));
    const calls = responses.map((response) => running.ask('passkeyLoginVerify', { response }));
    expect(await outcomes(calls)).toEqual({ ok: 1, unauthorized: 1 });
  });

  test('a synced passkey stays at 0', async () => {
    const authenticator = await register(await running.signIn());
    await login(authenticator, { counter: 0 });
    await login(authenticator, { counter: 0 });
  });
});

describe('removal', () => {
  test('a removed passkey is refused, and the owner is notified', async () => {
    const session = await running.signIn();
    const authenticator = await register(session, 'Lost phone');
    const { passkey_id } = (await passkeys(session))[0]!;
    expect(await running.ask('deletePasskey', { passkey_id }, callerOf(session))).toBeNull();
    await expect(login(authenticator)).rejects.toMatchObject(refused('unauthorized'));
    expect(await passkeys(session)).toEqual([]);
    await untilMailed(session, 'A passkey was removed', '“Lost phone”');
    await expect(running.ask('deletePasskey', { passkey_id }, callerOf(session))).rejects.toMatchObject(
      refused('not_found'),
    );
  });

  test('a passkey does not exist for another account', async () => {
    const [mine, theirs] = [await running.signIn(), await running.signIn()];
    const authenticator = await register(theirs);
    const { passkey_id } = (await passkeys(theirs))[0]!;
    await expect(running.ask('deletePasskey', { passkey_id }, callerOf(mine))).rejects.toMatchObject(
      refused('not_found'),
    );
    await login(authenticator);
  });
});

test('an owner who turns mails about keys off gets one mail about that and no other', async () => {
  const session = await running.signIn();
  await running.ask('updateSettings', { mail_key_events: false }, callerOf(session));
  await register(session);
  const other = await running.signIn();
  await register(other);
  await untilMailed(other, 'A passkey was added');
  await untilMailed(session, 'E-mails about keys were turned off');
  const subjects = running.smtp.mailsTo(session.account.email).map(({ subject }) => subject);
  expect(subjects).toEqual(['Sign in to Quittance', 'E-mails about keys were turned off (Quittance)']);
});

test('64 concurrent challenges differ', async () => {
  const options = await atOnce(64, loginOptions);
  expect(new Set(options.map(({ challenge }) => challenge)).size).toBe(64);
});
