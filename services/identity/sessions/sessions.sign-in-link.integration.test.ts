import { hostname } from 'node:os';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ServiceError } from '../../../shared/contract/errors.ts';
import { verifyAccessToken } from '../../../shared/lib/tokens/access-token.ts';
import { waitUntil } from '../../../test/support/base/wait.ts';
import { callerOf, startIdentity, tokenIn } from '../../../test/support/fixtures/identity.ts';

let running: Awaited<ReturnType<typeof startIdentity>>;
beforeAll(async () => {
  running = await startIdentity();
});
afterAll(() => running.stop());

const refused = (code: string) => ({ name: 'ServiceError', code });
const outcomes = async (calls: Promise<unknown>[]): Promise<string[]> =>
  (await Promise.allSettled(calls)).map((result) =>
    result.status === 'fulfilled' ? 'ok' : (result.reason as ServiceError).code,
  );

describe('sign-in link', () => {
  test('the mail has the link as text and as HTML', async () => {
    const address = running.newAddress();
    expect(await running.ask('createAccount', { email: address, environment: 'test' })).toEqual({
      status: 'sent',
    });
    const mail = await running.smtp.waitFor(address);
    const link = `https://console.quittance.example/sign-in#token=${tokenIn(mail.text)}`;
    expect(mail).toMatchObject({
      to: [address],
      from: 'no-reply@quittance.example',
      subject: 'Sign in to Quittance',
      text: expect.stringContaining('15 minutes'),
      html: expect.stringContaining(`<a href="${link}" `),
    });
    expect(mail.text).toContain('Test mode');
    expect(mail.headers).toContainEqual(
      expect.objectContaining({ key: 'auto-submitted', value: 'auto-generated' }),
    );
  });

  test('the message has one recipient, both parts, and no data of the sending machine', async () => {
    const address = running.newAddress();
    const token = await running.linkFor(address);
    const { raw } = await running.smtp.waitFor(address);
    const [head, ...rest] = raw.split('\r\n\r\n') as [string, ...string[]];
    const names = head.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n');
    expect(names.map((line) => line.split(':')[0]!.toLowerCase()).toSorted()).toEqual([
      'auto-submitted',
      'content-type',
      'date',
      'from',
      'message-id',
      'mime-version',
      'subject',
      'to',
    ]);
    expect(names).toEqual(
      expect.arrayContaining([
        'From: Quittance <no-reply@quittance.example>',
        `To: ${address}`,
        'Subject: Sign in to Quittance',
        expect.stringMatching(/^Content-Type: multipart\/alternative; boundary="/),
        expect.stringMatching(/^Message-ID: <[0-9a-f-]+@quittance\.example>$/),
      ]),
    );
    const body = rest.join('\r\n\r\n');
    expect(body).toContain('Content-Type: text/plain; charset=utf-8');
    expect(body).toContain('Content-Type: text/html; charset=utf-8');
    expect(body.split('\r\n').every((line) => line.length <= 78 && /^[\x20-\x7e\t]*$/.test(line))).toBe(true);
    expect(head).not.toContain(token.slice(-43));
    // As a whole word, because a short host name may occur inside a token.
    expect(head.split(/[^A-Za-z0-9]+/)).not.toContain(hostname());
  });

  test('a request reads no account, so that answer and duration do not depend on the address', async () => {
    const known = (await running.signIn()).account.email;
    await running.admin.query('begin');
    try {
      // A statement that reads an account now waits for the end of this transaction.
      await running.admin.query('lock table identity.accounts in access exclusive mode');
      const answers = await Promise.all(
        [known, running.newAddress()].flatMap((email) => [
          running.ask('requestMagicLink', { email }),
          running.ask('createAccount', { email }),
        ]),
      );
      expect(answers).toEqual(Array.from({ length: 4 }, () => ({ status: 'sent' })));
    } finally {
      await running.admin.query('rollback');
    }
  });

  test('is sent at once, and not by the next sweep', async () => {
    // A sweep runs once a second, so it cannot send five mails one after another in a second. A
    // busy machine may need several tries.
    await waitUntil(async () => {
      const startedAt = performance.now();
      for (let i = 0; i < 5; i += 1) await running.linkFor(running.newAddress());
      return performance.now() - startedAt < 1000;
    });
  });

  test('the first use of a link creates the account, and the next sign-in finds it', async () => {
    const address = running.newAddress();
    const token = await running.linkFor(address);
    expect(await running.count('accounts', `email = '${address}'`)).toBe(0);
    const first = await running.ask('verifyMagicLink', { token });
    expect(first).toMatchObject({ token_type: 'Bearer', expires_in: 900, account: { email: address } });
    const again = await running.signIn(address);
    expect(again.account).toEqual(first.account);
    expect(again.refresh_token).not.toBe(first.refresh_token);
  });

  test('returns an access token that the gateway can verify', async () => {
    const session = await running.signIn();
    const caller = callerOf(session);
    expect(await verifyAccessToken(session.access_token, { keys: running.keys, now: running.now() })).toEqual(
      {
        accountId: session.account.account_id,
        sessionId: caller.session_id,
        authTime: caller.auth_time,
        amr: ['email'],
        env: 'test',
        expiresAt: expect.any(Number),
      },
    );
    expect(await running.isOpen(session)).toBe(true);
  });

  test('works once: one of 16 concurrent uses succeeds', async () => {
    const token = await running.linkFor(running.newAddress());
    const results = await outcomes(
      Array.from({ length: 16 }, () => running.ask('verifyMagicLink', { token })),
    );
    expect(results.toSorted((a, b) => a.localeCompare(b))).toEqual([
      'ok',
      ...Array.from({ length: 15 }, () => 'unauthorized'),
    ]);
    await expect(running.ask('verifyMagicLink', { token })).rejects.toMatchObject(refused('unauthorized'));
  });

  test('an older link works after others have requested one, and its use ends the others', async () => {
    const address = running.newAddress();
    const owners = await running.linkFor(address);
    const strangers = await running.linkFor(address);
    const results = await outcomes(
      [owners, strangers].map((token) => running.ask('verifyMagicLink', { token })),
    );
    expect(results.toSorted((a, b) => a.localeCompare(b))).toEqual(['ok', 'unauthorized']);
    expect(await running.count('accounts', `email = '${address}'`)).toBe(1);
    for (const token of [owners, strangers])
      await expect(running.ask('verifyMagicLink', { token })).rejects.toMatchObject(refused('unauthorized'));
  });

  test('the newest three links work', async () => {
    const address = running.newAddress();
    const tokens: string[] = [];
    for (let times = 0; times < 4; times += 1) tokens.push(await running.linkFor(address));
    const results = await outcomes(tokens.map((token) => running.ask('readMagicLink', { token })));
    expect(results).toEqual(['unauthorized', 'ok', 'ok', 'ok']);
  });

  test('expires after 15 minutes', async () => {
    const [early, late] = [
      await running.linkFor(running.newAddress()),
      await running.linkFor(running.newAddress()),
    ];
    await running.passSeconds(14 * 60);
    await running.ask('verifyMagicLink', { token: early });
    await running.passSeconds(60);
    await expect(running.ask('verifyMagicLink', { token: late })).rejects.toMatchObject(
      refused('unauthorized'),
    );
  });

  test.each([
    ['never issued', `ml_test_${'A'.repeat(43)}`, 'unauthorized'],
    ['of the other environment', `ml_live_${'A'.repeat(43)}`, 'unauthorized'],
    ['no token', 'hello', 'validation_error'],
  ])('is refused: %s', async (_name, token, code) => {
    await expect(running.ask('verifyMagicLink', { token })).rejects.toMatchObject(refused(code));
  });

  test('is sent to the normalised address', async () => {
    const address = running.newAddress();
    const first = await running.signIn(address);
    await running.ask('requestMagicLink', { email: address.toUpperCase() });
    const token = tokenIn((await running.smtp.waitFor(address, 2)).text);
    expect((await running.ask('verifyMagicLink', { token })).account).toEqual(first.account);
  });

  test.each([
    ['line break and header', 'ada@example.com\r\nBcc: eve@example.com'],
    ['line feed at the end', 'ada@example.com\n'],
    ['two recipients', 'ada@example.com,eve@example.org'],
    ['look-alike before the @', '\u0430da@example.com'],
    ['full-width domain', 'ada@ｅxample.com'],
  ])('is not sent to an address with %s', async (_name, email) => {
    const before = await running.count('login_links');
    await expect(running.ask('requestMagicLink', { email })).rejects.toMatchObject(
      refused('validation_error'),
    );
    expect(await running.count('login_links')).toBe(before);
  });

  test('is sent again after a temporary refusal of the mail server, and deleted after a permanent one', async () => {
    const [later, never] = [running.newAddress(), running.newAddress()];
    running.smtp.refuseNext(451);
    await running.ask('requestMagicLink', { email: later });
    await waitUntil(
      async () => (await running.count('mails', `to_address = '${later}' and attempts = 1`)) === 1,
    );
    await running.passSeconds(3);
    await running.smtp.waitFor(later);
    running.smtp.refuseNext(550);
    await running.ask('requestMagicLink', { email: never });
    await waitUntil(async () => (await running.count('mails')) === 0);
    expect(running.smtp.mailsTo(never)).toEqual([]);
  });

  describe('and the browser that requested it', () => {
    const nonce = (letter: string) => letter.repeat(43);
    const [own, other] = [nonce('A'), nonce('B')];
    /**
     * Returns the token of a link that the browser with this nonce requested. Null: without a
     * nonce.
     */
    const linkOf = async (address: string, browser_nonce: string | null, more: object = {}) => {
      const before = running.smtp.mailsTo(address).length;
      await running.ask('requestMagicLink', {
        email: address,
        ...(browser_nonce !== null && { browser_nonce }),
        ...more,
      });
      return tokenIn((await running.smtp.waitFor(address, before + 1)).text);
    };
    const fromPage = { refresh_in: 'cookie' } as const;

    test('the payment page that requested a link is read with it in any browser, and the mail does not have it', async () => {
      const address = running.newAddress();
      for (const continue_to of [`/pay/test/pl_${'0'.repeat(26)}`, `/pay#${'eyJ9'.repeat(3000)}`]) {
        const token = await linkOf(address, own, { continue_to });
        expect(await running.ask('readMagicLink', { token, browser_nonce: other })).toEqual({
          email: address,
          same_browser: false,
          continue_to,
        });
        expect(running.smtp.mailsTo(address).at(-1)!.raw).not.toContain('/pay');
      }
    });

    test.each([
      ...[
        'https://evil.example/pay#eyJ9',
        '//evil.example/pay#eyJ9',
        '/\\\\evil.example/pay#eyJ9',
        '/pay',
        '/pay#',
      ],
      ...['/pay?x#eyJ9', '/pay/../console#eyJ9', '/console/account', `/pay/test/pl_${'0'.repeat(26)}?next=x`],
      ...[`/pay/test/pl_${'0'.repeat(26)}\n`, 'javascript:alert(1)', '', `/pay#${'e'.repeat(16_384)}`],
    ])('a link leads to no other address: %j', async (continue_to) => {
      const email = running.newAddress();
      await expect(
        running.ask('requestMagicLink', { email, browser_nonce: own, continue_to }),
      ).rejects.toMatchObject(refused('validation_error'));
      expect(await running.count('login_links', `email = '${email}'`)).toBe(0);
    });

    test('the browser that requested a link hears whether it was used, and where, and no other browser does', async () => {
      const [first, second, third] = [nonce('x'), nonce('y'), nonce('z')];
      const follow = async (browser_nonce?: string) =>
        (await running.ask('followMagicLink', browser_nonce === undefined ? {} : { browser_nonce })).status;
      const address = running.newAddress();
      expect([await follow(), await follow(first)]).toEqual(['none', 'none']);
      const token = await linkOf(address, first);
      expect([await follow(first), await follow(second)]).toEqual(['waiting', 'none']);
      await running.ask('verifyMagicLink', { token, ...fromPage, browser_nonce: second, email: address });
      expect([await follow(first), await follow(second)]).toEqual(['used_elsewhere', 'none']);
      // The newest link counts, and a use of another link of the address uses it too.
      const again = await linkOf(address, first);
      expect(await follow(first)).toBe('waiting');
      await linkOf(address, third);
      await running.ask('verifyMagicLink', { token: again, ...fromPage, browser_nonce: first });
      expect([await follow(first), await follow(third)]).toEqual(['used_here', 'used_elsewhere']);
      // A client without a cookie is another one.
      await running.ask('verifyMagicLink', { token: await linkOf(address, first) });
      expect(await follow(first)).toBe('used_elsewhere');
      await running.passSeconds(15 * 60);
      expect(await follow(first)).toBe('none');
    });

    test('a page of that browser signs in without a confirmation', async () => {
      const address = running.newAddress();
      const token = await linkOf(address, own);
      expect(await running.ask('readMagicLink', { token, browser_nonce: own })).toEqual({
        email: address,
        same_browser: true,
        continue_to: null,
      });
      const session = await running.ask('verifyMagicLink', { token, ...fromPage, browser_nonce: own });
      expect(session.account.email).toBe(address);
    });

    test.each([
      ['another browser', own, { browser_nonce: other }],
      ['a browser without a nonce', own, {}],
      ['any browser, for a link that no page requested', null, { browser_nonce: own }],
      ['another browser that names another account', own, { browser_nonce: other, email: 'eve@example.com' }],
    ])('a page of %s signs in only after its address was confirmed', async (_name, asking, opening) => {
      const address = running.newAddress();
      const token = await linkOf(address, asking);
      const { email: _named, ...browser } = opening as { email?: string; browser_nonce?: string };
      for (let times = 0; times < 2; times += 1)
        await expect(
          running.ask('verifyMagicLink', { token, ...fromPage, ...opening }),
        ).rejects.toMatchObject(refused('conflict'));
      // The link was not consumed, and its page can show the account.
      expect(await running.ask('readMagicLink', { token, ...browser })).toEqual({
        email: address,
        same_browser: false,
        continue_to: null,
      });
      const confirmed = { token, ...fromPage, ...browser, email: address };
      expect((await running.ask('verifyMagicLink', confirmed)).account.email).toBe(address);
      await expect(running.ask('verifyMagicLink', confirmed)).rejects.toMatchObject(refused('unauthorized'));
    });

    test('five requests of a stranger do not end a link of a browser that has signed in before', async () => {
      const address = running.newAddress();
      const isKnown = async (browser_nonce: string) =>
        (await running.isKnownBrowser({ email: address.toUpperCase(), browser_nonce })).known;
      const first = await linkOf(address, own);
      expect(await isKnown(own)).toBe(false);
      await running.ask('verifyMagicLink', { token: first, ...fromPage, browser_nonce: own });
      expect([await isKnown(own), await isKnown(other)]).toEqual([true, false]);
      const token = await linkOf(address, own);
      for (let times = 0; times < 5; times += 1) await linkOf(address, other);
      const session = await running.ask('verifyMagicLink', { token, ...fromPage, browser_nonce: own });
      expect(session.account.email).toBe(address);
    });

    test('a browser is known for 180 days, and for the ten newest of an account', async () => {
      const address = running.newAddress();
      const signInFrom = async (browser_nonce: string) => {
        const token = await linkOf(address, browser_nonce);
        await running.ask('verifyMagicLink', { token, ...fromPage, browser_nonce });
      };
      await signInFrom(own);
      for (const letter of 'cdefghijkl') {
        await running.passSeconds(1);
        await signInFrom(nonce(letter));
      }
      const known = (browser_nonce: string) => running.isKnownBrowser({ email: address, browser_nonce });
      expect([await known(own), await known(nonce('c'))]).toEqual([{ known: false }, { known: true }]);
      await running.passSeconds(181 * 86_400);
      expect(await known(nonce('l'))).toEqual({ known: false });
    });

    test('a client that is not a page needs only the token', async () => {
      const address = running.newAddress();
      const token = await linkOf(address, own);
      expect((await running.ask('verifyMagicLink', { token })).account.email).toBe(address);
    });

    test('reading a link does not consume it, and an invalid link is refused', async () => {
      const address = running.newAddress();
      const older = await linkOf(address, own);
      const token = await linkOf(address, own);
      for (let times = 0; times < 3; times += 1)
        expect(await running.ask('readMagicLink', { token })).toEqual({
          email: address,
          same_browser: false,
          continue_to: null,
        });
      expect(await running.count('accounts', `email = '${address}'`)).toBe(0);
      await running.ask('verifyMagicLink', { token });
      for (const gone of [older, token, `ml_test_${'A'.repeat(43)}`])
        await expect(running.ask('readMagicLink', { token: gone })).rejects.toMatchObject(
          refused('unauthorized'),
        );
    });
  });
});
