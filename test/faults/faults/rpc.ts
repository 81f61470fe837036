import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from '../fault.ts';
import type { Harness } from '../harness.ts';
import { LIES, type Lie } from '../lies.ts';
import type { Rng } from '../rng.ts';
import { BLOCKHASH_BLOCKS, FINAL_BLOCKS } from './chain.ts';

type RpcFault = { method: string; kind: string; ms?: number; count?: number };

/** A fault of the provider that lasts until it is removed. */
const provider = (
  harness: Harness,
  name: string,
  holdMs: Fault['holdMs'],
  choose: (rng: Rng) => RpcFault[],
): Fault => ({
  name,
  holdMs,
  inject: async (rng) => {
    await harness.rpc('chain_fault', ...choose(rng));
    return async () => {
      await harness.rpc('chain_fault');
    };
  },
});

/** One of two providers lags or has no history, while blockhashes expire. */
const secondProvider = (
  { secondProvider: node }: Harness,
  name: string,
  choose: (rng: Rng) => Parameters<Harness['secondProvider']['behave']>[0],
): Fault => ({
  name,
  holdMs: [3000, 7000],
  inject: async (rng) => {
    node.behave(choose(rng));
    return async () => node.behave('honest');
  },
});

/**
 * One of two providers lies. The bytes that it reports as confirmed reach no leader and expire. If
 * the service believed it, the payment would be answered as paid.
 */
const lying = (harness: Harness, lie: Lie): Fault => ({
  name: `rpc-lies-${lie}`,
  holdMs: [1500, 4000],
  inject: async () => {
    harness.secondProvider.behave({ lies: lie });
    if (lie === 'confirmation') {
      await harness.rpc('chain_fault', { method: 'sendTransaction', kind: 'drop' });
      await sleep(1000);
      await harness.rpc('chain_advance', BLOCKHASH_BLOCKS + FINAL_BLOCKS + 1);
    }
    return async () => {
      harness.secondProvider.behave('honest');
      await harness.rpc('chain_fault');
    };
  },
});

/** Within these blocks bytes are far from their true last block. */
const SOME_BLOCKS = 80;

/**
 * One of two providers names true blockhashes and heights that are too low, while the network is
 * congested: what is sent reaches a leader later, however the service has judged it by then.
 */
const lyingAboutHeights = (harness: Harness): Fault => ({
  name: 'rpc-lies-blockhash',
  holdMs: [500, 1500],
  inject: async () => {
    harness.secondProvider.behave({ lies: 'blockhash' });
    await harness.rpc('chain_fault', { method: 'sendTransaction', kind: 'drop' });
    await sleep(1500);
    await harness.rpc('chain_advance', SOME_BLOCKS);
    return async () => {
      const flying = await harness.query<{ wire: Buffer }>(`
        select wire from chain_submitter.transactions join chain_submitter.intents using (intent_id)
        where signed_at > now() - interval '20 seconds' and length(wire) > 0 and kind <> 'outgoing'`);
      harness.secondProvider.behave('honest');
      await harness.rpc('chain_fault');
      const options = { encoding: 'base64', skipPreflight: true };
      // A refusal is no fault: the blockhash may have expired meanwhile.
      for (const { wire } of flying)
        await harness.rpc('sendTransaction', wire.toString('base64'), options).catch(() => {});
    };
  },
});

export const rpcFaults = (harness: Harness): Fault[] => [
  provider(harness, 'rpc-send-times-out', [1000, 4000], () => [
    { method: 'sendTransaction', kind: 'timeout_after_accept' },
  ]),
  provider(harness, 'rpc-send-drop', [1000, 5000], () => [{ method: 'sendTransaction', kind: 'drop' }]),
  provider(harness, 'rpc-send-twice', [1000, 4000], () => [{ method: 'sendTransaction', kind: 'duplicate' }]),
  provider(harness, 'rpc-delay', [1000, 4000], (rng) => [
    { method: '*', kind: 'delay', ms: rng.int(50, 1500) },
  ]),
  provider(harness, 'rpc-drop', [500, 3000], () => [{ method: '*', kind: 'drop' }]),
  provider(harness, 'rpc-times-out', [500, 3000], () => [{ method: '*', kind: 'timeout_after_accept' }]),
  provider(harness, 'rpc-swap', [1000, 4000], () => [{ method: '*', kind: 'swap' }]),
  provider(harness, 'rpc-null-status', [2000, 8000], () => [
    { method: 'getSignatureStatuses', kind: 'lie_null' },
    { method: 'getTransaction', kind: 'lie_null' },
  ]),
  {
    // Nothing is known of what was included, and its blockhash expired long ago. A faulty service
    // would pay a second time now.
    name: 'rpc-null-status-past-expiry',
    holdMs: [1000, 3000],
    inject: async () => {
      await harness.rpc('chain_fault', { method: 'getSignatureStatuses', kind: 'lie_null' });
      await sleep(500);
      await harness.rpc('chain_advance', BLOCKHASH_BLOCKS + FINAL_BLOCKS + 1);
      return async () => {
        await harness.rpc('chain_fault');
      };
    },
  },
  secondProvider(harness, 'rpc-second-lags', (rng) => ({ lagSlots: rng.int(5, 120) })),
  secondProvider(harness, 'rpc-second-forgets', () => 'forgets'),
  ...LIES.filter((lie) => lie !== 'blockhash').map((lie) => lying(harness, lie)),
  lyingAboutHeights(harness),
];
