import { IN_PROGRESS, isRefusal, type Refusal, usedUp } from '../base/answers.ts';
import type { Authorization } from '../base/authorizations.ts';
import type { Begun, Deliveries, Opening } from '../base/deliveries.ts';
import type { Bill, Payment } from '../base/dialect.ts';
import { delivered, type Finish, UNDONE } from '../base/ends.ts';
import { createMetering, type Metering } from '../base/meter.ts';
import type { MeteredBill } from '../base/metered-route.ts';
import type { PaywallStore } from '../base/store.ts';
import { createExtend } from './extend.ts';
import { nextOfTab } from './next-of-tab.ts';
import { createTabs, type Tabs } from './tabs.ts';

/**
 * Deliveries that are paid by their use: the buyer has authorized a ceiling, the handler reports
 * what it used, and that is captured. A tab serves many calls and is captured once.
 */

type Request = {
  key: string;
  hash: string;
  /** Its `x-payment-request-id`. */
  requestId: string | null;
};
type Deps = { store: PaywallStore; deliveries: Deliveries; onError: (error: unknown) => void };
type Delivering = Extract<Begun, { kind: 'deliver' }>;

const MAX_TRIES = 8;
/** How long a call waits for concurrent ones to release what they did not use. */
const RELEASE_MS = 5000;
/** How long the answer to a failed call waits until its authorization is released. */
const VOID_MS = 5000;

const within = (ms: number, done: Promise<unknown>): Promise<unknown> => {
  let timer: unknown;
  const over = new Promise((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  return Promise.race([done, over]).finally(() => clearTimeout(timer as number));
};

/** A delivery with its meter. @param ended runs after it. The call is under way until it leaves */
const withMeter = (
  begun: Delivering,
  authorization: Authorization,
  metering: Metering,
  ended: (isDropped: boolean, leaveCall: () => void) => Promise<void>,
): Begun => {
  const leaveCall = authorization.calls.enter(metering.stop);
  let isOver = false;
  const finish: Finish = async (end) => {
    if (isOver) return;
    isOver = true;
    const isDropped = end.kind === 'failed' && !metering.hasBegun();
    if (isDropped) metering.drop();
    else if (end.kind !== 'failed') {
      metering.begin();
      metering.leave();
    }
    await ended(isDropped, leaveCall);
    // A delivery that broke off has cost what it had used, so it is not made again.
    await begun.finish(isDropped ? UNDONE : end.kind === 'failed' ? delivered(null) : end);
  };
  // It ends as soon as its buyer has left.
  return { ...begun, finish, left: async () => {}, metering };
};

/** One delivery for one authorization, which is captured or voided after it. */
const createOne = ({ deliveries, onError }: Deps) => {
  return async (payment: Payment, bill: Bill, terms: MeteredBill, request: Request): Promise<Begun> => {
    const { open, known } = payment.authorization!;
    let opened: Authorization | Refusal | null = null;
    const take = async (isRepeat: boolean): Promise<Opening> => {
      opened = known() ?? (await open());
      if (isRefusal(opened)) return opened;
      return opened.refusal() ?? (opened.used() > 0n && !isRepeat ? 'spent' : 'open');
    };
    const begun = await deliveries.once({
      ...request,
      refusal: () => payment.mismatch(bill),
      open: ({ isRepeat }) => take(isRepeat),
    });
    if (begun.kind !== 'deliver') return begun;
    // The delivery may go on after a crash. Then its authorization is not open here.
    const found: Authorization | Refusal = opened ?? known() ?? (await open());
    const refusal = isRefusal(found) ? found : found.refusal();
    if (isRefusal(found) || refusal !== null) {
      await begun.finish(UNDONE);
      return refusal!;
    }
    const metering = createMetering({
      authorization: found,
      bill: terms,
      leftBesides: null,
      onFault: onError,
      most: found.ceiling(),
      credit: found.used(),
    });
    return withMeter(begun, found, metering, async (isDropped, leaveCall) => {
      leaveCall();
      const ended = found.end('closed');
      if (isDropped) await within(VOID_MS, ended);
    });
  };
};

/** Takes the price of a call from its tab. */
const createTake = ({ deliveries }: Deps, tabs: Tabs) => {
  const extend = createExtend(tabs);

  return async (
    payment: Payment,
    bill: Bill,
    terms: MeteredBill,
    request: Request,
  ): Promise<{ begun: Begun; left: bigint; authorization: Authorization } | Begun> => {
    const { key } = payment;
    const { known, open, read } = payment.authorization!;
    const found = known() ?? (await open());
    if (isRefusal(found)) return found;
    const count = (): ReturnType<Deliveries['counted']> =>
      bill.replays
        ? deliveries.counted(tabs.counterOf(key), terms.perCall, request)
        : deliveries.countedOnce(tabs.counterOf(key), terms.perCall);
    const useUp = (): Refusal => {
      void tabs.end(key, found, 'used_up');
      return usedUp('authorization_used_up');
    };
    const until = Date.now() + RELEASE_MS;
    for (let tries = 0; tries < MAX_TRIES || Date.now() < until; tries += 1) {
      const refusal = found.refusal();
      const counted = refusal === null ? await count() : 'empty';
      const left = refusal === null && counted === 'empty' ? await tabs.read(key) : null;
      const state = { refusal, count: typeof counted === 'string' ? counted : 'taken', left } as const;
      switch (nextOfTab({ ...state, hasOthers: found.calls.count() > 0 }, terms)) {
        case 'deliver':
          return { ...(counted as Exclude<typeof counted, string>), authorization: found };
        case 'busy':
          return IN_PROGRESS;
        case 'end':
          void tabs.end(key, found, 'closed');
          return refusal!;
        case 'refuse':
          return refusal!;
        case 'fill': {
          const opened = found.leftAtOpening() ?? (await read());
          if (isRefusal(opened)) return opened;
          await tabs.fill(key, opened, found, terms.extend);
          break;
        }
        case 'retire':
          found.retire();
          break;
        case 'wait':
          await within(RELEASE_MS, found.calls.next());
          break;
        case 'extend': {
          const extended = await extend(key, payment.authorization!, found, terms);
          if (extended === 'not') return useUp();
          if (extended !== 'extended') return extended;
          break;
        }
        case 'use up':
          return useUp();
        default:
      }
    }
    return IN_PROGRESS;
  };
};

/** True for a tab that is captured now. One to be extended waits for the buyer's next call. */
const isFull = ({ perCall, threshold, extend }: MeteredBill, ceiling: bigint, left: bigint): boolean =>
  (left < perCall && !extend) || (threshold !== null && ceiling - left >= threshold);

/** Ends tabs that are used as far as their routes allow. */
const createCheckFull =
  (tabs: Tabs) =>
  (key: string, found: Authorization, terms: MeteredBill, left: bigint): void => {
    if (isFull(terms, found.ceiling(), left) && (terms.fixed !== null || found.calls.count() === 0))
      void tabs.end(key, found, 'used_up');
  };

/** One of many deliveries of a tab. */
const createOfTab = (deps: Deps, tabs: Tabs) => {
  const { deliveries, onError } = deps;
  const take = createTake(deps, tabs);
  const checkFull = createCheckFull(tabs);

  const deliver = (
    key: string,
    terms: MeteredBill,
    requestId: string | null,
    { begun, left, authorization }: { begun: Delivering; left: bigint | null; authorization: Authorization },
  ): Begun => {
    const { perCall } = terms;
    // The process of the first run has died. What the call can cost was taken then, and stays so.
    // How much of it was reported is not known, so nothing more is.
    const isRepeat = left === null;
    const metering = createMetering({
      authorization,
      bill: terms,
      most: perCall,
      onFault: onError,
      credit: isRepeat ? perCall : 0n,
      leftBesides: left,
    });
    tabs.serving(key, authorization);
    const release = async (): Promise<bigint | null> => {
      const unused = isRepeat ? 0n : metering.unused();
      // If the store fails, the capture releases it.
      return unused === 0n
        ? null
        : tabs
            .release(key, unused)
            .catch(onError)
            .then((now) => now ?? null);
    };
    return withMeter(begun, authorization, metering, async (_isDropped, leaveCall) => {
      const now = await release();
      if (requestId !== null && metering.isLate())
        await tabs.keepUsage(key, requestId, metering.usage()).catch(onError);
      leaveCall();
      if (now !== null) checkFull(key, authorization, terms, now);
    });
  };

  return async (payment: Payment, bill: Bill, terms: MeteredBill, request: Request): Promise<Begun> => {
    const { key } = payment;
    const wrong = await payment.mismatch(bill);
    const taken = wrong ?? (await take(payment, bill, terms, request));
    if (!('kind' in taken)) {
      const { begun, left, authorization } = taken;
      if (terms.fixed !== null) checkFull(key, authorization, terms, left);
      return deliver(key, terms, request.requestId, { begun: begun as Delivering, left, authorization });
    }
    if (taken.kind !== 'refused' || !bill.replays) return taken;
    // The request's own record decides over a refusal.
    const again = await deliveries.once({
      ...request,
      refusal: async () => taken,
      open: async () => 'spent',
    });
    if (again.kind !== 'deliver') return again;
    const authorization = payment.authorization!.known();
    // Without an authorization that can be used, what was paid before is delivered.
    return authorization === undefined
      ? again
      : deliver(key, terms, request.requestId, { begun: again, left: null, authorization });
  };
};

/** Begins deliveries of metered routes. */
export const createMetered = (deps: Deps) => {
  const tabs = createTabs(deps.store, deps.onError);
  const [one, ofTab] = [createOne(deps), createOfTab(deps, tabs)];
  return {
    /** @throws errors of the store; nothing is lost then */
    begin: async (payment: Payment, bill: Bill, terms: MeteredBill, request: Request): Promise<Begun> => {
      if (payment.authorization === undefined)
        return (await payment.mismatch(bill)) ?? usedUp('authorization_closed');
      return (terms.isTab ? ofTab : one)(payment, bill, terms, request);
    },
    /** What a call of a tab has cost. Null: it is not known, or goes on. */
    usageOf: async (payment: Payment, bill: Bill, requestId: string): Promise<string | Refusal | null> =>
      (await payment.mismatch(bill)) ?? tabs.readUsage(payment.key, requestId),
    /** Ends a tab at the buyer's request. What is under way on it ends first. */
    end: async (payment: Payment, bill: Bill): Promise<Refusal | null> => {
      const wrong = await payment.mismatch(bill);
      if (wrong !== null) return wrong;
      const found = payment.authorization!.known() ?? (await payment.authorization!.open());
      if (isRefusal(found)) return found;
      void tabs.end(payment.key, found, 'closed');
      return null;
    },
  };
};
export type Metered = ReturnType<typeof createMetered>;
