import { setTimeout as sleep } from 'node:timers/promises';
import { type Fault, over } from '../fault.ts';
import type { Attempt, Ledger } from '../ledger.ts';
import { bodyOf } from '../ledger.ts';
import type { World } from '../world.ts';

/** Blocks that a blockhash lasts, and those until a block is final. */
export const BLOCKHASH_BLOCKS = 150;
export const FINAL_BLOCKS = 32;
/** A settle's caller waits for 15 s before it is told 202. */
const PAST_THE_WAIT_MS = [15_500, 18_000] as const;
const DEEPEST_FORK = 20;

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

const standsStill = (world: World, name: string, holdMs: Fault['holdMs']): Fault => ({
  name,
  holdMs,
  inject: async () => {
    await world.rpc('chain_clock', { paused: true });
    return async () => {
      await world.rpc('chain_clock', { paused: false });
    };
  },
});

/** Bytes that reached nobody land in the last block but one in which they can. */
const landingAtTheLastSlot = (world: World): Fault => ({
  name: 'landing-one-slot-before-expiry',
  holdMs: [500, 1500],
  inject: async () => {
    await world.rpc('chain_fault', { method: 'sendTransaction', kind: 'drop' });
    await sleep(1200);
    const { blockHeight } = await world.rpc<{ blockHeight: number }>('chain_clock', { paused: true });
    const flying = await world.query<{ wire: Buffer; last: number }>(`
      select wire, last_valid_block_height::int as last from chain_submitter.transactions
      join chain_submitter.intents using (intent_id)
      where transactions.status = 'live' and intents.status in ('signed', 'reopened') and length(wire) > 0`);
    const last = Math.min(...flying.map((bytes) => bytes.last));
    const blocks = last - 1 - blockHeight;
    const possible = flying.length > 0 && blocks > 0;
    if (possible) await world.rpc('chain_advance', blocks);
    await world.rpc('chain_fault');
    const eldest = flying.filter((bytes) => possible && bytes.last === last);
    for (const { wire } of eldest)
      await world.rpc('sendTransaction', wire.toString('base64'), {
        encoding: 'base64',
        skipPreflight: true,
      });
    await world.rpc('chain_clock', { paused: false });
    return possible ? over : null;
  },
});

export const chainFaults = (world: World, ledger: Ledger): Fault[] => [
  {
    name: 'chain-kill',
    holdMs: [500, 2000],
    // The faults after it work on the chain: they need one that has started again, however long that takes here.
    inject: async () => ((await world.kill('chain')) ? world.chainIsBack : null),
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
  standsStill(world, 'chain-stands-still', [1000, 4000]),
  standsStill(world, 'confirmation-after-the-wait', PAST_THE_WAIT_MS),
  landingAtTheLastSlot(world),
];
