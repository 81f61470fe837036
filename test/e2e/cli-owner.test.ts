import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { type Consumer, createConsumer, createVendor, type Vendor } from '../../deploy/local/seed/actors.ts';
import { createApi, must } from '../../deploy/local/seed/api.ts';
import { waitFor, waitUntil } from '../support/base/wait.ts';
import { createCommandLine } from '../support/packages/command-line.ts';
import { answer, type Receiver, startReceiver } from '../support/servers/receiver.ts';
import { runningStack } from '../support/servers/stack.ts';

/** The command `quittance` of an owner: events on this machine, services and delegates. */
const stack = runningStack();
/** Sign-ins and passkeys belong to this name of the machine. */
const consoleUrl = `${stack.gateway_url.replace('127.0.0.1', 'localhost')}/console`;
const api = createApi(stack.gateway_url);
const line = createCommandLine(stack);
const { quittance, json } = line;

const PAYEE = 'Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u';
let vendor: Vendor;
let consumer: Consumer;
/** A service of the consumer's account, which a sign-in of the command line cannot create. */
let service: { service_id: string; api_key: string };
beforeAll(async () => {
  [vendor, consumer] = await Promise.all([createVendor(api, stack), createConsumer(api, stack)]);
  const body = { name: 'Maps', price: '500000', payout_address: vendor.payout.publicKey.toBase58() };
  const { token } = consumer;
  service = await must(api<typeof service>('POST /v1/services', { token, body }), 'create the service');
  await line.login(consumer.signIn.account.email);
});
afterAll(() => line.remove());

describe('events', () => {
  const receivers: Receiver[] = [];
  afterEach(async () => {
    for (const receiver of receivers.splice(0)) await receiver.stop();
  });
  const trigger = (type: string) =>
    json<{ object_id: string }>(['trigger', type, '--service', service.service_id], { key: service.api_key });
  const receiving = async (behave: Parameters<typeof startReceiver>[0]) => {
    const receiver = await startReceiver(behave);
    receivers.push(receiver);
    return receiver;
  };

  test('listen forwards a triggered event with a valid signature, once, and repeats it until it is accepted', async () => {
    let refusals = 2;
    const receiver = await receiving((response, request) => {
      const refuse = request.body.includes('settlement.redeemed') && refusals > 0;
      if (refuse) refusals -= 1;
      answer(refuse ? 500 : 204)(response, request);
    });
    const { child, said, ended } = line.start(['listen', '--forward-to', `${receiver.url}/hooks`]);
    const secret = await waitFor(
      () => /Secret: (whsec_\S+)/.exec(said.out)?.[1] ?? null,
      (found) => found !== null,
    );
    const made = await trigger('settlement.redeemed');
    const eventsOf = () =>
      receiver.received.map(({ headers, body }) => {
        expect(new Webhook(secret!).verify(body, headers)).toBeTruthy();
        return JSON.parse(body) as {
          id: string;
          type: string;
          data: { role?: string; settlement_id?: string };
        };
      });
    const redeemed = () => eventsOf().filter(({ type }) => type === 'settlement.redeemed');
    // The account is payer and vendor, so it gets the event twice, and one of the first two answers
    // was a refusal each.
    await waitFor(redeemed, (events) => events.length >= 4, 60_000);
    expect(redeemed().map(({ data }) => data.settlement_id)).toEqual(redeemed().map(() => made.object_id));
    await waitUntil(() => said.out.split('\n').filter((each) => each.startsWith('204')).length >= 5, {
      withinMs: 60_000,
    });
    expect(said.out).toMatch(/500 {2}settlement\.redeemed .*, again in 0\.5 s/);
    child.kill('SIGINT');
    expect((await ended).code).toBe(0);
    const accepted = new Map<string, number>();
    for (const { id } of eventsOf()) accepted.set(id, (accepted.get(id) ?? 0) + 1);
    expect(
      [...accepted.values()].filter((times) => times > 1).reduce((sum, times) => sum + times - 1, 0),
    ).toBe(2);
  });

  test('--events selects types and --count ends the command', async () => {
    const receiver = await receiving(answer(200));
    const { said, ended } = line.start([
      ...['listen', '--forward-to', receiver.url, '--events', 'delegate.*', '--count', '3', '--json'],
    ]);
    await waitUntil(() => said.out.includes('"listening":true'), { withinMs: 30_000 });
    await trigger('quote.settled');
    // No service is paid.
    await json(['trigger', 'delegate.updated']);
    expect((await ended).code).toBe(0);
    const types = receiver.received.map(({ body }) => (JSON.parse(body) as { type: string }).type);
    expect([...types].sort()).toEqual(['delegate.created', 'delegate.deleted', 'delegate.updated']);
  });

  test('trigger makes an approval and its denial', async () => {
    const { object_id } = await trigger('approval.decided');
    expect(object_id).toMatch(/^apr_/);
  });

  test('trigger makes a declined payment, which is listed with its reason', async () => {
    const { object_id } = await trigger('settlement.declined');
    const { data } = await json<{ data: object[] }>(['declines', 'list']);
    expect(data[0]).toMatchObject({
      decline_id: object_id,
      reason: 'total',
      limit: { limit: '1', left: '1' },
    });
    expect((await quittance(['declines', 'list'])).out).toContain('total');
  });

  test('requests lists the refused call, and keys the key that made it', async () => {
    type Call = { code: string; credential: string; request_id: string };
    const [refused] = await waitFor(
      async () => (await json<{ data: Call[] }>(['requests', 'list', '--refused'])).data,
      (data) => data.length > 0,
    );
    expect(refused).toMatchObject({ code: 'limit_exceeded', credential: 'delegate_key' });
    expect((await quittance(['requests', 'list', '--refused'])).out).toContain(refused!.request_id);
    const keys = await json<{ data: { beginning: string; last_used_at: string | null }[] }>(['keys', 'list']);
    expect(keys.data.length).toBeGreaterThan(0);
    expect((await quittance(['keys', 'list'])).out).toContain(`${keys.data[0]!.beginning}…`);
  });

  test('trigger makes a payment that the chain refuses', async () => {
    const { object_id } = await trigger('settlement.failed');
    const { data } = await json<{ data: { settlement_id: string; status: string }[] }>(['payments', 'list']);
    expect(data).toContainEqual(expect.objectContaining({ settlement_id: object_id, status: 'failed' }));
    const { out } = await quittance(['payments', 'list']);
    expect(out).toMatch(/\d\dT\d\d:\d\d:\d\dZ /);
    expect(out).not.toMatch(/\.\d{3}Z/);
  });

  test.each([
    [['trigger', 'settlement.reversed'], /cannot be triggered: it needs a fork/],
    [['trigger', 'refund.failed'], /cannot be triggered: it needs the signature of the payout address/],
    [['trigger', 'settlement.paid'], /"settlement.paid" is not an event/],
    [['trigger'], /name an event/],
    [['trigger', 'key.rotated'], /cannot be triggered: it needs a rotation/],
    [['trigger', 'quote.expired', '-e', 'live'], /works in the test environment only/],
  ])('%j is refused with 2', async (args, message) => {
    const { code, err } = await quittance(args);
    expect(code).toBe(2);
    expect(err).toMatch(message);
  });
});

describe('services and delegates', () => {
  test('a service is listed and shown without its key, and created in the console', async () => {
    const { out: create } = await quittance(['services', 'create']);
    expect(create).toContain(`${consoleUrl}/services`);
    const created = service;
    const { out } = await quittance(['services', 'list']);
    expect(out).toMatch(
      new RegExp(
        `^SERVICE +NAME +PRICE +YOU RECEIVE +STATUS\n${created.service_id} +Maps +0\\.50 USDC +0\\.49 USDC +active`,
      ),
    );
    const shown = await quittance(['services', 'show', created.service_id]);
    expect(shown.out).toMatch(/Name +Maps/);
    expect(shown.out).toMatch(/You receive +0\.49 USDC/);
    expect(`${out}${shown.out}`).not.toContain('vendor_test_');
    expect(await json(['whoami'], { key: created.api_key })).toMatchObject({ kind: 'service_key' });
  });

  test('a delegate of the default wallet is created right after a sign-in, with limits in USDC, within those of a device', async () => {
    const fresh = createCommandLine(stack);
    await fresh.login(consumer.signIn.account.email);
    const created = await fresh.json<{ api_key: string; delegate_id: string; limits: object }>([
      ...['delegates', 'create', '--name', 'Agent', '--per-payment', '0.50', '--daily', '$5'],
      ...['--approval-above', '$2', '--external', PAYEE],
    ]);
    expect(created).toMatchObject({
      limits: { per_payment: '500000', daily: '5000000', monthly: null, total: null },
      approval_above: '2000000',
      external: { pay_to: [PAYEE], origins: null },
    });
    const { delegate_id } = created;
    expect((await fresh.quittance(['delegates', 'pause', delegate_id])).out).toBe('“Agent” is paused.\n');
    // The owner resumes it in the console.
    expect((await fresh.quittance(['delegates', 'resume'])).out).toContain('/console/delegates');
    const token = consumer.token;
    await must(api(`PATCH /v1/delegates/${delegate_id}`, { token, body: { paused: false } }), 'resume');
    const unlimited = await fresh.quittance([
      ...['delegates', 'create', '--name', 'Greedy', '--per-payment', '11.00', '--daily', '50.00'],
    ]);
    expect([unlimited.code, unlimited.err]).toEqual([
      1,
      expect.stringMatching(/only with a limit per_payment of at most 10 USDC.*in the console/s),
    ]);
    const { out } = await fresh.quittance(['whoami'], { key: created.api_key });
    expect(out).toMatch(/Daily +5\.00 USDC, 5\.00 USDC left/);
    expect((await fresh.quittance(['delegates', 'list'])).out).toMatch(/Agent +0\.00 USDC +5\.00 USDC/);
    fresh.remove();
  });
});

describe('leaving', () => {
  test('the account is exported to a private file, and closed in the console', async () => {
    const leaver = createCommandLine(stack);
    const { signIn } = await createVendor(api, stack, { name: 'Old maps' });
    await leaver.login(signIn.account.email);
    const file = path.join(leaver.folder, 'account.ndjson');
    expect((await leaver.quittance(['account', 'export', '--output', file])).code).toBe(0);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const lines = readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { from: string; data: object });
    expect(lines).toContainEqual({
      from: 'identity.getAccount',
      data: expect.objectContaining({ email: signIn.account.email }),
    });
    expect(lines).toContainEqual({
      from: 'identity.listServices',
      data: expect.objectContaining({ name: 'Old maps' }),
    });
    // The owner hears of it, also in the export itself.
    expect(lines).toContainEqual({
      from: 'identity.listSecurityEvents',
      data: expect.objectContaining({ kind: 'export_made', details: { of: 'account' } }),
    });
    // An existing file is not overwritten.
    expect((await leaver.quittance(['account', 'export', '--output', file])).code).toBe(1);

    const { out } = await leaver.quittance(['account', 'close']);
    expect(out).toContain(`${consoleUrl}/account`);
    leaver.remove();
  });
});
