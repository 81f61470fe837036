import { isOrder } from './order-address.ts';

/**
 * The payment that a person was making when they asked for a sign-in link. The tab that the mail
 * opens continues it. The API keeps it with the link, for another browser: the mail has nothing of
 * it.
 */

type Environment = 'test' | 'live';
type Waiting = { address: string; environment: Environment; until: number };

const KEY = 'quittance.order';
/** As long as a mailed link works. */
const KEPT_MS = 15 * 60_000;
/** Reports to the other tabs of an order that it continues in this one. */
const channel = new BroadcastChannel('quittance-order');

/** The address of this page as an order has it. */
const hereAddress = (): string => `${location.pathname}${location.hash}`;

/** The order of this page. Undefined: it has none. */
export const hereOrder = (): string | undefined => {
  const address = hereAddress();
  return isOrder(address) ? address : undefined;
};

/** Keeps the order of this page, if it is one, for the tab that a mailed link opens. */
export const keepOrder = (environment: Environment, now = Date.now()): void => {
  const address = hereOrder();
  if (address === undefined) return;
  const waiting: Waiting = { address, environment, until: now + KEPT_MS };
  localStorage.setItem(KEY, JSON.stringify(waiting));
};

/** The address of the order that waits for a sign-in to this environment. Null: none does. */
export const waitingOrder = (environment: Environment, now = Date.now()): string | null => {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? 'null') as Partial<Waiting> | null;
    const isNow = kept?.environment === environment && Number(kept.until) > now;
    return isNow && isOrder(kept.address) ? kept.address : null;
  } catch {
    return null;
  }
};

/** Continues an order in this tab, and reports that to the tab that it was opened in. */
export const continueOrder = (address: string): void => {
  localStorage.removeItem(KEY);
  channel.postMessage(address);
  location.replace(address);
};

/**
 * Calls back when another tab continues the order of this page.
 * @returns ends that
 */
export const whenContinued = (callback: () => void): (() => void) => {
  const listener = ({ data }: MessageEvent<unknown>) => {
    if (data === hereAddress()) callback();
  };
  channel.addEventListener('message', listener);
  return () => channel.removeEventListener('message', listener);
};
