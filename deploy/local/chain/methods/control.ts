import { z } from 'zod';
import type { Chain } from '../chain.ts';
import type { Clock } from '../clock.ts';
import { invalidParams } from '../errors.ts';
import { type Faults, fault } from '../faults.ts';
import { type Methods, parse } from './params.ts';

const MAX_ADVANCE = 10_000;
const clockSettings = z.strictObject({
  slotMs: z.number().int().min(0).max(60_000).optional(),
  paused: z.boolean().optional(),
  onDemand: z.boolean().optional(),
});

/**
 * Methods with which tests control the chain. They exist only if the process was started with
 * CHAIN_CONTROL=1.
 */
export const controlMethods = (chain: Chain, clock: Clock, faults: Faults): Methods => {
  const { ledger } = chain;
  const position = () => ({ slot: ledger.slot(), blockHeight: ledger.blockAt('processed').height });

  return {
    /** `[slots = 1]`: advances by that many slots at once. → `{ slot, blockHeight }` */
    chain_advance: (params) => {
      const [slots] = parse(params, z.number().int().min(1).max(MAX_ADVANCE).default(1));
      for (let count = 0; count < slots; count += 1) chain.tick();
      return position();
    },

    /** `[slots = 1]`: undoes the newest slots. → `{ slot, blockHeight, lost: [signature, …] }` */
    chain_fork: (params) => {
      const [slots] = parse(params, z.number().int().min(1).default(1));
      const lost = chain.fork(slots);
      if (!lost) throw invalidParams('a fork cannot undo finalized slots');
      return { ...position(), lost };
    },

    /**
     * `[{ method, kind, count?, ms?, for_ms? }, …]`: adds faults; `[]` clears all. → the active
     * faults
     */
    chain_fault: (params) => {
      const wanted = params.map((_, index) => {
        const parsed = fault.safeParse(params[index]);
        if (parsed.success) return parsed.data;
        throw invalidParams(`Invalid params: parameter ${index}: ${parsed.error.issues[0]?.message}`);
      });
      if (wanted.length === 0) faults.clear();
      for (const one of wanted) faults.add(one);
      return faults.list();
    },

    /**
     * `[{ slotMs?, paused?, onDemand? }]`: sets the pace; `[]` only reads it. → `{ slotMs, paused,
     * onDemand, slot, blockHeight }`
     */
    chain_clock: (params) => {
      const [wanted] = parse(params, clockSettings.default({}));
      const old = clock.get();
      if (Object.values(wanted).some((value) => value !== undefined))
        clock.set({
          slotMs: wanted.slotMs ?? old.slotMs,
          paused: wanted.paused ?? old.paused,
          onDemand: wanted.onDemand ?? old.onDemand,
        });
      return { ...clock.get(), ...position() };
    },

    /** `[microLamports]`: blocks leave out what offers a lower price per compute unit. → null */
    chain_fees: (params) => {
      const [microLamports] = parse(params, z.number().int().min(0).max(1_000_000_000));
      chain.setFloor(BigInt(microLamports));
      return null;
    },

    /**
     * `[]` → the numbers of transactions that succeeded, failed in a block, and were refused as
     * already processed.
     */
    chain_stats: () => ({ ...chain.stats }),
  };
};
