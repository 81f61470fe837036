import { boundedMap } from '../../bounded-map.ts';
import { IN_PROGRESS, isRefusal, isUsedUp, type Refusal } from '../base/answers.ts';
import type { Begun, Deliveries, Taking } from '../base/deliveries.ts';
import type { Bill, Consumed, Presented } from '../base/dialect.ts';
import type { PaywallStore } from '../base/store.ts';

/**
 * Units of prepaid settlements, consumed in blocks and counted in the store, so that most requests
 * call only the store (docs/adr/0059). The index of a settlement names its blocks. It names a block
 * before the block is consumed, with the id of that call. So a process that goes on after a crash
 * consumes the same block, and no other one while a block has units.
 */
type Block = {
  /** The id for consume. */
  id: string;
  units: number;
  /** Consumed, and its counter was written. */
  filled?: true;
};

/** Longer than units can be consumed. */
const BLOCK_MS = 31 * 24 * 3_600_000;
/** The next block is consumed when a quarter of the last one is left. */
const LOW = 1 / 4;
/** The pause after a block that could not be consumed while units were left. */
const PAUSE_MS = 1000;
/** Others change the index only when they add or fill a block. */
const MAX_TRIES = 8;
const MAX_SETTLEMENTS = 1000;

/** What consumes the units of one settlement. */
type Source = { refusal: () => Refusal | null; consume: (units: number, id: string) => Promise<Consumed> };
/** The blocks of one settlement with units left, as far as this process knows, oldest first. */
type Known = { blocks: readonly string[]; filling: Promise<Filled> | null; waitUntil: number };
type Filled = 'filled' | 'changed' | Refusal;

const counterOf = (key: string, id: string): string => `${key}:block:${id}`;
const read = (text: string | null): Block[] => (text === null ? [] : (JSON.parse(text) as Block[]));

/** Finds or consumes a block of a settlement. */
const createBlocks = (store: PaywallStore) => {
  const hasUnits = async (key: string, { id }: Block) => Number(await store.get(counterOf(key, id))) > 0;

  /** Consumes a block that the index names, and writes its counter and its mark. */
  const consumeBlock = async (
    key: string,
    others: readonly Block[],
    block: Block,
    { consume }: Source,
  ): Promise<Filled> => {
    const text = JSON.stringify([...others, block]);
    const replace = (blocks: readonly Block[]) =>
      store.compareAndSet(`${key}:blocks`, text, JSON.stringify(blocks), BLOCK_MS);
    const consumed = await consume(block.units, block.id);
    if (consumed === 'consumed') {
      // Another process that consumes the same block may have written it. Then nothing is added.
      await store.compareAndSet(counterOf(key, block.id), null, String(block.units), BLOCK_MS);
      await replace([...others, { ...block, filled: true }]);
      return 'changed';
    }
    const isRefused = isRefusal(consumed);
    if (isRefused && !isUsedUp(consumed)) return consumed;
    const smaller =
      isRefused || consumed.left >= block.units ? [] : [{ id: crypto.randomUUID(), units: consumed.left }];
    // Otherwise another process has named what is left.
    const isReplaced = await replace([...others, ...smaller]);
    return isRefused && isReplaced ? consumed : 'changed';
  };

  /**
   * Adds the blocks that this process did not know, or consumes one. `changed`: read again.
   */
  return async (key: string, known: Known, units: number, source: Source): Promise<Filled> => {
    // Read before the index, which then names every block that was consumed before the refusal.
    const refusal = source.refusal();
    const text = await store.get(`${key}:blocks`);
    const named = read(text);
    const states = await Promise.all(
      named.map(async (block) => ({ block, has: block.filled !== true || (await hasUnits(key, block)) })),
    );
    const open = states.filter(({ has }) => has).map(({ block }) => block);
    const filled = open.filter((block) => block.filled === true);
    const fresh = filled.map(({ id }) => id).filter((id) => !known.blocks.includes(id));
    if (fresh.length > 0) {
      known.blocks = [...known.blocks, ...fresh];
      return 'filled';
    }
    const begun = open.find((block) => block.filled !== true);
    if (begun !== undefined && open.length === named.length) return consumeBlock(key, filled, begun, source);
    if (begun === undefined && refusal !== null) return refusal;
    const next = begun ?? { id: crypto.randomUUID(), units };
    const renamed = JSON.stringify([...filled, next]);
    if (!(await store.compareAndSet(`${key}:blocks`, text, renamed, BLOCK_MS))) return 'changed';
    return consumeBlock(key, filled, next, source);
  };
};

/** Fills the blocks of settlements for the requests of this process. */
const createFilling = (store: PaywallStore, onError: (error: unknown) => void) => {
  const findBlock = createBlocks(store);
  const fill = async (key: string, known: Known, units: number, source: Source): Promise<Filled> => {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const filled = await findBlock(key, known, units, source);
      if (filled !== 'changed') return filled;
    }
    return 'changed';
  };
  /** Concurrent requests wait for one block. */
  const now = (key: string, known: Known, units: number, source: Source): Promise<Filled> => {
    known.filling ??= fill(key, known, units, source).finally(() => {
      known.filling = null;
    });
    return known.filling;
  };
  return {
    now,
    /** Consumes the next block while the last one is used. A refusal shows when it matters. */
    early: (key: string, known: Known, units: number, source: Source): void => {
      if (known.filling !== null || Date.now() < known.waitUntil) return;
      const wait = () => {
        known.waitUntil = Date.now() + PAUSE_MS;
      };
      now(key, known, units, source).then(
        (filled) => {
          if (filled !== 'filled') wait();
        },
        (error: unknown) => {
          wait();
          onError(error);
        },
      );
    },
  };
};

type Request = { key: string; hash: string };

/** Takes units that are consumed ahead. */
const createCounting = (store: PaywallStore, deliveries: Deliveries, onError: (error: unknown) => void) => {
  const filling = createFilling(store, onError);
  const settlements = boundedMap<Known>(MAX_SETTLEMENTS);
  const knownOf = (key: string): Known => {
    const known = settlements.get(key);
    if (known !== undefined) return known;
    const fresh: Known = { blocks: [], filling: null, waitUntil: 0 };
    settlements.set(key, fresh);
    return fresh;
  };

  /**
   * Takes one unit of a payment for a request.
   * @returns the delivery, or why there is none as long as the request has no record
   */
  return async (
    key: string,
    ahead: NonNullable<Presented['ahead']>,
    bill: Bill,
    request: Request,
  ): Promise<Begun> => {
    const units = bill.ahead;
    const source: Source = { ...ahead, consume: (some, id) => ahead.consume(bill, some, id) };
    const known = knownOf(key);
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const [block] = known.blocks;
      if (block === undefined) {
        const filled = await filling.now(key, known, units, source);
        if (typeof filled === 'object') return filled;
        continue;
      }
      const counter = counterOf(key, block);
      const counted = bill.replays
        ? await deliveries.counted(counter, 1n, request)
        : await deliveries.countedOnce(counter, 1n, true);
      if (counted === 'held') return IN_PROGRESS;
      if (counted === 'empty') known.blocks = known.blocks.filter((id) => id !== block);
      else {
        const isLow = known.blocks.length === 1 && Number(counted.left) <= units * LOW;
        if (isLow) filling.early(key, known, units, source);
        return counted.begun;
      }
    }
    return { kind: 'busy' };
  };
};

/** Begins deliveries, also for units that are consumed ahead. */
export const createUnitsAhead = (
  store: PaywallStore,
  deliveries: Deliveries,
  onError: (error: unknown) => void,
) => {
  const takeOne = createCounting(store, deliveries, onError);
  /**
   * Begins the delivery of a payment, with a unit that was consumed ahead where the route has such.
   * @param payment with its key in the store
   * @param request the key of the request's record, and its hash
   * @throws errors of the store; nothing is lost then
   */
  return async (
    payment: Omit<Presented, 'id'> & { key: string },
    bill: Bill,
    request: Request,
  ): Promise<Begun> => {
    const { key, order, ahead } = payment;
    const one = { ...request, order, open: (taking: Taking) => payment.take(bill, taking) };
    const mismatch = () => payment.mismatch(bill);
    if (bill.ahead === 1 || ahead === undefined) return deliveries.once({ ...one, refusal: mismatch });
    const wrong = await mismatch();
    const begun: Begun = wrong ?? (await takeOne(key, ahead, bill, request));
    if (begun.kind !== 'refused' || !bill.replays) return begun;
    // The request's own record decides over a refusal. Without one no unit is taken from the API,
    // which may have none while a block has.
    return deliveries.once({ ...one, refusal: async () => begun });
  };
};
