import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ServiceError } from '../../../shared/contract/errors.ts';
import { createAuthenticator, type Says } from '../../../test/support/authenticator.ts';
import { callerOf, type Session, startIdentity } from '../../../test/support/identity.ts';
import { atOnce, tally } from '../../../test/support/stack.ts';
import { userHandle } from './webauthn.ts';

let running: Awaited<ReturnType<typeof startIdentity>>;
beforeAll(async () => {
  running = await startIdentity();
}, 60_000);
afterAll(() => running.stop(), 30_000);

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

/** A mail to the owner that says this; several go out at once, so their order says nothing. */
const mailSaying = async ({ account }: Session, subject: string, words = '') => {
  const found = () =>
    running.smtp
      .mailsTo(account.email)
      .find((mail) => mail.subject === `${subject} (Quittance)` && mail.text.includes(words));
  for (let n = 1; found() === undefined; n += 1) await running.smtp.waitFor(account.email, n);
  return found()!;
};

describe('registration', () => {
  test('asks for a discoverable credential with user verification, and names no person to the authenticator', async () => {
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

  test('several per account, listed newest first, and the owner is told by mail', async () => {
    const session = await running.signIn();
    await register(session, 'Laptop');
    await register(session, '<b>Phone</b>');
    expect((await passkeys(session)).map(({ label }) => label)).toEqual(['<b>Phone</b>', 'Laptop']);
    const mail = await mailSaying(session, 'A passkey was added', '“<b>Phone</b>”');
    expect(mail.to).toEqual([session.account.email]);
    expect(mail.html).not.toContain('<b>');
  });

  test('needs a fresh sign-in, at both steps', async () => {
    const session = await running.signIn();
    const response = createAuthenticator().create(await registrationOptions(session));
    await running.passSeconds(301);
    await running.clockSeen();
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
    ['with a challenge of nobody', { challenge: 'A'.repeat(43) }],
    ['with NUL as challenge', { challenge: '\0' }],
  ] as [string, Says][])('is refused %s, and writes nothing', async (_name, says) => {
    const session = await running.signIn();
    await expect(register(session, 'Bad', says)).rejects.toMatchObject(refused('validation_error'));
    expect(await passkeys(session)).toEqual([]);
  });

  test('a challenge is for its ceremony, its sign-in and one answer', async () => {
    const [mine, theirs] = [await running.signIn(), await running.signIn()];
    const options = await registrationOptions(mine);
    const response = createAuthenticator().create(options);
    const verify = (session: Session) =>
      running.ask('passkeyRegisterVerify', { response }, callerOf(session));
    await expect(verify(theirs)).rejects.toMatchObject(refused('validation_error'));
    // Used up by the wrong one, too.
    await expect(verify(mine)).rejects.toMatchObject(refused('validation_error'));
    const ofLogin = createAuthenticator().create({ ...(await loginOptions()), user: options.user });
    await expect(
      running.ask('passkeyRegisterVerify', { response: ofLogin }, callerOf(mine)),
    ).rejects.toMatchObject(refused('validation_error'));
  });

  test('64 answers to one challenge: one passkey', async () => {
    const session = await running.signIn();
    const response = createAuthenticator().create(await registrationOptions(session));
    const calls = Array.from({ length: 64 }, () =>
      running.ask('passkeyRegisterVerify', { response }, callerOf(session)),
    );
    expect(await outcomes(calls)).toEqual({ ok: 1, validation_error: 63 });
    expect(await passkeys(session)).toHaveLength(1);
  });

  test('a challenge ends after 5 minutes', async () => {
    const authenticator = await register(await running.signIn());
    const options = await loginOptions();
    await running.passSeconds(300);
    await expect(
      running.ask('passkeyLoginVerify', { response: authenticator.get(options) }),
    ).rejects.toMatchObject(refused('unauthorized'));
  });

  test('at most 20 per account', async () => {
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
  test('opens a session of the account, as fresh as a mailed link', async () => {
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
    ['with a challenge of nobody', { challenge: 'A'.repeat(43) }],
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

  test('the passkey of another under its own name is refused', async () => {
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

  test('64 times the same answer: one session', async () => {
    const authenticator = await register(await running.signIn());
    const response = authenticator.get(await loginOptions());
    const before = await running.count('sessions');
    const calls = Array.from({ length: 64 }, () => running.ask('passkeyLoginVerify', { response }));
    expect(await outcomes(calls)).toEqual({ ok: 1, unauthorized: 63 });
    expect(await running.count('sessions')).toBe(before + 1);
  });

  test('a challenge of a registration signs nobody in', async () => {
    const session = await running.signIn();
    const authenticator = await register(session);
    const { challenge } = await registrationOptions(session);
    await expect(
      running.ask('passkeyLoginVerify', { response: authenticator.get({ challenge }) }),
    ).rejects.toMatchObject(refused('unauthorized'));
  });

  test('a counter that goes back is refused while the stored one is above 0, and the owner is told', async () => {
    const session = await running.signIn();
    await running.ask('updateSettings', { mail_key_events: false }, callerOf(session));
    const authenticator = await register(session, 'Key ring');
    await login(authenticator, { counter: 7 });
    for (const counter of [6, 7, 0]) {
      await expect(login(authenticator, { counter })).rejects.toMatchObject(refused('unauthorized'));
    }
    await login(authenticator, { counter: 8 });
    // An alarm comes whatever the settings say.
    await mailSaying(session, 'A sign-in with a passkey was refused', '“Key ring”');
  });

  test('two copies at once with one counter: one signs in', async () => {
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
  test('a removed passkey signs nobody in, and the owner is told', async () => {
    const session = await running.signIn();
    const authenticator = await register(session, 'Lost phone');
    const { passkey_id } = (await passkeys(session))[0]!;
    expect(await running.ask('deletePasskey', { passkey_id }, callerOf(session))).toBeNull();
    await expect(login(authenticator)).rejects.toMatchObject(refused('unauthorized'));
    expect(await passkeys(session)).toEqual([]);
    await mailSaying(session, 'A passkey was removed', '“Lost phone”');
    await expect(running.ask('deletePasskey', { passkey_id }, callerOf(session))).rejects.toMatchObject(
      refused('not_found'),
    );
  });

  test("another account's does not exist", async () => {
    const [mine, theirs] = [await running.signIn(), await running.signIn()];
    const authenticator = await register(theirs);
    const { passkey_id } = (await passkeys(theirs))[0]!;
    await expect(running.ask('deletePasskey', { passkey_id }, callerOf(mine))).rejects.toMatchObject(
      refused('not_found'),
    );
    await login(authenticator);
  });
});

test('the owner who wants no mails about keys gets none, and is told of that alone', async () => {
  const session = await running.signIn();
  await running.ask('updateSettings', { mail_key_events: false }, callerOf(session));
  await register(session);
  const other = await running.signIn();
  await register(other);
  await mailSaying(other, 'A passkey was added');
  await mailSaying(session, 'Mails about keys were turned off');
  const subjects = running.smtp.mailsTo(session.account.email).map(({ subject }) => subject);
  expect(subjects).toEqual(['Sign in to Quittance', 'Mails about keys were turned off (Quittance)']);
});

test('64 challenges at once are 64 different ones', async () => {
  const options = await atOnce(64, loginOptions);
  expect(new Set(options.map(({ challenge }) => challenge)).size).toBe(64);
});
