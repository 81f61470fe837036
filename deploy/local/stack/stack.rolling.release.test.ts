import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { waitFor } from '../../../test/support/base/wait.ts';
import { restart } from '../../../test/support/servers/restart.ts';
import { type Consumer, createConsumer, createVendor, settleWith, type Vendor } from '../seed/actors.ts';
import { type Answer, type Api, createApi, lostBy } from '../seed/api.ts';
import { outsideFolder } from '../servers/postgres-server.ts';
import { instanceName, programNames, replicas } from './programs.ts';
import { type RunningStack, startStack } from './stack.ts';

/**
 * Two instances of every service are stopped one after the other while payments are made, and no
 * call fails.
 */
const INSTANCES = 2;
const PAYERS = 3;

let stateDir = '';
let running: RunningStack;
const names = programNames.flatMap((name) =>
  Array.from({ length: INSTANCES }, (_, index) => instanceName(name, index + 1)),
);

beforeAll(async () => {
  stateDir = mkdtempSync(path.join(tmpdir(), 'rolling-'));
  running = await startStack({
    stateDir,
    ports: 'any',
    chainSlotMs: 50,
    rateLimitScale: 10_000,
    durable: false,
    instances: replicas(INSTANCES),
  });
});

afterAll(async () => {
  await running?.stop();
  for (const folder of [outsideFolder(stateDir), stateDir]) rmSync(folder, { recursive: true, force: true });
});

/**
 * A load balancer for gateways. It polls the readiness of each gateway, distributes the calls in
 * turn to those that are ready, and repeats none. Without readiness polls a call could reach a
 * gateway that is just shutting down, which no server can prevent.
 */
const startBalancer = (urls: readonly string[]) => {
  const gateways = urls.map((url) => ({ api: createApi(url), ready: true }));
  let [turn, going] = [0, true];
  const watchReadiness = async (gateway: (typeof gateways)[number]): Promise<void> => {
    while (going) {
      gateway.ready = await gateway.api('GET /v1/health/ready').then(
        ({ status }) => status === 200,
        () => false,
      );
      await sleep(50);
    }
  };
  const watchers = gateways.map(watchReadiness);
  const api: Api = (call, asked) => {
    const ready = gateways.filter((gateway) => gateway.ready);
    turn += 1;
    return (ready[turn % ready.length] ?? gateways[0]!).api(call, asked);
  };
  return {
    api,
    /** Waits until the replaced instance accepts calls again, before the next one is stopped. */
    complete: async () => {
      while (!gateways.every(({ ready }) => ready)) await sleep(20);
    },
    stop: () => {
      going = false;
      return Promise.all(watchers);
    },
  };
};

test('two instances of every service run, and each gateway has its own address', () => {
  const { processes, gateway_urls, metrics } = running.stack;
  expect(Object.keys(processes)).toEqual(expect.arrayContaining(names));
  expect(new Set(gateway_urls).size).toBe(INSTANCES);
  expect(new Set(Object.keys(metrics))).toEqual(new Set(names));
});

test('during a rolling restart of all services no call is lost and none fails', async () => {
  const { stack } = running;
  const balancer = startBalancer(stack.gateway_urls);
  const { api } = balancer;
  const vendor: Vendor = await createVendor(api, stack);
  const payers = await Promise.all(Array.from({ length: PAYERS }, () => createConsumer(api, stack)));

  const wrong: string[] = [];
  let calls = 0;
  const asked = async <T>(what: string, answer: Promise<Answer<T>>): Promise<T | undefined> => {
    calls += 1;
    try {
      const { status, body } = await answer;
      if (status >= 200 && status < 300) return body;
      wrong.push(`${what}: ${status} ${JSON.stringify(body)}`);
    } catch (error) {
      wrong.push(`${what}: lost by ${lostBy(error)}`);
    }
    return undefined;
  };

  let rolling = true;
  const pay = async (payer: Consumer): Promise<void> => {
    const body = { service_id: vendor.serviceId, quote_amount: '50000' };
    const quote = await asked('quote', api('POST /v1/quote', { token: vendor.apiKey, body }));
    if (quote === undefined) return;
    const { quote_token } = quote as { quote_token: string };
    const paid = await asked('settle', settleWith(api, payer.token, { quote_token }));
    if (paid === undefined) return;
    const { settlement_id, settlement_token } = paid;
    await asked(
      'redeem',
      api(`POST /v1/settlements/${settlement_id}/redeem`, {
        token: vendor.apiKey,
        body: { settlement_token },
      }),
    );
    await asked('list', api('GET /v1/transactions', { token: payer.token }));
    await asked('wallets', api('GET /v1/wallets', { token: payer.token }));
  };
  const paying = payers.map(async (payer) => {
    while (rolling) await pay(payer);
  });
  const callsAfter = (more: number) => {
    const enough = calls + more;
    return waitFor(
      () => calls,
      (count) => count >= enough,
    );
  };
  await callsAfter(20);
  for (const name of names) {
    await restart(stateDir, name);
    await balancer.complete();
  }
  await callsAfter(10);
  rolling = false;
  await Promise.all(paying);
  await balancer.stop();

  expect(wrong).toEqual([]);
  expect(calls).toBeGreaterThan(50);
}, 300_000);
