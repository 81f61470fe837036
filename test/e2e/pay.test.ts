import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  type Consumer,
  createConsumer,
  createDelegate,
  createVendor,
  type Delegate,
} from '../../deploy/local/seed/actors.ts';
import { createApi } from '../../deploy/local/seed/api.ts';
import {
  ApiError,
  createClient,
  LimitExceededError,
  PaymentUndecidedError,
  SettlementExhaustedError,
} from '../../sdk/src/main.ts';
import {
  BadTokenError,
  type PayOptions,
  payingFetch,
  receiptOf,
  resourceOf,
} from '../../sdk/src/pay/main.ts';
import { chainOf } from '../support/servers/chain.ts';
import { atOnce, runningStack } from '../support/servers/stack.ts';

/** A fetch that pays, over the whole system: an agent with a delegate key, and a small vendor. */
const stack = runningStack();
const api = createApi(stack.gateway_url);
const chain = chainOf(stack.environments.test!);
const PRICE = 2_500_000n;

let consumer: Consumer;
let delegate: Delegate;
let folder: string;
const stops: (() => Promise<unknown>)[] = [];

/**
 * `/prepaid…` is sold by the unit. `beforeBill` runs when a request without a payment arrives, and
 * `beforeDelivery` when a payment is presented, before it is checked.
 */
const startVendor = async (
  environment = 'test',
  {
    beforeBill = async () => {},
    beforeDelivery = async () => {},
  }: Partial<Record<'beforeBill' | 'beforeDelivery', () => Promise<void>>> = {},
) => {
  const { apiKey, serviceId } = await createVendor(api, stack, { environment, price: PRICE });
  const client = createClient({ baseUrl: stack.gateway_url, credential: apiKey });
  const seen = { bills: 0, delivered: 0 };

  const accepts = async (request: IncomingMessage, body: string): Promise<boolean> => {
    const header = (name: string) => String(request.headers[name]);
    const settlement = {
      settlement_id: header('x-settlement-id'),
      settlement_token: header('x-settlement-token'),
    };
    const request_id = header('x-payment-request-id');
    try {
      if (request.url!.startsWith('/prepaid')) {
        await client.settlement.consume({ ...settlement, units: 1, request_id });
        return true;
      }
      const same = [request.method, request.url, body, request_id].join('\n');
      const redeem_id = createHash('sha256').update(same).digest('hex');
      const redeemed = await client.settlement.redeem({ ...settlement, redeem_id });
      return !redeemed.replayed || redeemed.redeem_id === redeem_id;
    } catch (error) {
      if (error instanceof SettlementExhaustedError) return false;
      throw error;
    }
  };

  let origin = '';
  const answer = async (request: IncomingMessage): Promise<[number, object]> => {
    let body = '';
    for await (const chunk of request) body += chunk;
    if (request.headers['x-settlement-token'] !== undefined) {
      await beforeDelivery();
      if (await accepts(request, body)) {
        seen.delivered += 1;
        return [200, { forecast: `rain in ${body}` }];
      }
      if (!request.url!.startsWith('/prepaid')) return [402, { error: 'payment_failed' }];
    }
    await beforeBill();
    seen.bills += 1;
    const resource = resourceOf(`${origin}${request.url}`);
    const units = request.url!.startsWith('/prepaid') ? { units: 4 } : {};
    const quote = await client.quote.create({ service_id: serviceId, scope: { resource, ...units } });
    const { quote_token, quote_amount, currency, expires_at } = quote;
    return [402, { error: 'payment_required', quote_token, quote_amount, currency, expires_at }];
  };
  const server = createServer((request, response) => {
    answer(request).then(
      ([status, body]) => response.writeHead(status).end(JSON.stringify(body)),
      (error: unknown) => response.writeHead(500).end(error instanceof ApiError ? error.code : 'failed'),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stops.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { origin, seen };
};

const payer = (options: Partial<PayOptions> = {}) =>
  payingFetch(fetch, {
    baseUrl: stack.gateway_url,
    delegateKey: delegate.api_key,
    maxAmount: PRICE,
    ...options,
  });
/** What the wallet has paid meanwhile. */
const costOf = async (run: () => Promise<void>): Promise<bigint> => {
  const before = await chain.balance(consumer.wallet.publicKey);
  await run();
  return before - (await chain.balance(consumer.wallet.publicKey));
};

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'quittance-pay-'));
  consumer = await createConsumer(api, stack);
  delegate = await createDelegate(api, consumer, { total: '50000000' });
});
afterAll(async () => {
  await Promise.all(stops.map((stop) => stop()));
  rmSync(folder, { recursive: true, force: true });
});

test('402, payment, delivery: the wallet pays the price once, the vendor delivers once', async () => {
  const { origin, seen } = await startVendor();
  const cost = await costOf(async () => {
    const answer = await payer()(`${origin}/forecast?day=1`, { method: 'POST', body: 'Berlin' });
    expect(await answer.json()).toEqual({ forecast: 'rain in Berlin' });
  });
  expect(cost).toBe(PRICE);
  expect(seen).toEqual({ bills: 1, delivered: 1 });
});

test('after a kill between payment and delivery the restarted process gets the delivery that it paid for', async () => {
  let child: ChildProcess | undefined;
  const { origin, seen } = await startVendor('test', {
    beforeDelivery: async () => {
      const victim = child;
      child = undefined;
      if (victim === undefined) return;
      const gone = new Promise((resolve) => victim.once('exit', resolve));
      victim.kill('SIGKILL');
      await gone;
      throw new Error('the caller is gone');
    },
  });
  const file = path.join(folder, 'payments.json');
  const settings = {
    baseUrl: stack.gateway_url,
    delegateKey: delegate.api_key,
    url: `${origin}/forecast`,
    file,
  };
  const script = path.join(import.meta.dirname, '../support/actors/paying-process.ts');
  const run = async (killed: boolean) => {
    const started = spawn(process.execPath, [script, JSON.stringify(settings)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    if (killed) child = started;
    let said = '';
    started.stdout.on('data', (chunk) => {
      said += chunk;
    });
    await new Promise((resolve) => started.once('close', resolve));
    return said;
  };
  const cost = await costOf(async () => {
    expect(await run(true)).toBe('');
    expect(readFileSync(file, 'utf8')).toContain('stl_');
    expect(JSON.parse(await run(false))).toEqual({ status: 200, body: { forecast: 'rain in Berlin' } });
  });
  expect(cost).toBe(PRICE);
  // The vendor asked for no second payment, and the delivered payment is not stored.
  expect(seen).toEqual({ bills: 1, delivered: 1 });
  expect(readFileSync(file, 'utf8')).not.toContain('stl_');
});

/** A call that is cancelled once, and repeated afterwards. */
const cancelling = () => {
  const reason = new Error('no longer needed');
  const controller = new AbortController();
  let isOnce = true;
  return {
    reason,
    signal: controller.signal,
    /** Cancels the first call that comes here. */
    cancel: async (): Promise<void> => {
      if (isOnce) controller.abort(reason);
      isOnce = false;
    },
  };
};

test.each(['before its price', 'at its price'])(
  'a call that is cancelled %s pays nothing, and its repeat pays once',
  async (moment) => {
    const { reason, signal, cancel } = cancelling();
    const { origin, seen } = await startVendor(
      'test',
      moment === 'before its price' ? { beforeBill: cancel } : {},
    );
    const pay = payer(moment === 'at its price' ? { approve: () => cancel().then(() => true) } : {});
    const cost = await costOf(async () => {
      await expect(pay(`${origin}/forecast`, { signal })).rejects.toBe(reason);
    });
    expect([cost, seen.delivered]).toEqual([0n, 0]);
    expect(await costOf(async () => void (await pay(`${origin}/forecast`)))).toBe(PRICE);
    expect(seen.delivered).toBe(1);
  },
);

test('a call that is cancelled while its payment is made is undecided, and its repeat presents that payment', async () => {
  const { signal, cancel } = cancelling();
  const { origin, seen } = await startVendor();
  const settling = (url: string, init?: RequestInit) => {
    const answer = fetch(url, init);
    if (url.endsWith('/v1/settle')) void cancel();
    return answer;
  };
  const pay = payingFetch(settling, {
    baseUrl: stack.gateway_url,
    delegateKey: delegate.api_key,
    maxAmount: PRICE,
  });
  const cost = await costOf(async () => {
    await expect(pay(`${origin}/forecast`, { signal })).rejects.toThrow(PaymentUndecidedError);
    expect((await pay(`${origin}/forecast`)).status).toBe(200);
  });
  expect([cost, seen]).toEqual([PRICE, { bills: 1, delivered: 1 }]);
});

test('a call that is cancelled after its payment ends with the reason, and its repeat gets what was paid', async () => {
  const { reason, signal, cancel } = cancelling();
  const { origin, seen } = await startVendor('test', { beforeDelivery: cancel });
  const pay = payer();
  const cost = await costOf(async () => {
    await expect(pay(`${origin}/forecast`, { signal })).rejects.toBe(reason);
    const answer = await pay(`${origin}/forecast`);
    expect([answer.status, receiptOf(answer)?.amountMicro]).toEqual([200, String(PRICE)]);
  });
  expect([cost, seen.bills]).toEqual([PRICE, 1]);
});

test('prepaid: 8 concurrent calls on 4 units are two payments', async () => {
  const { origin, seen } = await startVendor();
  const pay = payer();
  const cost = await costOf(async () => {
    const answers = await atOnce(8, () => pay(`${origin}/prepaid`, { method: 'POST', body: 'Berlin' }));
    for (const answer of answers) expect(answer.status).toBe(200);
  });
  expect(cost).toBe(2n * PRICE);
  expect(seen.delivered).toBe(8);
});

test('a limit of the delegate applies in addition to the caps of the process, and releases them', async () => {
  const { origin } = await startVendor();
  const { api_key } = await createDelegate(api, consumer, { per_payment: '1000000' });
  const poor = payer({ delegateKey: api_key, budget: { total: PRICE } });
  const cost = await costOf(async () => {
    for (let i = 0; i < 2; i += 1)
      await expect(poor(`${origin}/forecast`)).rejects.toThrow(LimitExceededError);
  });
  expect(cost).toBe(0n);
});

test('a bill of the other environment is not paid', async () => {
  if (stack.environments.live === undefined) return;
  const { origin } = await startVendor('live');
  await expect(payer()(`${origin}/forecast`)).rejects.toThrow(BadTokenError);
});
