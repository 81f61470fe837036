import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import express from 'express';
import {
  type Consumer,
  createConsumer,
  createDelegate,
  createVendor,
  type Delegate,
  type Vendor,
} from '../../deploy/local/seed/actors.ts';
import { createApi, must } from '../../deploy/local/seed/api.ts';
import { signPrepared } from '../../deploy/local/seed/wallet.ts';
import { redisStore } from '../../examples/redis-store.ts';
import { createClient } from '../../sdk/src/main.ts';
import { type PayOptions, payingFetch, usageOf } from '../../sdk/src/pay/main.ts';
import { type ExpressRequest, paid } from '../../sdk/src/paywall/adapters/express.ts';
import { createPaywall, type MeteredRoute, meterOf, type PaywallEvent } from '../../sdk/src/paywall/main.ts';
import { waitFor, waitUntil } from '../support/base/wait.ts';
import { chainOf } from '../support/servers/chain.ts';
import { atOnce, runningStack } from '../support/servers/stack.ts';

/** Vendors who are paid for what was used, over the whole system: two replicas with one Redis. */
const stack = runningStack();
const api = createApi(stack.gateway_url);
const chain = chainOf(stack.environments.test!);
const store = redisStore(stack.redis_url);

let vendor: Vendor;
let consumer: Consumer;
let delegate: Delegate;
const stops: (() => Promise<unknown>)[] = [];
const events: PaywallEvent[] = [];

beforeAll(async () => {
  [vendor, consumer] = await Promise.all([createVendor(api, stack), createConsumer(api, stack)]);
  delegate = await createDelegate(api, consumer, { daily: '90000000' });
});
afterEach(() => {
  // The replicas have one public address.
  const errors = events
    .splice(0)
    .filter(({ event, reason }) => event === 'error' && reason !== 'vendor_configuration');
  expect(errors).toEqual([]);
});
afterAll(async () => {
  await Promise.all(stops.map((stop) => stop()));
  store.close();
});

type Handler = express.RequestHandler;

/** A replica of the vendor. The first one has the public address. */
const startReplica = async (route: MeteredRoute<ExpressRequest>, handler: Handler, publicUrl?: string) => {
  const app = express();
  const server = createServer(app).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const paywall = createPaywall({
    ...{ baseUrl: stack.gateway_url, serviceKey: vendor.apiKey, serviceId: vendor.serviceId },
    ...{ environment: 'test', publicUrl: publicUrl ?? origin, store },
    log: (event) => events.push(event),
  });
  app.get('/:name', paid(paywall, route), handler);
  stops.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { origin, paywall };
};
/** As a proxy before two replicas, of which the first has the public address. */
const balancedOver = (first: { origin: string }, second: { origin: string }): typeof fetch => {
  let turn = 0;
  return (input, init) => {
    turn += 1;
    return fetch(turn % 2 === 0 ? String(input).replace(first.origin, second.origin) : input, init);
  };
};
const payer = (options: Partial<PayOptions> = {}, send: typeof fetch = fetch) =>
  payingFetch(send, {
    ...{ baseUrl: stack.gateway_url, delegateKey: delegate.api_key, maxAmount: '$2' },
    ...options,
  });
const reader = () => createClient({ baseUrl: stack.gateway_url, credential: delegate.api_key });
const settlementsOf = async () => (await reader().settlement.list()).data;
const spentBy = async (run: () => Promise<unknown>, expected: bigint): Promise<void> => {
  const before = await chain.balance(consumer.wallet.publicKey);
  await run();
  const spent = async () => before - (await chain.balance(consumer.wallet.publicKey));
  expect(await waitFor(spent, (micro) => micro === expected)).toBe(expected);
};
const REPORT: Handler = (_request, response) => {
  response.json({ tokens: 120 });
};

describe('a tab', () => {
  const route: MeteredRoute<ExpressRequest> = { max: '$0.50', price: '$0.0005', tab: true };

  test('hundreds of calls to two replicas are one transfer of what was used', async () => {
    const first = await startReplica(route, REPORT);
    const second = await startReplica(route, REPORT, first.origin);
    const pay = payer({}, balancedOver(first, second));
    const before = (await settlementsOf()).length;
    await spentBy(async () => {
      const answers = await atOnce(200, (call) => pay(`${first.origin}/search?q=${call}`));
      for (const answer of answers) expect(usageOf(answer)?.chargedMicro).toBe('500');
      await pay.closeTabs();
    }, 100_000n);
    const made = await settlementsOf();
    expect(made).toHaveLength(before + 1);
    expect(made[0]).toMatchObject({
      quote_amount: '100000',
      authorization: { max_amount: '500000', used: '100000' },
    });
  });

  test('the next tab follows without a failed call, and each is captured once', async () => {
    const { origin } = await startReplica({ ...route, max: '$0.02' }, REPORT);
    const pay = payer();
    await spentBy(async () => {
      for (let call = 0; call < 90; call += 1)
        expect((await pay(`${origin}/search?q=${call}`)).status).toBe(200);
      await pay.closeTabs();
    }, 40_000n);
    // Of the third tab ten calls were used, which is less than the fee: it is void. The chain has a
    // capture a moment before its settlement shows it.
    await waitFor(
      async () => (await settlementsOf()).slice(0, 3).map(({ status }) => status),
      (statuses) => statuses.toSorted().join() === 'redeemed,redeemed,voided',
    );
  });

  test('with extend two replicas serve on after each extension, and one transfer pays all', async () => {
    const extended = { ...route, max: '$0.02', tab: { extend: true } };
    const first = await startReplica(extended, REPORT);
    const second = await startReplica(extended, REPORT, first.origin);
    const pay = payer({}, balancedOver(first, second));
    const before = (await settlementsOf()).length;
    await spentBy(async () => {
      for (let round = 0; round < 3; round += 1) {
        const answers = await atOnce(30, (call) => pay(`${first.origin}/search?q=${round}-${call}`));
        expect(answers.map(({ status }) => status)).toEqual(Array(30).fill(200));
      }
      await pay.closeTabs();
    }, 45_000n);
    const made = (await settlementsOf()).slice(0, -before || undefined);
    const tabs = made.filter(({ authorization }) => authorization !== undefined);
    expect(tabs).toMatchObject([
      { quote_amount: '45000', authorization: { max_amount: '60000', used: '45000' } },
    ]);
    expect(made).toHaveLength(1);
    expect(tabs[0]!.extensions!.map(({ amount }) => amount)).toEqual(['20000', '20000']);
  });
});

test('a call pays the price of its answer, and a call that fails pays nothing', async () => {
  const route: MeteredRoute<ExpressRequest> = {
    ...{ max: '$0.50', unitPrice: '$0.001' },
    price: ({ json }) => ({ units: json().tokens }),
  };
  let fails = true;
  const { origin } = await startReplica(route, (request, response) => {
    meterOf(request).charge('$0.01');
    if (fails) response.status(503).end();
    else response.json({ tokens: 120 });
    fails = false;
  });
  const pay = payer();
  await spentBy(async () => {
    expect((await pay(`${origin}/chat`)).status).toBe(503);
    const answer = await pay(`${origin}/chat`);
    expect([answer.status, usageOf(answer)?.chargedMicro]).toEqual([200, '130000']);
  }, 130_000n);
  await waitUntil(async () => (await settlementsOf())[0]!.status === 'redeemed');
  expect((await settlementsOf()).slice(0, 2).map(({ status }) => status)).toEqual(['redeemed', 'voided']);
});

test('a stream of events is charged while it runs, and ends when the ceiling is reached', async () => {
  const { origin } = await startReplica({ max: '$0.10' }, async (request, response) => {
    const meter = meterOf(request);
    response.setHeader('content-type', 'text/event-stream');
    for (let sent = 0; !meter.signal.aborted; sent += 1) {
      try {
        meter.charge('$0.003');
      } catch {
        return;
      }
      response.write(`data: ${sent}\n\n`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  });
  await spentBy(async () => {
    const text = await (await payer()(`${origin}/stream`)).text();
    expect(text).toContain('data: 32\n\n');
    expect(text).toMatch(
      /event: quittance-stopped\ndata: \{"reason":"used_up","usage":"charged=99000"\}\n\n$/,
    );
  }, 99_000n);
});

test('a buyer who revokes the allowance ends a stream within seconds, and the next call is refused', async () => {
  const { origin } = await startReplica({ max: '$0.50' }, async (request, response) => {
    const meter = meterOf(request);
    response.setHeader('content-type', 'text/event-stream');
    while (!meter.signal.aborted) {
      meter.charge(2000n);
      response.write('data: more\n\n');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  });
  const leaver = await createConsumer(api, stack);
  const { api_key } = await createDelegate(api, leaver, { daily: '90000000' });
  const pay = payer({ delegateKey: api_key });
  const reader = (await pay(`${origin}/stream`)).body!.getReader();
  await reader.read();
  const path = `POST /v1/wallets/${leaver.walletId}/revoke` as const;
  const call = (body: object) =>
    must(api<{ transaction: string }>(path, { token: leaver.token, body }), 'revoke');
  const { transaction } = await call({});
  await call({ transaction: signPrepared(transaction, leaver.wallet) });
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    text += new TextDecoder().decode(value);
  }
  expect(text).toContain('event: quittance-stopped\ndata: {"reason":"at_risk"');
  await expect(pay(`${origin}/stream`)).rejects.toMatchObject({ code: 'delegation_inactive' });
  // What the log of the vendor says of the capture depends on how far it has come.
  events.length = 0;
  expect(await chain.balance(leaver.wallet.publicKey)).toBe(100_000_000n);
});
