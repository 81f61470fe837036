import { afterEach, expect, jest, test } from '@jest/globals';
import { createRng } from '../../../../test/faults/rng.ts';
import { unavailable } from './answers.ts';
import { createDeliveries, type Opening, type Taking } from './deliveries.ts';
import { memoryStore, type PaywallStore } from './store.ts';

afterEach(() => {
  jest.restoreAllMocks();
});

/**
 * Replicas and concurrent requests, with a store and a gate that answer late, not at all, or only
 * after the effect, handlers that fail, and processes that die at any await. In every order one
 * request gets the payment, and its handler does not run again after it has delivered.
 */
const campaign = async (seed: number) => {
  const rng = createRng(seed);
  const jitter = async () => {
    for (let turns = rng.int(0, 4); turns > 0; turns -= 1) await Promise.resolve();
  };
  let now = 1_000_000;
  jest.spyOn(Date, 'now').mockImplementation(() => now);
  // The faults end at some time. Otherwise a delivery could not be guaranteed.
  let problem = true;
  /** A call that may be lost before or after its effect. */
  const lossy = async <T>(call: () => T): Promise<T> => {
    await jitter();
    if (problem && rng.chance(0.05)) throw new Error('lost before');
    const result = call();
    if (problem && rng.chance(0.05)) throw new Error('lost after');
    await jitter();
    return result;
  };
  const shared = memoryStore();
  let recording = false;
  const store: PaywallStore = {
    get: (key) => lossy(() => shared.get(key)) as Promise<string | null>,
    compareAndSet: (...args) =>
      recording
        ? shared.compareAndSet(...args)
        : (lossy(() => shared.compareAndSet(...args)) as Promise<boolean>),
  };
  let redeemedBy: string | null = null;
  const open = async ({ id }: Taking): Promise<Opening> => {
    try {
      return await lossy(() => {
        redeemedBy ??= id;
        return redeemedBy === id ? 'open' : 'spent';
      });
    } catch {
      return unavailable('no_answer');
    }
  };

  const delivered: string[] = [];
  let running = 0;
  const request = async (hash: string): Promise<string> => {
    const { once } = createDeliveries(store, () => {});
    const begun = await once({ key: 'payment', hash, refusal: async () => null, open }).catch(() => null);
    if (begun === null) return 'error';
    if (begun.kind === 'replay') expect({ seed, is: begun.answer.body }).toEqual({ seed, is: hash });
    if (begun.kind !== 'deliver') return begun.kind;
    running += 1;
    expect({ seed, running }).toEqual({ seed, running: 1 });
    await jitter();
    running -= 1;
    // Dead: it never reports its outcome, and its lease expires.
    if (problem && rng.chance(0.2)) return 'died';
    if (problem && rng.chance(0.4)) {
      await begun.finish({ kind: 'failed' });
      return 'failed';
    }
    delivered.push(hash);
    recording = true;
    await begun.finish({ kind: 'delivered', answer: { status: 200, headers: [], body: hash } });
    recording = false;
    return 'delivered';
  };

  for (let round = 0; round < 6; round += 1) {
    problem = round < 5;
    const hashes = Array.from({ length: 6 }, () => (rng.chance(0.7) ? 'one' : 'other'));
    await Promise.all(hashes.map(request));
    now += 31_000;
  }
  for (const hash of ['one', 'other', 'one']) await request(hash);
  expect({ seed, delivered: delivered.length }).toEqual({ seed, delivered: 1 });
  const winner = delivered[0]!;
  expect(await request(winner)).toBe('replay');
  expect(await request(winner === 'one' ? 'other' : 'one')).toBe('spent');
};

test('in 500 orders of requests, losses, failures and crashes one request gets the payment and is delivered once', async () => {
  jest.spyOn(globalThis, 'setInterval').mockImplementation((() => ({ unref: () => {} })) as never);
  for (let seed = 1; seed <= 500; seed += 1) {
    await campaign(seed);
    jest.mocked(Date.now).mockRestore();
  }
});
