import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import {
  type Consumer,
  createConsumer,
  createVendor,
  quoteOf,
  settleWith,
  type Vendor,
} from '../../deploy/local/seed/actors.ts';
import { createApi } from '../../deploy/local/seed/api.ts';
import { type Client, createClient, NoAnswerError } from '../../sdk/src/main.ts';
import { chainOf } from '../support/servers/chain.ts';
import { atOnce, runningStack, tally } from '../support/servers/stack.ts';

/** Answers that never arrive: each object is created once (docs/adr/0017-idempotency-keys.md). */
const stack = runningStack();
const api = createApi(stack.gateway_url);
const chain = chainOf(stack.environments.test!);

/**
 * A proxy in front of the gateway that breaks connections at the first byte of an answer, a given
 * number of times.
 */
const startCutter = async () => {
  const gateway = new URL(stack.gateway_url);
  const cutter = { url: '', cuts: 0, cut: 0, stop: async () => {} };
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(gateway.port), gateway.hostname);
    const end = () => {
      near.destroy();
      far.destroy();
    };
    for (const socket of [near, far]) {
      open.add(socket);
      socket.on('error', end).on('close', () => {
        open.delete(socket);
        end();
      });
    }
    near.pipe(far);
    far.on('data', (bytes) => {
      if (cutter.cuts === 0) return void near.write(bytes);
      cutter.cuts -= 1;
      cutter.cut += 1;
      end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cutter.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  cutter.stop = async () => {
    for (const socket of open) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  return cutter;
};

let cutter: Awaited<ReturnType<typeof startCutter>>;
let vendor: Vendor;
let consumer: Consumer;
let client: Client;
beforeAll(async () => {
  [cutter, vendor, consumer] = await Promise.all([
    startCutter(),
    createVendor(api, stack),
    createConsumer(api, stack),
  ]);
  client = createClient({ baseUrl: cutter.url, credential: consumer.token });
});
afterAll(() => cutter.stop());

/** Runs the work with the next two answers lost. */
const losing = async <T>(work: () => Promise<T>): Promise<T> => {
  cutter.cuts = 2;
  const before = cutter.cut;
  const result = await work();
  expect(cutter.cut - before).toBe(2);
  return result;
};
const itemsOf = async <T>(list: AsyncIterable<T>): Promise<T[]> => {
  const items: T[] = [];
  for await (const item of list) items.push(item);
  return items;
};

test('test funds are sent once when answers are lost', async () => {
  const before = await chain.balance(consumer.wallet.publicKey);
  const funded = await losing(() =>
    client.funding.devFund({ wallet_id: consumer.walletId, amount: '1000000' }),
  );
  expect((await chain.balance(consumer.wallet.publicKey)) - before).toBe(1_000_000n);
  expect(funded.balance).toBe(`${before + 1_000_000n}`);
});

test('a withdrawal is created once when answers are lost', async () => {
  const order = {
    wallet_id: consumer.walletId,
    amount: '1000',
    destination_address: Keypair.generate().publicKey.toBase58(),
  };
  const made = await losing(() => client.funding.createWithdrawal(order));
  expect((await itemsOf(client.funding.listWithdrawals())).map((each) => each.withdrawal_id)).toEqual([
    made.withdrawal_id,
  ]);
});

test('a service is created once, and the repeat states that its secret was lost with the answer', async () => {
  const input = { name: 'Lost', price: '1000000', payout_address: consumer.wallet.publicKey.toBase58() };
  const made = await losing(() => client.identity.createService(input));
  expect(made).toMatchObject({ name: 'Lost', secret_already_shown: true });
  expect(made).not.toHaveProperty('api_key');
  expect((await itemsOf(client.identity.listServices())).map(({ service_id }) => service_id)).toEqual([
    made.service_id,
  ]);
});

test('a quote and a refund by the service’s key are created once when answers are lost', async () => {
  const service = createClient({ baseUrl: cutter.url, credential: vendor.apiKey });
  const before = (await itemsOf(service.quote.list())).length;
  await losing(() => service.quote.create({ service_id: vendor.serviceId }));
  expect((await itemsOf(service.quote.list())).length - before).toBe(1);

  const { body: paid } = await settleWith(api, consumer.token, await quoteOf(api, vendor));
  const { settlement_id } = paid as { settlement_id: string };
  const made = await losing(() => service.funding.createRefund({ settlement_id }));
  const refunds = await itemsOf(service.funding.listRefunds({ settlement_id }));
  expect(refunds.map(({ refund_id, amount }) => [refund_id, amount])).toEqual([
    [made.refund_id, made.amount],
  ]);
});

test('without retries a lost answer is an error, and a later call with the same key gets the object', async () => {
  const impatient = createClient({ baseUrl: cutter.url, credential: consumer.token, maxRetries: 0 });
  const fund = () =>
    impatient.funding.devFund({ wallet_id: consumer.walletId, amount: '7' }, { idempotencyKey: 'order-7' });
  const before = await chain.balance(consumer.wallet.publicKey);
  cutter.cuts = 1;
  await expect(fund()).rejects.toThrow(NoAnswerError);
  const [one, two] = [await fund(), await fund()];
  expect(one).toEqual(two);
  expect((await chain.balance(consumer.wallet.publicKey)) - before).toBe(7n);
});

test('8 concurrent calls with one key create one service', async () => {
  const body = { name: 'Race', price: '1000000', payout_address: consumer.wallet.publicKey.toBase58() };
  const answers = await atOnce(8, async () => {
    const response = await fetch(`${stack.gateway_url}/v1/services`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${consumer.token}`,
        'content-type': 'application/json',
        'idempotency-key': 'race',
      },
      body: JSON.stringify(body),
    });
    return {
      status: response.status,
      replayed: response.headers.get('idempotent-replayed'),
      body: await response.json(),
    };
  });
  expect(tally(answers.map(({ status, replayed }) => `${status} ${replayed}`))).toEqual({
    '201 null': 1,
    '201 true': 7,
  });
  const services = await itemsOf(client.identity.listServices());
  expect(services.filter(({ name }) => name === 'Race')).toHaveLength(1);
});
