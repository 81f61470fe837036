import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTestBus, type TestBus } from '../../test/support/servers/bus.ts';
import { settlement } from '../contract/index.ts';
import type { Handlers } from '../contract/service.ts';
import { newId, newServiceId } from '../lib/id.ts';
import { laneOf } from '../lib/lane.ts';
import { forward } from './call.ts';
import type { Bus } from './connect.ts';
import { serve } from './serve.ts';

let testBus: TestBus;
let gateway: Bus;
beforeAll(async () => {
  testBus = await createTestBus();
  gateway = await testBus.as('gateway');
});
afterAll(() => testBus.stop());

const account_id = newId('acct');
const LANE = laneOf(account_id);

/** A replica that owns lanes and counts its calls. */
const replica = async (
  owned: readonly number[],
  list: () => Promise<unknown> = async () => ({ data: [], next_cursor: null }),
) => {
  const bus = await testBus.as('settlement');
  let calls = 0;
  let change: (owned: ReadonlySet<number>) => void = () => {};
  const counted = async () => {
    calls += 1;
    return list();
  };
  const serving = serve(bus, settlement, { list: counted } as unknown as Handlers<typeof settlement>, {
    lanes: {
      onChange: (listener) => {
        change = listener;
        listener(new Set(owned));
      },
    },
  });
  await bus.nc.flush();
  return {
    calls: () => calls,
    own: async (lanes: readonly number[]) => {
      change(new Set(lanes));
      await bus.nc.flush();
    },
    stop: serving.stop,
  };
};

const ask = (timeoutMs = 5000) =>
  forward(
    gateway,
    settlement,
    'list',
    {},
    { kind: 'service_key', key_id: 'k', account_id, service_id: newServiceId() },
    { timeoutMs, headers: {} },
  );
const askMany = () => Promise.all(Array.from({ length: 32 }, () => ask()));

test('the owner of a lane gets the calls of its accounts, until another replica owns it', async () => {
  const [owner, other] = [await replica([LANE]), await replica([(LANE + 1) % 16])];
  await askMany();
  expect([owner.calls(), other.calls()]).toEqual([32, 0]);
  await other.own([LANE]);
  await owner.own([]);
  await askMany();
  expect([owner.calls(), other.calls()]).toEqual([32, 32]);
  await Promise.all([owner.stop(), other.stop()]);
});

test('two replicas that both believe to own a lane share its calls', async () => {
  const [one, two] = [await replica([LANE]), await replica([LANE])];
  await askMany();
  expect(one.calls() + two.calls()).toBe(32);
  expect(Math.min(one.calls(), two.calls())).toBeGreaterThan(0);
  await Promise.all([one.stop(), two.stop()]);
});

test('any replica gets the calls of a lane without an owner', async () => {
  const other = await replica([]);
  await askMany();
  expect(other.calls()).toBe(32);
  await other.stop();
});

test('a call that an owner got and did not answer is sent to nobody else', async () => {
  let release = (_list: unknown) => {};
  const held = new Promise<unknown>((resolve) => {
    release = resolve;
  });
  const [owner, other] = [await replica([LANE], () => held), await replica([])];
  await expect(ask(500)).rejects.toMatchObject({
    code: 'service_unavailable',
    extras: { money_moved: 'unknown' },
  });
  expect([owner.calls(), other.calls()]).toEqual([1, 0]);
  release({ data: [], next_cursor: null });
  await Promise.all([owner.stop(), other.stop()]);
});
