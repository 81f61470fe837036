import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  type Consumer,
  createConsumer,
  createDelegate,
  createVendor,
  type Delegate,
  type Vendor,
} from '../../deploy/local/seed/actors.ts';
import { createApi, must } from '../../deploy/local/seed/api.ts';
import { approveWith, registerPasskey } from '../support/actors/owner.ts';
import { createShopProject, type Shop } from '../support/actors/shops.ts';
import { DELEGATE_KEY, SERVICE_KEY } from '../support/base/keys.ts';
import { waitFor } from '../support/base/wait.ts';
import { createCommandLine } from '../support/packages/command-line.ts';
import { runningStack } from '../support/servers/stack.ts';

/** The command `quittance` as a person and a script use it, against the whole system. */
const stack = runningStack();
const api = createApi(stack.gateway_url);
const line = createCommandLine(stack);
const { quittance, json } = line;

let project: Awaited<ReturnType<typeof createShopProject>>;
let shop: Shop;
let vendor: Vendor;
let consumer: Consumer;
let delegate: Delegate;
beforeAll(async () => {
  [project, vendor, consumer] = await Promise.all([
    createShopProject(),
    createVendor(api, stack),
    createConsumer(api, stack),
  ]);
  delegate = await createDelegate(api, consumer, { daily: '90000000', total: '90000000' });
  shop = await project.startShop('express', {
    QUITTANCE_URL: stack.gateway_url,
    SERVICE_KEY: vendor.apiKey,
    SERVICE_ID: vendor.serviceId,
    REDIS_URL: stack.redis_url,
  });
  await line.login(consumer.signIn.account.email);
});
afterAll(async () => {
  await project?.stop();
  line.remove();
});

const configFiles = () => {
  const folder = path.join(line.folder, 'config/quittance');
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => path.join(folder, name))
    .filter((file) => statSync(file).isFile());
};
const signInFile = () => configFiles().find((file) => file.endsWith('.test.json'))!;
type Stored = { access_token: string; refresh_token: string };
const storedSignIn = () => JSON.parse(readFileSync(signInFile(), 'utf8')) as Stored;
const spent = async (): Promise<bigint> => {
  const { body } = await api<Delegate>('GET /v1/delegates/me', { token: delegate.api_key });
  return BigInt(body.usage.total.spent);
};

describe('sign-in', () => {
  test('login stores the tokens in a file that only its owner can read, and prints none of them', async () => {
    const other = createCommandLine(stack);
    const { code, out, err } = await other.login(consumer.signIn.account.email);
    expect([code, out]).toEqual([0, `Signed in to test as ${consumer.signIn.account.email}.\n`]);
    expect(`${out}${err}`).not.toMatch(/rt_test|eyJ/);
    expect(statSync(signInFile()).mode & 0o777).toBe(0o600);
    expect(statSync(path.dirname(signInFile())).mode & 0o777).toBe(0o700);

    expect(await other.json(['whoami'])).toMatchObject({
      kind: 'account',
      account_id: consumer.signIn.account.account_id,
      environment: 'test',
    });
    expect((await other.quittance(['logout'])).out).toBe('Signed out of test.\n');
    expect(await other.quittance(['whoami'])).toMatchObject({
      code: 3,
      out: '',
      err: expect.stringMatching(/^Error: not signed in to test at .*\nNext: Run `quittance login`\.\n$/),
    });
    other.remove();
  });

  test('a denied sign-in ends with 3 and stores nothing', async () => {
    const other = createCommandLine(stack);
    expect(await other.login(consumer.signIn.account.email, false)).toMatchObject({
      code: 3,
      err: expect.stringContaining('the sign-in of the device was denied'),
    });
    expect((await other.quittance(['whoami'])).code).toBe(3);
    other.remove();
  });

  test('a second login ends the sign-in that it replaces', async () => {
    const other = createCommandLine(stack);
    await other.login(consumer.signIn.account.email);
    await other.login(consumer.signIn.account.email);
    const { data } = (
      await api<{ data: { method: string }[] }>('GET /v1/accounts/me/sessions', { token: consumer.token })
    ).body;
    // This one, and that of the suite.
    expect(data.filter(({ method }) => method === 'device')).toHaveLength(2);
    await other.quittance(['logout']);
    other.remove();
  });

  test('commands that run at once with an expired access token keep the sign-in', async () => {
    for (let round = 0; round < 3; round += 1) {
      const held = storedSignIn();
      writeFileSync(signInFile(), JSON.stringify({ ...held, access_token: 'expired' }));
      const all = await Promise.all(Array.from({ length: 6 }, () => quittance(['whoami', '--json'])));
      expect(all.map(({ code, err }) => [code, err])).toEqual(all.map(() => [0, '']));
      // One of them has exchanged it, once.
      const generation = (text: string) => Number(/^rt_test_[^_]+_(\d+)_/.exec(text)?.[1]);
      expect(generation(storedSignIn().refresh_token)).toBe(generation(held.refresh_token) + 1);
    }
    expect(configFiles().filter((file) => /\.(lock|tmp)$/.test(file))).toEqual([]);
  });

  test('a sign-in that was ended elsewhere is reported, and the next login works', async () => {
    const other = createCommandLine(stack);
    await other.login(consumer.signIn.account.email);
    const { session_id } = await must(
      api<{ data: { session_id: string; method: string }[] }>('GET /v1/accounts/me/sessions', {
        token: consumer.token,
      }),
      'sessions',
    ).then(({ data }) => data.find(({ method }) => method === 'device')!);
    await must(api(`DELETE /v1/accounts/me/sessions/${session_id}`, { token: consumer.token }), 'revoke');
    expect(await other.quittance(['whoami'])).toMatchObject({
      code: 3,
      err: expect.stringContaining('Next: Run `quittance login`'),
    });
    expect((await other.login(consumer.signIn.account.email)).code).toBe(0);
    other.remove();
  });
});

describe('pay', () => {
  test('the body goes to standard output and the receipt to standard error', async () => {
    const before = await spent();
    const { code, out, err } = await quittance(['pay', `${shop.url}/report?city=Ulm`], {
      key: delegate.api_key,
    });
    expect([code, JSON.parse(out)]).toMatchObject([0, { report: 'All is well in Ulm.' }]);
    expect(err).toMatch(/^Paid 0\.05 USDC to Weather API\nSettlement stl_\w+\nTransaction \w+\n$/);
    expect((await spent()) - before).toBe(50_000n);
  });

  test('a body is sent by -d, a header by -H, and the sign-in pays without a key', async () => {
    const paid = await json<{ status: number; body: string; receipt: { amount: string } }>([
      'pay',
      `${shop.url}/report`,
      '-d',
      '{"city":"Bonn"}',
      '-H',
      'x-note: hello',
    ]);
    expect(paid).toMatchObject({
      status: 200,
      receipt: { amount: '500000', rail: 'quittance', confirmed: true },
    });
    expect(JSON.parse(paid.body)).toMatchObject({ report: 'All is well in Bonn.' });
  });

  test('-o writes the body to a file, -i shows the status and the headers', async () => {
    const args = ['pay', `${shop.url}/report?city=Jena`];
    const file = path.join(line.folder, 'report.json');
    expect((await quittance([...args, '-o', file], { key: delegate.api_key })).out).toBe('');
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ report: 'All is well in Jena.' });
    const { out } = await quittance([...args, '-i'], { key: delegate.api_key });
    expect(out).toMatch(/^HTTP 200 OK\r\n[\s\S]*content-type: application\/json[\s\S]*\r\n\r\n\{/);
  });

  test('a price above --max is refused with 4 and the next command; nothing is paid', async () => {
    const before = await spent();
    const refused = await quittance(['pay', `${shop.url}/report?city=Ulm`, '--max', '0.01'], {
      key: delegate.api_key,
    });
    expect(refused).toMatchObject({
      code: 4,
      out: '',
      err: expect.stringContaining('repeat the command with --max 0.05'),
    });
    expect(await spent()).toBe(before);
  });

  test('with --key, a payment that was not delivered is presented again by the next command', async () => {
    const before = await spent();
    const args = ['pay', `${shop.url}/report?city=Oops`, '--key', 'order-1042'];
    const first = await quittance(args, { key: delegate.api_key });
    const second = first.code === 0 ? first : await quittance(args, { key: delegate.api_key });
    expect([second.code, JSON.parse(second.out)]).toMatchObject([0, { report: 'All is well in Oops.' }]);
    expect((await spent()) - before).toBe(50_000n);
  });

  test('equal commands at once buy one each', async () => {
    const before = await spent();
    const args = ['pay', `${shop.url}/report?city=Trier`];
    const all = await Promise.all([1, 2, 3].map(() => quittance(args, { key: delegate.api_key })));
    expect(all.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect((await spent()) - before).toBe(150_000n);
  });

  test('an answer of 404 is printed, and the command ends with 1', async () => {
    const { code, err } = await quittance(['pay', `${shop.url}/nothing`], { key: delegate.api_key });
    expect([code, err]).toEqual([1, 'Error: the server answered 404\n']);
  });

  test('a delegate with an approval threshold ends with 7, names the approval, and its owner sees it', async () => {
    const careful = await createDelegate(api, consumer, { daily: '90000000' }, { approval_above: '1' });
    const { code, err } = await quittance(['pay', `${shop.url}/report?city=Ulm`, '--json'], {
      key: careful.api_key,
    });
    const { error } = JSON.parse(err) as { error: { code: string; approval_id: string } };
    expect([code, error.code]).toEqual([7, 'approval_required']);
    const { data } = await json<{ data: { approval_id: string; status: string }[] }>(['approvals', 'list']);
    expect(data[0]).toMatchObject({ approval_id: error.approval_id, status: 'awaiting_approval' });
    expect((await quittance(['approvals', 'deny', error.approval_id])).out).toMatch(/^Denied: 0\.05 USDC/);
    expect((await quittance(['approvals', 'approve', error.approval_id])).out).toContain(
      `${stack.gateway_url.replace('127.0.0.1', 'localhost')}/console/approvals/${error.approval_id}`,
    );
  });

  describe('--wait', () => {
    let key: string;
    beforeAll(async () => {
      const limits = { daily: '90000000' };
      key = (await createDelegate(api, consumer, limits, { approval_above: '1' })).api_key;
    });
    const waiting = async (city: string) => {
      const started = line.start(['pay', `${shop.url}/report?city=${city}`, '--wait'], { key });
      const approval = await waitFor(
        () => /console\/approvals\/(apr_\w+)/.exec(started.said.err)?.[1] ?? null,
        (found) => found !== null,
      );
      return { ...started, approval: approval! };
    };

    test('pays when the owner has approved', async () => {
      const { token } = consumer;
      const passkey = await registerPasskey(api, stack, token);
      const { approval, ended, said } = await waiting('Worms');
      expect(said.err).toContain('The owner must approve 0.05 USDC to ');
      await must(approveWith(api, { ...passkey, token }, approval), 'approve');
      expect(await ended).toMatchObject({ code: 0, out: expect.stringContaining('All is well in Worms.') });
      const { body } = await api<{ settlement_id: string }>(`GET /v1/approvals/${approval}`, { token });
      expect(said.err).toContain(`Settlement ${body.settlement_id}`);
    });

    test('ends as a payment that was refused when the owner denies', async () => {
      const { approval, ended } = await waiting('Speyer');
      expect((await quittance(['approvals', 'deny', approval])).code).toBe(0);
      const { code, err } = await ended;
      expect([code, err]).toEqual([4, expect.stringContaining('Money moved: no')]);
    });

    test('Ctrl-C says what holds, and the repeat of the command goes on with the same approval', async () => {
      const first = await waiting('Mainz');
      first.child.kill('SIGINT');
      const { code, err } = await first.ended;
      expect([code, err]).toEqual([130, expect.stringContaining(`approval ${first.approval} stays open`)]);
      expect(err).toContain('Money moved: no');
      const second = await waiting('Mainz');
      expect(second.approval).toBe(first.approval);
    });
  });
});

test('quote, settle and redeem make one payment, with tokens passed by standard input', async () => {
  const quote = await json<{ quote_token: string; quote_amount: string }>(
    ['quote', vendor.serviceId, '--amount', '0.25', '--scope', '{"resource":"https://api.example.com/x"}'],
    { key: vendor.apiKey },
  );
  expect(quote.quote_amount).toBe('250000');
  const settle = ['settle', '-', '--attempt', `cli-${Date.now()}`];
  const paid = await json<{ settlement_token: string; settlement_id: string }>(settle, {
    key: delegate.api_key,
    input: `${quote.quote_token}\n`,
  });
  // The repeat of the attempt is the same settlement.
  expect(await json(settle, { key: delegate.api_key, input: quote.quote_token })).toMatchObject({
    settlement_id: paid.settlement_id,
  });
  const redeemed = await quittance(['redeem', '-'], { key: vendor.apiKey, input: paid.settlement_token });
  expect(redeemed.out).toMatch(/Deliver +yes/);
  const again = await quittance(['redeem', paid.settlement_token], { key: vendor.apiKey });
  expect([again.code, again.out]).toEqual([1, '']);
  expect(again.err).toMatch(/was redeemed before.*Do not deliver again/);
  const { data } = await json<{ data: { settlement_id: string }[] }>(['payments', 'list', '--limit', '1'], {
    key: delegate.api_key,
  });
  expect(data.map(({ settlement_id }) => settlement_id)).toEqual([paid.settlement_id]);
  const listed = (await quittance(['payments', 'list', '--limit', '1'], { key: delegate.api_key })).out;
  expect(listed).toMatch(/https:\/\/api\.example\.com\/x +0\.25 USDC +delivered$/m);
  for (const key of [delegate.api_key, vendor.apiKey]) {
    const { out } = await quittance(['receipt', paid.settlement_id], { key });
    expect(out).toMatch(/For +https:\/\/api\.example\.com\/x/);
    expect(out).toMatch(/Signature +valid, of the test environment/);
    expect(out).toContain(`${stack.gateway_url}/receipt#`);
  }
});

describe('wrong input', () => {
  test.each([
    [['pay'], {}, 2, /missing required argument 'url'/],
    [['pay', 'ftp://x'], {}, 2, /is not an address like/],
    [['pay', 'https://x.example', '--max', 'a lot'], {}, 2, /--max "a lot": write '\$0\.05'/],
    [
      ['pay', 'https://x.example', '--max-window', '0'],
      {},
      2,
      /--max-window: "0" is not a whole number from 1/,
    ],
    [['fly'], {}, 2, /unknown command 'fly'/],
    [['pya'], {}, 2, /unknown command 'pya' \(Did you mean pay\?\)/],
    [['whoami', '--loud'], {}, 2, /unknown option '--loud'/],
    [['whoami', '--url', 'http://api.example.com'], {}, 2, /plain http is allowed to this machine only/],
    [['whoami', '-e', 'prod'], {}, 2, /--environment: "prod" is neither test nor live/],
    [['whoami'], { key: 'secret-of-another-kind' }, 2, /^Error: QUITTANCE_KEY is not a key/],
    [['whoami'], { key: `${DELEGATE_KEY}\r\n` }, 2, /QUITTANCE_KEY has a space or a line break/],
    [
      ['whoami'],
      { key: DELEGATE_KEY.replace('secret', 'Secret') },
      2,
      /QUITTANCE_KEY is mistyped or incomplete/,
    ],
    [['whoami'], { key: DELEGATE_KEY }, 3, /Next: Run `quittance login`, or check the key/],
    [
      ['whoami'],
      { env: { DELEGATE_KEY: SERVICE_KEY } },
      2,
      /DELEGATE_KEY is a service key, and must be a delegate key\n.*Put it into SERVICE_KEY/s,
    ],
    [['pay', '127.0.0.1:8402/report'], {}, 2, /did you mean http:\/\/127\.0\.0\.1:8402\/report\?/],
    [['pay', 'shop.example.com/a'], {}, 2, /did you mean https:\/\/shop\.example\.com\/a\?/],
    [['pay', 'no words'], {}, 2, /is not an address like https:\/\/api\.example\.com\/report$/m],
    [['delegates', 'create', '--name', 'x'], {}, 2, /a key needs limits: --per-payment, and one of --daily/],
    [['whoami', '--jsno'], {}, 2, /unknown option '--jsno' \(Did you mean --json\?\)/],
    [['quote', 'no-uuid'], { key: SERVICE_KEY }, 3, /Code: unauthorized, request id: /],
    [['quote', 'no-uuid'], {}, 3, /this needs a service key/],
    [
      ['pay', 'https://x.example', '--url', 'http://127.0.0.1:1'],
      { key: SERVICE_KEY },
      3,
      /QUITTANCE_KEY is a service key, which sells/,
    ],
    [['payments'], {}, 2, /^Usage: quittance payments/],
    [['help', 'nonsense'], {}, 2, /^Usage: quittance/],
    [['redeem', 'no-token'], { key: SERVICE_KEY }, 2, /this is no settlement token/],
    [['services', 'show', 'no-uuid'], {}, 1, /service_id: must be a UUID/],
    [['listen', '--forward-to', 'nonsense://x'], {}, 2, /--forward-to: /],
    [
      ['whoami', '--url', 'http://127.0.0.1:1'],
      { key: DELEGATE_KEY },
      1,
      /no answer[\s\S]*Check the address/,
    ],
  ])(
    '%j ends with its code and says what to do',
    async (args, options: { key?: string; env?: Record<string, string> }, code, message) => {
      const ended = await quittance(args as string[], options);
      expect([ended.code, ended.out]).toEqual([code, '']);
      expect(ended.err).toMatch(message);
      expect(ended.err).not.toContain('secret-of-another-kind');
      expect(ended.err).not.toMatch(/[sS]ecretOfThe/);
    },
  );

  test('without arguments it shows the first minute', async () => {
    const { code, out, err } = await quittance([]);
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(/quittance login[\s\S]*quittance pay <url>[\s\S]*quittance listen --forward-to/);
  });

  test('an error is an object with --json', async () => {
    const { code, out, err } = await quittance(['services', 'show', 'no-uuid', '--json']);
    expect([code, out]).toEqual([1, '']);
    expect(JSON.parse(err)).toMatchObject({
      error: {
        code: 'validation_error',
        exit_code: 1,
        details: [{ path: 'service_id' }],
        request_id: expect.any(String),
      },
    });
  });

  test('no output has colours or a progress line without a terminal', async () => {
    const { out, err } = await quittance(['pay', `${shop.url}/report?city=Kiel`], { key: delegate.api_key });
    expect(`${out}${err}`).not.toContain('\u001b');
  });
});
