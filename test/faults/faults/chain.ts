import { setTimeout as sleep } from 'node:timers/promises';
import { type Fault, over } from '../fault.ts';
import type { Harness } from '../harness.ts';

/** The number of blocks for which a blockhash is valid, and the number until a block is final. */
export const BLOCKHASH_BLOCKS = 150;
export const FINAL_BLOCKS = 32;
/** A settle's caller waits for 15 s before it gets 202. */
const PAST_THE_WAIT_MS = [15_500, 18_000] as const;
const DEEPEST_FORK = 20;

/** The number of slots by which a fork removes a transaction; null when it is too old. */
const slotsToUndo = async (harness: Harness, hash: string): Promise<number | null> => {
  const { value } = await harness.rpc<{ value: ({ slot: number } | null)[] }>('getSignatureStatuses', [hash]);
  const { slot } = await harness.rpc<{ slot: number }>('chain_clock');
  const slots = value[0] ? slot - value[0].slot + 1 : null;
  return slots !== null && slots < FINAL_BLOCKS ? slots : null;
};

const forkBy = async (harness: Harness, slots: number): Promise<boolean> => {
  const { lost } = await harness.rpc<{ lost: string[] }>('chain_fork', slots);
  harness.forks += 1;
  return lost.length > 0;
};

/** Waits for a payment that was redeemed a moment ago and removes it by a fork, after `first`. */
const forkRedeemed = async (
  harness: Harness,
  redeemed: readonly string[],
  first: () => Promise<unknown> = async () => {},
): Promise<boolean> => {
  const before = redeemed.length;
  for (let waited = 0; waited < 5000; waited += 20) {
    if (redeemed.length > before) {
      const slots = await slotsToUndo(harness, redeemed.at(-1)!);
      if (slots !== null) {
        await first();
        return forkBy(harness, slots);
      }
    }
    await sleep(20);
  }
  return false;
};

const standsStill = (harness: Harness, name: string, holdMs: Fault['holdMs']): Fault => ({
  name,
  holdMs,
  inject: async () => {
    await harness.rpc('chain_clock', { paused: true });
    return async () => {
      await harness.rpc('chain_clock', { paused: false });
    };
  },
});

/** Includes bytes that reached no leader, in the last block but one in which they are valid. */
const includedAtTheLastSlot = (harness: Harness): Fault => ({
  name: 'inclusion-one-slot-before-expiry',
  holdMs: [500, 1500],
  inject: async () => {
    await harness.rpc('chain_fault', { method: 'sendTransaction', kind: 'drop' });
    await sleep(1200);
    const { blockHeight } = await harness.rpc<{ blockHeight: number }>('chain_clock', { paused: true });
    const flying = await harness.query<{ wire: Buffer; last: number }>(`
      select wire, last_valid_block_height::int as last from chain_submitter.transactions
      join chain_submitter.intents using (intent_id)
      where transactions.status = 'live' and intents.status in ('signed', 'reopened') and length(wire) > 0
        and kind <> 'outgoing'`);
    const last = Math.min(...flying.map((bytes) => bytes.last));
    const blocks = last - 1 - blockHeight;
    const possible = flying.length > 0 && blocks > 0;
    if (possible) await harness.rpc('chain_advance', blocks);
    await harness.rpc('chain_fault');
    const eldest = flying.filter((bytes) => possible && bytes.last === last);
    for (const { wire } of eldest)
      await harness.rpc('sendTransaction', wire.toString('base64'), {
        encoding: 'base64',
        skipPreflight: true,
      });
    await harness.rpc('chain_clock', { paused: false });
    return possible ? over : null;
  },
});

export const chainFaults = (harness: Harness, redeemed: readonly string[]): Fault[] => [
  {
    name: 'chain-kill',
    holdMs: [500, 2000],
    // The following faults use the chain, so this one waits until it has started again, however
    // long that takes.
    inject: async () => ((await harness.kill('chain')) ? harness.chainIsBack : null),
  },
  {
    name: 'fork',
    holdMs: [300, 1500],
    inject: async (rng) => {
      await forkBy(harness, rng.int(1, DEEPEST_FORK + 1));
      return over;
    },
  },
  {
    name: 'fork-after-redeem',
    holdMs: [300, 1500],
    inject: async () => ((await forkRedeemed(harness, redeemed)) ? over : null),
  },
  {
    // The original bytes are sent again, reach no leader and expire. Another generation must pay
    // the same settlement.
    name: 'fork-original-never-lands',
    holdMs: [500, 1500],
    inject: async () => {
      const forked = await forkRedeemed(harness, redeemed, () =>
        harness.rpc('chain_fault', { method: 'sendTransaction', kind: 'drop' }),
      );
      if (forked) {
        // Until the submitters have observed the fork.
        await sleep(2500);
        await harness.rpc('chain_advance', BLOCKHASH_BLOCKS + FINAL_BLOCKS + 1);
      }
      const heal = async () => {
        await harness.rpc('chain_fault');
      };
      return forked ? heal : heal().then(() => null);
    },
  },
  {
    name: 'expiry-of-dropped-sends',
    holdMs: [1500, 3000],
    inject: async () => {
      await harness.rpc('chain_fault', { method: 'sendTransaction', kind: 'drop' });
      await sleep(1000);
      await harness.rpc('chain_advance', BLOCKHASH_BLOCKS + FINAL_BLOCKS + 1);
      return async () => {
        await harness.rpc('chain_fault');
      };
    },
  },
  {
    // Bytes that were committed and never sent grow old in a paused process, which then resumes and
    // sends them.
    name: 'expiry-in-stopped-submitters',
    holdMs: [500, 1500],
    inject: async () => {
      const names = harness.names.filter((name) => name.startsWith('chain-submitter'));
      for (const name of names) harness.send(name, 'SIGSTOP');
      await harness.rpc('chain_advance', BLOCKHASH_BLOCKS + FINAL_BLOCKS + 1);
      return async () => {
        for (const name of names) harness.send(name, 'SIGCONT');
      };
    },
  },
  {
    name: 'blocks-jump',
    holdMs: [200, 800],
    inject: async (rng) => {
      await harness.rpc('chain_advance', rng.int(BLOCKHASH_BLOCKS - 10, BLOCKHASH_BLOCKS + FINAL_BLOCKS));
      return over;
    },
  },
  standsStill(harness, 'chain-stands-still', [1000, 4000]),
  standsStill(harness, 'confirmation-after-the-wait', PAST_THE_WAIT_MS),
  includedAtTheLastSlot(harness),
];
