import { isOrder } from './order-address.ts';

/**
 * The payment that a person has left, and comes back to in another tab: from the mail with a
 * sign-in link, or from a purchase of money. The API keeps the one of the mail with the link too,
 * for another browser: the mail has nothing of it.
 */

type Environment = 'test' | 'live';
type Waiting = { address: string; environment: Environment; until: number };

/** What the person has left for: the key of its order in the browser, and how long that is kept. */
const KEPT = {
  /** As long as a mailed link works. */
  'sign-in': { key: 'quittance.order', ms: 15 * 60_000 },
  /** Longer than a purchase by card takes. The tab of the order waits without an end. */
  money: { key: 'quittance.order.money', ms: 60 * 60_000 },
} as const;
type Reason = keyof typeof KEPT;
/** Reports to the other tabs of an order that it continues in this one. */
const channel = new BroadcastChannel('quittance-order');

/** The address of this page as an order has it. */
const hereAddress = (): string => `${location.pathname}${location.hash}`;

/** The order of this page. Undefined: it has none. */
export const hereOrder = (): string | undefined => {
  const address = hereAddress();
  return isOrder(address) ? address : undefined;
};

/** Keeps the order of this page, if it is one, for the tab in which the person comes back to it. */
export const keepOrder = (environment: Environment, reason: Reason, now = Date.now()): void => {
  const address = hereOrder();
  if (address === undefined) return;
  const waiting: Waiting = { address, environment, until: now + KEPT[reason].ms };
  localStorage.setItem(KEPT[reason].key, JSON.stringify(waiting));
};

/** The address of the order that waits in this environment. Null: none does. */
export const waitingOrder = (environment: Environment, reason: Reason, now = Date.now()): string | null => {
  try {
    const kept = JSON.parse(localStorage.getItem(KEPT[reason].key) ?? 'null') as Partial<Waiting> | null;
    const isNow = kept?.environment === environment && Number(kept.until) > now;
    return isNow && isOrder(kept.address) ? kept.address : null;
  } catch {
    return null;
  }
};

/** Ends the waiting of this page's order, because its person pays it now. */
export const endWaiting = (environment: Environment): void => {
  if (waitingOrder(environment, 'money') === hereAddress()) localStorage.removeItem(KEPT.money.key);
};

/** Continues an order in this tab, and reports that to the tab that it was opened in. */
export const continueOrder = (address: string): void => {
  for (const { key } of Object.values(KEPT)) localStorage.removeItem(key);
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
