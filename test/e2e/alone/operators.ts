import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from '@jest/globals';
import {
  type Consumer,
  createConsumer,
  createVendor,
  quoteOf,
  settleWith,
  type Vendor,
} from '../../../deploy/local/seed/actors.ts';
import { createApi, must } from '../../../deploy/local/seed/api.ts';
import { signIn } from '../../../deploy/local/seed/sign-in.ts';
import type { RunningStack } from '../../../deploy/local/stack/stack.ts';
import type { Process } from '../../../shared/bus/builds.ts';
import { newNkeySeed } from '../../../shared/bus/nkey.ts';
import { inOne } from '../../support/base/in-one.ts';
import { waitFor } from '../../support/base/wait.ts';
import { externalServers } from '../../support/jest/external-servers.ts';
import { type Ops, opsAt } from '../../support/packages/ops.ts';
import { everyReplicaApplies, RATE_LIMIT_SCALE } from './stack.ts';

/** A limit of an account on this stack, and the same raised threefold. */
const [POLICY, RAISED] = [`${120 * RATE_LIMIT_SCALE}`, `${360 * RATE_LIMIT_SCALE}`] as const;

/**
 * `npm run ops`, on a stack with two gateways and two settlements.
 * @param stack the running stack, once it is started
 */
export const operators = (stack: () => RunningStack): void =>
  describe('operators', () => {
    let running: RunningStack;
    let vendor: Vendor;
    let consumer: Consumer;
    let ops: (...args: string[]) => Promise<Ops>;
    const apis = () => running.stack.gateway_urls.map((url) => createApi(url));
    const api = () => apis()[0]!;

    beforeAll(async () => {
      running = stack();
      ops = opsAt(running.stackFile);
      [vendor, consumer] = await Promise.all([
        createVendor(api(), running.stack),
        createConsumer(api(), running.stack),
      ]);
    }, 90_000);

    /** Makes a change as the operator jane and returns its answer. */
    const change = async (...args: string[]): Promise<unknown> => {
      const done = await ops(...args, '--reason', 'ticket 1042', '--as', 'jane', '--yes', '--json');
      expect({ args, code: done.code, err: done.code === 0 ? '' : done.err }).toEqual({
        args,
        code: 0,
        err: '',
      });
      return JSON.parse(done.out);
    };
    type Refused = { error?: { code: string; message: string; money_moved?: string } };
    /** Makes the same call at every gateway. */
    const everywhere = async (route: `${'GET' | 'POST'} /${string}`, token: string, body?: object) =>
      Promise.all(
        apis().map(async (call) => {
          const answer = await call<Refused>(route, { token, ...(body && { body }) });
          return { status: answer.status, code: answer.body.error?.code };
        }),
      );

    type Status = { missing: string[]; unread: string[]; failed: string[]; queues: { known: boolean }[] };
    const status = async () => {
      const { code, out, err } = await ops('status', '--json');
      return { code, err, ...(JSON.parse(out) as Status) };
    };

    test('status is one screen of the figures of the metrics, and names a service that hangs', async () => {
      expect(await status()).toMatchObject({ code: 0, missing: [], unread: [], failed: [] });
      expect((await status()).queues.map(({ known }) => known)).toEqual(Array(6).fill(true));
      const { code, out } = await ops('status');
      const lines = out.trimEnd().split('\n');
      expect([code, lines.length < 24, lines.filter((line) => line.length > 120)]).toEqual([0, true, []]);
      expect(out).toMatch(/^lanes +settlement 16\/16 by 1 of 2, chain-submitter 16\/16 by 1 of 1$/m);
      expect(out).toMatch(/^fee payers +\d+\.\d{4} SOL, /m);
      expect(out).toMatch(/^readiness +all 8 programs answer$/m);

      const pid = running.stack.processes.webhook!;
      process.kill(pid, 'SIGSTOP');
      try {
        const hanging = await status();
        expect(hanging).toMatchObject({ code: 1, missing: ['webhook'], failed: [] });
        expect((await ops('status')).out).toMatch(/no answer from webhook/);
      } finally {
        process.kill(pid, 'SIGCONT');
      }
      await waitFor(status, (one) => one.code === 0);
    });

    test('a frozen vendor: within 2 s no gateway accepts new work, paid settlements are delivered, and unfreezing restores everything', async () => {
      const accountId = vendor.signIn.account.account_id;
      const [paidQuote, openQuote] = [await quoteOf(api(), vendor), await quoteOf(api(), vendor)];
      const paid = await must(settleWith(api(), consumer.token, paidQuote), 'settle');
      const quote = () => everywhere('POST /v1/quote', vendor.apiKey, { service_id: vendor.serviceId });
      // Both gateways have the key in their caches at this moment.
      expect(await quote()).toEqual([{ status: 201 }, { status: 201 }]);

      expect(await change('accounts', 'freeze', accountId)).toMatchObject({ changed: true });
      await everyReplicaApplies();
      const refused = { status: 403, code: 'forbidden' };
      expect(await quote()).toEqual([refused, refused]);
      expect(await everywhere('POST /v1/delegates', vendor.signIn.access_token, {})).toEqual([
        // The gateway validates the input first, and the service checks the freeze.
        { status: 400, code: 'validation_error' },
        { status: 400, code: 'validation_error' },
      ]);
      const service = { name: 'More', price: '20000', payout_address: vendor.payout.publicKey.toBase58() };
      expect(await everywhere('POST /v1/services', vendor.signIn.access_token, service)).toEqual([
        refused,
        refused,
      ]);
      expect(await everywhere('GET /v1/quotes', vendor.apiKey)).toEqual([{ status: 200 }, { status: 200 }]);

      // A caller with an earlier quote is refused, nothing is recorded, and the id is free.
      const attempt = crypto.randomUUID();
      for (const call of apis()) {
        const answer = await settleWith(call, consumer.token, openQuote, attempt);
        expect([answer.status, answer.body.error]).toMatchObject([
          409,
          { code: 'conflict', money_moved: 'no' },
        ]);
      }
      const found = await api()<{ data: unknown[] }>(`GET /v1/settlements?payment_attempt_id=${attempt}`, {
        token: consumer.token,
      });
      expect(found.body.data).toEqual([]);

      // A paid settlement is redeemed, and its owner can sign in and read.
      const redeem = `POST /v1/settlements/${paid.settlement_id}/redeem` as const;
      const { settlement_token } = paid;
      expect((await api()(redeem, { token: vendor.apiKey, body: { settlement_token } })).status).toBe(200);
      const again = await signIn(api(), running.stack, vendor.signIn.account.email, 'test');
      expect((await api()('GET /v1/accounts/me', { token: again.access_token })).status).toBe(200);

      await change('accounts', 'unfreeze', accountId);
      await everyReplicaApplies();
      expect(await quote()).toEqual([{ status: 201 }, { status: 201 }]);
      expect((await settleWith(api(), consumer.token, openQuote, attempt)).status).toBe(200);
    }, 90_000);

    test('a frozen consumer settles nothing new, and the repeat of a paid attempt is answered', async () => {
      const quote = await quoteOf(api(), vendor);
      const first = await must(settleWith(api(), consumer.token, quote, 'before-ice'), 'settle');
      await change('accounts', 'freeze', consumer.signIn.account.account_id);
      await everyReplicaApplies();
      for (const call of apis()) {
        expect((await settleWith(call, consumer.token, quote, 'before-ice')).body).toEqual(first);
        const refused = await settleWith(call, consumer.token, await quoteOf(api(), vendor));
        expect([refused.status, refused.body.error]).toMatchObject([
          403,
          { code: 'forbidden', money_moved: 'no' },
        ]);
      }
      await change('accounts', 'unfreeze', consumer.signIn.account.account_id);
      await everyReplicaApplies();
    }, 90_000);

    test('caps show what was accepted and signed in this hour, within the caps of both services', async () => {
      await inOne('hour', async () => {
        await must(settleWith(api(), consumer.token, await quoteOf(api(), vendor)), 'settle');
        const { code, out } = await ops('caps', 'show', '--json');
        expect(code).toBe(0);
        const { accepted, signed } = JSON.parse(out);
        for (const caps of [accepted, signed]) {
          expect(caps).toMatchObject({ wallet_cap: '1000000000', account_cap: '5000000000' });
          expect(caps.used).toContainEqual(
            expect.objectContaining({
              of: 'account',
              id: consumer.signIn.account.account_id,
              cap: '5000000000',
            }),
          );
        }
        expect((await ops('caps', 'show')).out).toMatch(/accepted +each wallet +1,000\.00/);
      });
    }, 90_000);

    test('lanes show the replicas, and every lane has one owner', async () => {
      const { code, out } = await ops('lanes', 'show', '--json');
      expect(code).toBe(0);
      for (const replicas of Object.values<{ lanes: number[] }[]>(JSON.parse(out)))
        expect(replicas.flatMap(({ lanes }) => lanes).toSorted((a, b) => a - b)).toEqual(
          Array.from({ length: 16 }, (_, lane) => lane),
        );
      expect((await ops('lanes', 'show')).out).toMatch(/settlement +[0-9a-f]{18} +\d+ % +0 1 2/);
    }, 90_000);

    test('versions shows the build of each process, of every replica', async () => {
      const { code, out } = await ops('versions', '--json');
      const { processes, missing } = JSON.parse(out) as { processes: Process[]; missing: string[] };
      expect([code, missing]).toEqual([0, []]);
      expect(processes.filter(({ program }) => program === 'settlement')).toHaveLength(2);
      const health = await (await fetch(`${stack().stack.gateway_url}/v1/health`)).json();
      for (const { version, commit } of processes) expect(health).toMatchObject({ version, commit });
      expect((await ops('versions')).out).toMatch(/^gateway +\d+\.\d+\.\d+ +\w+ +20\d\d-/m);
    });

    test('both settlements apply a pause and its end', async () => {
      const quote = await quoteOf(api(), vendor);
      expect(await change('payments', 'pause')).toMatchObject({ changed: true });
      await everyReplicaApplies();
      // The queue group gives calls to either replica.
      for (let i = 0; i < 6; i += 1) {
        const refused = await settleWith(api(), consumer.token, quote, 'paused');
        expect([refused.status, refused.headers.get('retry-after'), refused.body.error]).toMatchObject([
          503,
          '30',
          { code: 'service_unavailable', money_moved: 'no', safe_action: 'retry_same_attempt' },
        ]);
      }
      expect(JSON.parse((await ops('payments', 'status', '--json')).out).paused_at).toEqual(
        expect.any(String),
      );
      await change('payments', 'resume');
      await everyReplicaApplies();
      expect((await settleWith(api(), consumer.token, quote, 'paused')).status).toBe(200);
    }, 60_000);

    test('a pause of signing delays accepted payments, a payment is dispatched again, and a drain waits for all', async () => {
      // A payment of the test before may be confirmed and not final yet, which counts as open.
      await waitFor(
        async () => JSON.parse((await ops('payments', 'status', '--json')).out).under_way as number,
        (open) => open === 0,
      );
      await change('signing', 'pause');
      const quote = await quoteOf(api(), vendor);
      const waiting = settleWith(api(), consumer.token, quote, 'unsigned');
      const find = async () =>
        (
          await api()<{ data: { settlement_id: string }[] }>(
            'GET /v1/settlements?payment_attempt_id=unsigned',
            {
              token: consumer.token,
            },
          )
        ).body.data[0]?.settlement_id;
      while ((await find()) === undefined) await sleep(50);
      const id = (await find())!;
      // The job is dispatched twice, the payment is made once.
      expect(await change('payments', 'redispatch', id)).toMatchObject({
        dispatch_count: 2,
        status: 'pending',
        chain_status: 'pending',
      });
      const signed = ['--reason', 'ticket 1042', '--as', 'jane', '--yes', '--json'];
      const left = await ops('drain', '--seconds', '1', ...signed);
      expect({ code: left.code, ...JSON.parse(left.out) }).toMatchObject({
        code: 75,
        drained: false,
        payments: 1,
        work: 1,
      });
      expect(JSON.parse((await ops('signing', 'show', '--json')).out)).toMatchObject({
        paused: true,
        open: 1,
        fee_payers: [{ number: 1, live: 0, prepared: 0 }],
        authorities: [{ number: 1 }],
      });
      await change('signing', 'resume');
      // The call waits for 15 s. On a slow machine its repeat returns the payment.
      expect((await waiting).body).toMatchObject({ settlement_id: id });
      const repeat = () => settleWith(api(), consumer.token, quote, 'unsigned');
      const settled = await waitFor(repeat, ({ status }) => status === 200);
      expect(settled.body).toMatchObject({ settlement_id: id });
      expect(await change('drain')).toEqual({
        drained: true,
        payments: 0,
        work: 0,
        messages: 0,
        authorizations: 0,
      });
      expect((await settleWith(api(), consumer.token, await quoteOf(api(), vendor))).status).toBe(503);
      const ended = await ops('payments', 'redispatch', id, ...signed);
      expect([ended.code, JSON.parse(ended.out)]).toMatchObject([1, { error: { code: 'conflict' } }]);
      await change('payments', 'resume');
      await everyReplicaApplies();
    }, 90_000);

    test('raised limits apply at every gateway within 2 s', async () => {
      const policies = () =>
        Promise.all(
          apis().map(async (call) => {
            const { headers } = await call('GET /v1/quotes', { token: vendor.apiKey });
            return /q=(\d+)/.exec(headers.get('ratelimit-policy') ?? '')?.[1];
          }),
        );
      const accountId = vendor.signIn.account.account_id;
      expect(await policies()).toEqual([POLICY, POLICY]);
      await change('limits', 'set', accountId, '3');
      await everyReplicaApplies();
      expect(await policies()).toEqual([RAISED, RAISED]);
      expect((await ops('limits', 'list', '--ticket', 'test')).out).toContain(accountId);
      await change('limits', 'clear', accountId);
      await everyReplicaApplies();
      expect(await policies()).toEqual([POLICY, POLICY]);
    }, 60_000);

    test('the command refuses a change without a reason or a confirmation, refuses wrong arguments, and records all changes', async () => {
      const accountId = vendor.signIn.account.account_id;
      for (const [args, complaint] of [
        [['accounts', 'freeze', accountId, '--yes'], /--reason/],
        [['accounts', 'freeze', accountId, '--reason', 'x'], /add --yes/],
        [['accounts', 'freeze', 'acct_nobody', '--reason', 'x', '--yes'], /not an account id/],
        [['limits', 'set', accountId, '100000', '--reason', 'x', '--yes'], /from 2 to 1000/],
        [['quarantine', 'show', 'somewhere', '1'], /not a service/],
        [['accounts', 'freeze', accountId, '--reason', 'x', '--force'], /--force/],
      ] as const) {
        const { code, err } = await ops(...args);
        expect({ args, code, err }).toEqual({ args, code: 64, err: expect.stringMatching(complaint) });
      }
      expect(
        JSON.parse((await ops('accounts', 'show', accountId, '--ticket', 'test', '--json')).out)
          .account_status.frozen_at,
      ).toBeNull();
      expect(await ops('accounts', 'unfreeze', accountId, '--reason', 'x', '--yes')).toMatchObject({
        code: 0,
        out: expect.stringContaining('Nothing was changed'),
      });
      const { nats_url, environments } = running.stack;
      const { jane } = environments.test!.operators;
      const login = (NATS_URL: string, NATS_NKEY_SEED: string, NATS_OPERATOR = 'jane') =>
        opsAt('nowhere.json', { NATS_URL, NATS_OPERATOR, NATS_NKEY_SEED })('payments', 'status');
      expect(await login(nats_url, jane!)).toMatchObject({ code: 0 });
      // An external server may accept all users.
      if (externalServers.natsUrl === undefined) {
        expect(await login(nats_url, newNkeySeed())).toMatchObject({ code: 64 });
        expect(await login(nats_url, jane!, 'joe')).toMatchObject({
          code: 64,
          err: expect.stringContaining('act as joe'),
        });
      }
      expect(await login('nats://127.0.0.1:9', jane!)).toMatchObject({
        code: 64,
        err: expect.stringContaining('is unavailable'),
      });
      const help = await ops('--help');
      expect(help.code).toBe(0);
      for (const name of ['accounts freeze', 'limits set', 'payments pause', 'quarantine decide', 'audit'])
        expect(help.out).toContain(name);
      expect(await ops('limits', 'sett')).toMatchObject({
        code: 64,
        err: expect.stringMatching(/no command "limits sett"; did you mean "limits set"/),
      });

      const audit = JSON.parse((await ops('audit', '--json')).out) as {
        service: string;
        action: string;
        actor: string;
      }[];
      expect(audit.every(({ actor }) => actor === 'jane')).toBe(true);
      const changes = audit.filter(({ action }) => action !== 'account.inspect');
      expect(changes.map(({ service, action }) => `${service} ${action}`).reverse()).toEqual([
        'identity account.freeze',
        'identity account.unfreeze',
        'identity account.freeze',
        'identity account.unfreeze',
        'settlement intake.pause',
        'settlement intake.resume',
        'chain-submitter signing.pause',
        'settlement settlement.redispatch',
        'settlement intake.pause',
        'chain-submitter signing.resume',
        'settlement intake.resume',
        'identity limits.set',
        'identity limits.clear',
      ]);
    }, 180_000);
  });
