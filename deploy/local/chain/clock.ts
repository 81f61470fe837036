import type { Chain } from './chain.ts';

/**
 * The pace at slot time 0. Slots still pass, because otherwise no transaction would become final or
 * expire.
 */
const PACE_WHEN_AT_ONCE_MS = 400;

export type Clock = ReturnType<typeof createClock>;

/**
 * Advances the slots by time, once `set` has unpaused it.
 *
 * @param slotMs Milliseconds per slot; 0 confirms transactions at once, with slots at the real
 *   network's pace.
 */
export const createClock = (chain: Chain, slotMs: number) => {
  let timer: NodeJS.Timeout | undefined;
  let current = { slotMs, paused: true };

  const set = (wanted: { slotMs: number; paused: boolean }): void => {
    clearInterval(timer);
    current = wanted;
    chain.ledger.setConfirmedAfterSlots(wanted.slotMs === 0 ? 0 : 1);
    if (!wanted.paused) timer = setInterval(chain.tick, wanted.slotMs || PACE_WHEN_AT_ONCE_MS);
  };

  return {
    get: () => current,
    set,
    stop: () => clearInterval(timer),
  };
};
