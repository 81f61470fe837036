import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from '../fault.ts';
import { LIES, type Lie } from '../lies.ts';
import type { Rng } from '../rng.ts';
import type { World } from '../world.ts';
import { BLOCKHASH_BLOCKS, FINAL_BLOCKS } from './chain.ts';

type RpcFault = { method: string; kind: string; ms?: number; count?: number };

/** A fault of the provider, until it is taken away. */
const provider = (
  world: World,
  name: string,
  holdMs: Fault['holdMs'],
  choose: (rng: Rng) => RpcFault[],
): Fault => ({
  name,
  holdMs,
  inject: async (rng) => {
    await world.rpc('chain_fault', ...choose(rng));
    return async () => {
      await world.rpc('chain_fault');
    };
  },
});

/** One of two providers is behind, or has no history, while blockhashes expire beside it. */
const secondProvider = (
  { secondProvider: node }: World,
  name: string,
  choose: (rng: Rng) => Parameters<World['secondProvider']['behave']>[0],
): Fault => ({
  name,
  holdMs: [3000, 7000],
  inject: async (rng) => {
    node.behave(choose(rng));
    return async () => node.behave('honest');
  },
});

/**
 * One of two providers lies. What it calls confirmed then reaches nobody and expires: believed, it would have been
 * answered as paid.
 */
const lying = (world: World, lie: Lie): Fault => ({
  name: `rpc-lies-${lie}`,
  holdMs: [1500, 4000],
  inject: async () => {
    world.secondProvider.behave({ lies: lie });
    if (lie === 'confirmation') {
      await world.rpc('chain_fault', { method: 'sendTransaction', kind: 'drop' });
      await sleep(1000);
      await world.rpc('chain_advance', BLOCKHASH_BLOCKS + FINAL_BLOCKS + 1);
    }
    return async () => {
      world.secondProvider.behave('honest');
      await world.rpc('chain_fault');
    };
  },
});

export const rpcFaults = (world: World): Fault[] => [
  provider(world, 'rpc-send-times-out', [1000, 4000], () => [
    { method: 'sendTransaction', kind: 'timeout_after_accept' },
  ]),
  provider(world, 'rpc-send-drop', [1000, 5000], () => [{ method: 'sendTransaction', kind: 'drop' }]),
  provider(world, 'rpc-send-twice', [1000, 4000], () => [{ method: 'sendTransaction', kind: 'duplicate' }]),
  provider(world, 'rpc-delay', [1000, 4000], (rng) => [
    { method: '*', kind: 'delay', ms: rng.int(50, 1500) },
  ]),
  provider(world, 'rpc-drop', [500, 3000], () => [{ method: '*', kind: 'drop' }]),
  provider(world, 'rpc-times-out', [500, 3000], () => [{ method: '*', kind: 'timeout_after_accept' }]),
  provider(world, 'rpc-swap', [1000, 4000], () => [{ method: '*', kind: 'swap' }]),
  provider(world, 'rpc-null-status', [2000, 8000], () => [
    { method: 'getSignatureStatuses', kind: 'lie_null' },
    { method: 'getTransaction', kind: 'lie_null' },
  ]),
  {
    // Nothing is known of what landed, and its blockhash is long past: the moment to pay twice.
    name: 'rpc-null-status-past-expiry',
    holdMs: [1000, 3000],
    inject: async () => {
      await world.rpc('chain_fault', { method: 'getSignatureStatuses', kind: 'lie_null' });
      await sleep(500);
      await world.rpc('chain_advance', BLOCKHASH_BLOCKS + FINAL_BLOCKS + 1);
      return async () => {
        await world.rpc('chain_fault');
      };
    },
  },
  secondProvider(world, 'rpc-second-lags', (rng) => ({ lagSlots: rng.int(5, 120) })),
  secondProvider(world, 'rpc-second-forgets', () => 'forgets'),
  ...LIES.map((lie) => lying(world, lie)),
];
