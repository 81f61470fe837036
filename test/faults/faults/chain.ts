import { setTimeout as sleep } from 'node:timers/promises';
import { type Fault, over } from '../fault.ts';
import type { Attempt, Ledger } from '../ledger.ts';
import { bodyOf } from '../ledger.ts';
import type { Rng } from '../rng.ts';
import type { World } from '../world.ts';

/** Blocks that a blockhash lasts, and those until a block is final. */
const BLOCKHASH_BLOCKS = 150;
const FINAL_BLOCKS = 32;
const DEEPEST_FORK = 20;

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
];

/** The newest redeemed payment, when its slot can still be undone; how many slots that takes. */
const slotsToUndo = async (world: World, attempt: Attempt | undefined): Promise<number | null> => {
  const hash = attempt?.answers.map((answer) => bodyOf(answer).tx_hash).findLast(Boolean);
  if (!hash) return null;
  const { value } = await world.rpc<{ value: ({ slot: number } | null)[] }>('getSignatureStatuses', [hash]);
  const { slot } = await world.rpc<{ slot: number }>('chain_clock');
  const slots = value[0] ? slot - value[0].slot + 1 : null;
  return slots !== null && slots < FINAL_BLOCKS ? slots : null;
};

const forkBy = async (world: World, slots: number): Promise<boolean> => {
  const { lost } = await world.rpc<{ lost: string[] }>('chain_fork', slots);
  world.forks += 1;
  return lost.length > 0;
};

/** Waits for a payment that was redeemed a moment ago and forks it away, after `first`. */
const forkRedeemed = async (
  world: World,
  ledger: Ledger,
  first: () => Promise<unknown> = async () => {},
): Promise<boolean> => {
  const before = ledger.redeemed.length;
  for (let waited = 0; waited < 5000; waited += 20) {
    if (ledger.redeemed.length > before) {
      const slots = await slotsToUndo(world, ledger.redeemed.at(-1));
      if (slots !== null) {
        await first();
        return forkBy(world, slots);
      }
    }
    await sleep(20);
  }
  return false;
};

export const chainFaults = (world: World, ledger: Ledger): Fault[] => [
  {
    name: 'chain-kill',
    holdMs: [500, 2000],
    inject: async () => ((await world.kill('chain')) ? over : null),
  },
  {
    name: 'fork',
    holdMs: [300, 1500],
    inject: async (rng) => {
      await forkBy(world, rng.int(1, DEEPEST_FORK + 1));
      return over;
    },
  },
  {
    name: 'fork-after-redeem',
    holdMs: [300, 1500],
    inject: async () => ((await forkRedeemed(world, ledger)) ? over : null),
  },
  {
    // The original is sent again to nobody and expires: another generation must pay the same settlement.
    name: 'fork-original-never-lands',
    holdMs: [500, 1500],
    inject: async () => {
      const forked = await forkRedeemed(world, ledger, () =>
        world.rpc('chain_fault', { method: 'sendTransaction', kind: 'drop' }),
      );
      if (forked) {
        // Until the submitters have seen that it is gone.
        await sleep(2500);
        await world.rpc('chain_advance', BLOCKHASH_BLOCKS + FINAL_BLOCKS + 1);
      }
      const heal = async () => {
        await world.rpc('chain_fault');
      };
      return forked ? heal : heal().then(() => null);
    },
  },
  {
    name: 'expiry-of-dropped-sends',
    holdMs: [1500, 3000],
    inject: async () => {
      await world.rpc('chain_fault', { method: 'sendTransaction', kind: 'drop' });
      await sleep(1000);
      await world.rpc('chain_advance', BLOCKHASH_BLOCKS + FINAL_BLOCKS + 1);
      return async () => {
        await world.rpc('chain_fault');
      };
    },
  },
  {
    // Bytes that were committed and never sent grow old in a stopped process, which then wakes and sends them.
    name: 'expiry-in-stopped-submitters',
    holdMs: [500, 1500],
    inject: async () => {
      const names = world.names.filter((name) => name.startsWith('chain-submitter'));
      for (const name of names) world.send(name, 'SIGSTOP');
      await world.rpc('chain_advance', BLOCKHASH_BLOCKS + FINAL_BLOCKS + 1);
      return async () => {
        for (const name of names) world.send(name, 'SIGCONT');
      };
    },
  },
  {
    name: 'blocks-jump',
    holdMs: [200, 800],
    inject: async (rng) => {
      await world.rpc('chain_advance', rng.int(BLOCKHASH_BLOCKS - 10, BLOCKHASH_BLOCKS + FINAL_BLOCKS));
      return over;
    },
  },
  {
    name: 'chain-stands-still',
    holdMs: [1000, 4000],
    inject: async () => {
      await world.rpc('chain_clock', { paused: true });
      return async () => {
        await world.rpc('chain_clock', { paused: false });
      };
    },
  },
];
