import type { Chain } from './chain.ts';
import { FINALIZED_AFTER_SLOTS } from './ledger.ts';

/**
 * The pace at slot time 0. Slots still pass, because otherwise no transaction would become final or
 * expire.
 */
const PACE_WHEN_AT_ONCE_MS = 400;

type Pace = {
  slotMs: number;
  paused: boolean;
  /** Slots pass only until the newest transaction is final. */
  onDemand: boolean;
};
export type Clock = ReturnType<typeof createClock>;

/**
 * Advances the slots by time, once `set` has unpaused it.
 *
 * @param slotMs Milliseconds per slot; 0 confirms transactions at once, with slots at the real
 *   network's pace.
 */
export const createClock = (chain: Chain, slotMs: number) => {
  let timer: NodeJS.Timeout | undefined;
  let current: Pace = { slotMs, paused: true, onDemand: false };
  /** The slot at which a clock on demand stops. */
  let lastSlot = 0;

  const stop = () => {
    clearInterval(timer);
    timer = undefined;
  };
  const tick = () => {
    chain.tick();
    if (current.onDemand && chain.ledger.slot() >= lastSlot) stop();
  };
  const run = () => {
    lastSlot = chain.ledger.slot() + FINALIZED_AFTER_SLOTS + 1;
    if (!current.paused) timer ??= setInterval(tick, current.slotMs || PACE_WHEN_AT_ONCE_MS);
  };
  chain.listen(({ type }) => {
    if (type === 'transaction') run();
  });

  return {
    get: () => current,
    set: (wanted: Pace): void => {
      stop();
      current = wanted;
      chain.ledger.setConfirmedAfterSlots(wanted.slotMs === 0 ? 0 : 1);
      run();
    },
    stop,
  };
};
