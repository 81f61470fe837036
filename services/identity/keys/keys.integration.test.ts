import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ServiceError } from '../../../shared/contract/errors.ts';
import type { Principal } from '../../../shared/contract/principal.ts';
import { cellOf } from '../../../shared/lib/cell.ts';
import { keyHash, parseKeyText } from '../../../shared/lib/tokens/key-text.ts';
import { waitFor } from '../../../test/support/base/wait.ts';
import {
  callerOf,
  codeOf,
  PAYOUT,
  type Session,
  startIdentity,
} from '../../../test/support/fixtures/identity.ts';
import { atOnce, tally } from '../../../test/support/servers/stack.ts';
import { moment } from '../mailer/mail-text.ts';

let running: Awaited<ReturnType<typeof startIdentity>>;
beforeAll(async () => {
  running = await startIdentity();
});
afterAll(() => running.stop());

const HOUR = 3600;
/** Services and delegates share the rules of keys, so both are tested. */
type Made = { session: Session; owner: Principal & { kind: 'jwt' }; id: string; apiKey: string };
type Kind = 'service' | 'delegate';

const make = async (kind: Kind, session?: Session): Promise<Made> => {
  const signedIn = session ?? (await running.signIn());
  const owner = callerOf(signedIn);
  if (kind === 'service') {
    const body = { name: 'Weather', price: '2500000', payout_address: PAYOUT };
    const made = await running.ask('createService', body, owner);
    return { session: signedIn, owner, id: made.service_id, apiKey: made.api_key };
  }
  const body = { name: 'Robot', wallet_id: running.newWallet(owner.account_id), limits: { daily: '5' } };
  const made = await running.ask('createDelegate', body, owner);
  return { session: signedIn, owner, id: made.delegate_id, apiKey: made.api_key };
};
const principalOf = async (apiKey: string) => running.findKey(keyHash(apiKey));
const isValid = async (apiKey: string): Promise<boolean> => (await principalOf(apiKey)) !== null;

type NewKey = { api_key: string; previous_key_expires_at: string | null };
const calls = (kind: Kind) => {
  const byId = (id: string) => (kind === 'service' ? { service_id: id } : { delegate_id: id });
  const ops = {
    rotate: kind === 'service' ? 'rotateServiceKey' : 'rotateDelegateKey',
    reveal: kind === 'service' ? 'revealServiceKey' : 'revealDelegateKey',
    verify: kind === 'service' ? 'verifyServiceReveal' : 'verifyDelegateReveal',
  } as const;
  return {
    byId,
    rotate: (id: string, caller: Principal, body: object = {}) =>
      running.ask(ops.rotate, { ...byId(id), ...body }, caller) as Promise<NewKey>,
    reveal: (id: string, caller: Principal, body: object = {}) =>
      running.ask(ops.reveal, { ...byId(id), ...body }, caller),
    verify: (id: string, token: string) => running.ask(ops.verify, { ...byId(id), token }) as Promise<NewKey>,
  };
};
const mailsAbout = (address: string, subject: RegExp) =>
  running.smtp.mailsTo(address).filter((mail) => subject.test(mail.subject ?? ''));
const untilMailed = (address: string, subject: RegExp, atLeast = 1) =>
  running.mailTo(address, (mail) => subject.test(mail.subject), atLeast);
const linkIn = async (made: Made, count = 1): Promise<string> => {
  const mail = await untilMailed(made.session.account.email, /Your link to a new key/, count);
  const kind = made.id.startsWith('del_') ? 'delegate' : 'service';
  const page = `https://console.quittance.example/reveal?${kind}=${made.id}#token=`;
  expect(mail.text).toContain(page);
  expect(mail.html).toContain(`<a href="${page}`);
  return /#token=(rv_test_[A-Za-z0-9_-]{43})\s/.exec(mail.text)![1]!;
};
const currentKeys = (id: string) =>
  running.count('keys', `coalesce(service_id::text, delegate_id) = '${id}' and revoked_at is null`);
const validKeys = (id: string) =>
  running.count(
    'keys',
    `coalesce(service_id::text, delegate_id) = '${id}' and (revoked_at is null or revoked_at > public.app_now())`,
  );

describe.each(['service', 'delegate'] as const)('keys of a %s', (kind) => {
  const { rotate, reveal, verify } = calls(kind);

  test('a key names its kind, environment and cell, and only its hash is stored', async () => {
    const made = await make(kind);
    for (const text of [made.apiKey, made.id, made.owner.account_id, made.session.access_token])
      expect(cellOf(text)).toBe(7);
    expect(made.apiKey).toMatch(new RegExp(`^${kind === 'service' ? 'vendor' : 'dk'}_test_[0-9A-Za-z]{49}$`));
    expect(parseKeyText(made.apiKey)?.kind).toBe(`${kind}_key`);
    expect(await principalOf(made.apiKey)).toMatchObject({
      kind: `${kind}_key`,
      account_id: made.owner.account_id,
      [`${kind}_id`]: made.id,
    });
    expect(await running.count('keys', `keys::text like '%${made.apiKey.slice(-40)}%'`)).toBe(0);
    await untilMailed(made.session.account.email, /A key was created/);
  });

  test('a rotation by the key itself leaves both valid for 24 h, then only the new one', async () => {
    const made = await make(kind);
    const before = running.now();
    const { api_key, previous_key_expires_at } = await rotate(made.id, (await principalOf(made.apiKey))!);
    expect(Math.abs(Date.parse(previous_key_expires_at!) - before - 24 * HOUR * 1000)).toBeLessThan(10_000);
    expect([await isValid(made.apiKey), await isValid(api_key)]).toEqual([true, true]);
    const mail = await untilMailed(made.session.account.email, /A key was rotated/);
    expect(mail.text).toContain(`works until ${moment(previous_key_expires_at!, new Date())}`);
    expect(mail.text).not.toContain(api_key.slice(-40));
    await running.passSeconds(24 * HOUR - 60);
    expect(await isValid(made.apiKey)).toBe(true);
    await running.passSeconds(60);
    expect([await isValid(made.apiKey), await isValid(api_key)]).toEqual([false, true]);
    // Its holder learns since when it is refused. The holder of another text learns nothing.
    expect(await running.findKeyRefusal(keyHash(made.apiKey))).toEqual({
      refused: 'revoked',
      since: previous_key_expires_at,
    });
    expect(await running.findKeyRefusal(keyHash(api_key))).toBeNull();
    expect(await running.findKeyRefusal('A'.repeat(43))).toBeNull();
  });

  test('a key in its grace period cannot rotate, and the next rotation revokes it', async () => {
    const made = await make(kind);
    const first = (await principalOf(made.apiKey))!;
    const second = await rotate(made.id, first);
    expect(await codeOf(rotate(made.id, first))).toBe('forbidden');
    const third = await rotate(made.id, (await principalOf(second.api_key))!);
    expect(await Promise.all([made.apiKey, second.api_key, third.api_key].map(isValid))).toEqual([
      false,
      true,
      true,
    ]);
    expect(running.revokedHashes()).toContain(keyHash(made.apiKey));
    expect(await codeOf(rotate(made.id, first))).toBe('unauthorized');
  });

  test('only a sign-in may revoke the previous keys with a rotation', async () => {
    const made = await make(kind);
    const key = (await principalOf(made.apiKey))!;
    expect(await codeOf(rotate(made.id, key, { revoke_previous: true }))).toBe('validation_error');
    const second = await rotate(made.id, made.owner);
    const third = await rotate(made.id, made.owner, { revoke_previous: true });
    expect(await Promise.all([made.apiKey, second.api_key, third.api_key].map(isValid))).toEqual([
      false,
      false,
      true,
    ]);
    expect(running.revokedHashes()).toEqual(
      expect.arrayContaining([keyHash(made.apiKey), keyHash(second.api_key)]),
    );
    // Mails of the same moment may arrive in any order.
    await untilMailed(made.session.account.email, /A key was rotated/, 2);
    const texts = mailsAbout(made.session.account.email, /A key was rotated/).map(({ text }) => text);
    expect(texts.filter((text) => text?.includes('The previous keys are revoked.'))).toHaveLength(1);
  });

  test('of 64 concurrent rotations by the key one succeeds, and two keys are valid', async () => {
    const made = await make(kind);
    const key = (await principalOf(made.apiKey))!;
    expect(tally(await atOnce(64, () => codeOf(rotate(made.id, key))))).toEqual({ ok: 1, forbidden: 63 });
    expect([await currentKeys(made.id), await validKeys(made.id)]).toEqual([1, 2]);
  });

  test('during 64 concurrent rotations by a sign-in at most two keys are valid', async () => {
    const made = await make(kind);
    let most = 0;
    let done = false;
    const watch = async () => {
      while (!done) most = Math.max(most, await validKeys(made.id));
    };
    const watching = watch();
    const answers = await atOnce(64, () => rotate(made.id, made.owner)).finally(async () => {
      done = true;
      await watching;
    });
    expect(most).toBe(2);
    const valid = await Promise.all(answers.map(({ api_key }) => isValid(api_key)));
    expect(tally(valid)).toEqual({ true: 2, false: 62 });
    expect(await currentKeys(made.id)).toBe(1);
  });

  test('of 64 concurrent uses of a mailed link one mints a key', async () => {
    const made = await make(kind);
    expect(await reveal(made.id, made.owner)).toEqual({ status: 'sent' });
    const token = await linkIn(made);
    expect([await validKeys(made.id), await isValid(made.apiKey)]).toEqual([1, true]);
    const answers = await atOnce(64, () =>
      verify(made.id, token).then(
        (answer) => answer,
        (error: ServiceError) => error.code,
      ),
    );
    const minted = answers.filter((answer): answer is NewKey => typeof answer !== 'string');
    expect(minted.length).toBe(1);
    expect(new Set(answers.filter((answer) => typeof answer === 'string'))).toEqual(
      new Set(['unauthorized']),
    );
    expect([await isValid(minted[0]!.api_key), await isValid(made.apiKey)]).toEqual([true, true]);
    await untilMailed(made.session.account.email, /A new key was shown/);
    expect(await codeOf(rotate(made.id, (await principalOf(minted[0]!.api_key))!))).toBe('ok');
  });

  test('a link of another owner, a replaced link and an expired link are refused', async () => {
    const [made, other] = [await make(kind), await make(kind)];
    await reveal(made.id, made.owner);
    const first = await linkIn(made);
    await reveal(made.id, made.owner);
    const newest = await linkIn(made, 2);
    expect(await codeOf(verify(made.id, first))).toBe('unauthorized');
    expect(await codeOf(verify(other.id, newest))).toBe('unauthorized');
    expect(await codeOf(verify(made.id, `rv_test_${'A'.repeat(43)}`))).toBe('unauthorized');
    await running.passSeconds(15 * 60);
    expect(await codeOf(verify(made.id, newest))).toBe('unauthorized');
    expect([await validKeys(made.id), await validKeys(other.id)]).toEqual([1, 1]);
  });

  test('a link with revoke_previous revokes the previous keys when it is used, not before', async () => {
    const made = await make(kind);
    await reveal(made.id, made.owner, { revoke_previous: true });
    expect(await isValid(made.apiKey)).toBe(true);
    const { api_key } = await verify(made.id, await linkIn(made));
    expect([await isValid(made.apiKey), await isValid(api_key)]).toEqual([false, true]);
    expect(running.revokedHashes()).toContain(keyHash(made.apiKey));
  });

  test('another account can neither rotate nor reveal the key', async () => {
    const [made, other] = [await make(kind), await make(kind)];
    expect(await codeOf(rotate(made.id, other.owner))).toBe('not_found');
    expect(await codeOf(rotate(made.id, (await principalOf(other.apiKey))!))).toBe('not_found');
    expect(await codeOf(reveal(made.id, other.owner))).toBe('not_found');
    expect(await validKeys(made.id)).toBe(1);
  });
});

test('no table contains a key or the token of a link, and only the mail of the link contains its token', async () => {
  const made = await make('delegate');
  const { reveal, verify } = calls('delegate');
  await reveal(made.id, made.owner);
  const token = await linkIn(made);
  const { api_key } = await verify(made.id, token);
  const dump: unknown[] = [];
  for (const table of ['keys', 'reveal_links', 'mails', 'delegates', 'outbox']) {
    dump.push((await running.admin.query(`select * from identity.${table}`)).rows);
  }
  const text = JSON.stringify(dump);
  for (const secret of [made.apiKey, token, api_key]) expect(text).not.toContain(secret.slice(-40));
  const mails = running.smtp.mailsTo(made.session.account.email);
  expect(mails.filter((mail) => mail.text.includes(token)).length).toBe(1);
  expect(mails.filter((mail) => `${mail.text}${mail.html}`.includes(api_key)).length).toBe(0);
});

test('an account lists its keys with their beginning, last use and end, and its security events', async () => {
  const session = await running.signIn();
  const service = await make('service', session);
  const delegate = await make('delegate', session);
  const { rotate, byId } = calls('service');
  await isValid(delegate.apiKey);
  const rotated = await rotate(service.id, service.owner);
  const keys = await waitFor(
    async () => (await running.ask('listKeys', {}, service.owner)).data,
    (data) => data.some(({ last_used_at }) => last_used_at !== null),
  );
  expect(keys).toEqual([
    {
      key_id: expect.any(String),
      ...byId(service.id),
      delegate_id: null,
      name: 'Weather',
      beginning: rotated.api_key.slice(0, 'vendor_test_'.length + 4),
      current: true,
      created_at: expect.any(String),
      last_used_at: null,
      expires_at: null,
    },
    expect.objectContaining({
      delegate_id: delegate.id,
      service_id: null,
      name: 'Robot',
      beginning: delegate.apiKey.slice(0, 'dk_test_'.length + 4),
      last_used_at: expect.any(String),
    }),
    expect.objectContaining({ current: false, expires_at: rotated.previous_key_expires_at }),
  ]);

  const listEvents = (caller: Principal) => running.ask('listSecurityEvents', {}, caller);
  const { data } = await listEvents(service.owner);
  // The two events of a new delegate are of one moment, so their order is not fixed.
  const kinds = data.map(({ kind }) => kind);
  expect(kinds).toContain('delegate_created');
  expect(kinds.filter((kind) => kind !== 'delegate_created')).toEqual([
    ...['key_rotated', 'key_created', 'key_created', 'signed_in'],
  ]);
  expect(data[0]!.details).toMatchObject({ owner_kind: 'service', owner_id: service.id, name: 'Weather' });
  expect(data.at(-1)!.details).toEqual({ method: 'email' });

  const stranger = callerOf(await running.signIn());
  expect((await running.ask('listKeys', {}, stranger)).data).toEqual([]);
  expect((await listEvents(stranger)).data.map(({ kind }) => kind)).toEqual(['signed_in']);
});

test('the use of a key is recorded once an hour', async () => {
  const made = await make('service');
  const lastUse = async () => (await running.ask('listKeys', {}, made.owner)).data[0]!.last_used_at;
  await isValid(made.apiKey);
  const first = await waitFor(lastUse, (at) => at !== null);
  await running.passSeconds(59 * 60);
  await isValid(made.apiKey);
  await running.passSeconds(2 * 60);
  await isValid(made.apiKey);
  const second = await waitFor(lastUse, (at) => at !== first);
  expect(Date.parse(second!) - Date.parse(first!)).toBeGreaterThan(60 * 60_000);
});
