import { boundedMap } from '../../bounded-map.ts';
import type { Client } from '../../client.ts';
import { ApiError, NoAnswerError } from '../../errors.ts';
import type { Output } from '../../types.ts';
import { pause } from '../../wait.ts';
import { failed, type Refusal, unavailable, usedUp } from './answers.ts';
import { createEndWatch, type Ended, type EndWatch, eventOf } from './ended.ts';
import { freshReads } from './fresh-reads.ts';
import type { PaywallEvent } from './log.ts';
import type { StopReason } from './meter.ts';
import { createThrottle } from './throttle.ts';
import { createUsageReports } from './usage-reports.ts';

/** Authorizations of buyers, as this process uses and ends them (docs/guides/metered.md). */

type Ids = { settlement_id: string; settlement_token: string };
type Verified = Output<'settlement.verify'>;

/** The last part of a window is left for reports and the capture. */
const MARGIN_MS = 30_000;
const MAX_KNOWN = 10_000;
/** How long what was read of an authorization is taken for what is left of it. */
const FRESH_MS = 2000;
const PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;
/** How long the end of a process waits for its reports. */
const CLOSING_MS = 10_000;

const marginOf = (windowMs: number): number => Math.min(MARGIN_MS, windowMs / 10);

/** What is left of an authorization in micro-units, and its ceiling, which its buyer may extend. */
export type Left = { left: string; ceiling: bigint };

/** Why an authorization serves no request, or null. @param extend it can be extended when full */
const refusalOf = ({ authorization, status }: Verified, extend: boolean): Refusal | null => {
  if (authorization === undefined) return failed('other_resource');
  if (authorization.at_risk_at !== null) return usedUp('authorization_at_risk');
  if (status !== 'authorized') return usedUp('authorization_closed');
  const { left, used, max_amount } = authorization;
  return left === '0' && !(extend && used === max_amount) ? usedUp('authorization_used_up') : null;
};

const leftOf = ({ left, max_amount }: NonNullable<Verified['authorization']>): Left => ({
  left,
  ceiling: BigInt(max_amount),
});

const REFUSALS = {
  used_up: usedUp('authorization_used_up'),
  at_risk: usedUp('authorization_at_risk'),
  closed: usedUp('authorization_closed'),
  gone: usedUp('authorization_closed'),
} satisfies Record<StopReason, Refusal>;

/** Calls that one process serves on an authorization. */
const createCalls = () => {
  const running = new Map<symbol, (reason: StopReason) => void>();
  let waiting: (() => void)[] = [];
  return {
    /** @returns ends the call */
    enter: (stop: (reason: StopReason) => void): (() => void) => {
      const id = Symbol();
      running.set(id, stop);
      return () => {
        if (!running.delete(id)) return;
        const woken = waiting;
        waiting = [];
        for (const wake of woken) wake();
      };
    },
    stopAll: (reason: StopReason): void => {
      for (const stop of running.values()) stop(reason);
    },
    count: (): number => running.size,
    /** Resolves when a call ends, at once if there is none. */
    next: (): Promise<void> =>
      running.size === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve)),
  };
};

type Deps = {
  client: Client;
  /** Whether no other process serves the same authorizations. */
  isAlone: boolean;
  onError: (error: unknown) => void;
  onEnd: (event: PaywallEvent) => void;
};

/** Calls of the API about authorizations, within its limits. */
const createApi = ({ client }: Pick<Deps, 'client'>) => {
  const [verifies, usages, captures] = [createThrottle(), createThrottle(), createThrottle()];
  const { settlement } = client;
  return {
    verify: (settlement_id: string) => verifies(() => settlement.verify({ settlement_id })),
    usage: (input: Parameters<typeof settlement.usage>[0]) => usages(() => settlement.usage(input)),
    capture: (settlement_id: string) => captures(() => settlement.capture({ settlement_id })),
    void: (settlement_id: string, discard_usage: boolean) =>
      captures(() => settlement.void({ settlement_id, ...(discard_usage && { discard_usage }) })),
  };
};
type Api = ReturnType<typeof createApi>;

const codeOf = (error: unknown): string | null => (error instanceof ApiError ? error.code : null);

/** What other processes have to do with an authorization that ends. */
type Ending = {
  /** Keeps them from beginning calls on it. */
  before?: () => Promise<void>;
  /** Waits for their calls and reports. */
  others?: () => Promise<void>;
  /** False: one of them may have use that it has not reported. */
  isAllReported?: () => Promise<boolean>;
};

/** What was used of an authorization that ends. */
type Use = Pick<Required<Ending>, 'isAllReported'> & {
  /** What the API has last said, in micro-units. */
  used: () => bigint;
  /** Reads what all processes have reported. */
  refresh: () => Promise<void>;
};

/** Something else has ended it: the API, another process, or its window. */
type EndedElsewhere = 'elsewhere';

/**
 * Captures what was reported, or releases what is held if that is nothing or below the fee.
 * Nothing is released while another process may have use to report: the window's end decides then.
 */
const endOnce = async (
  api: Api,
  id: string,
  { used, refresh, isAllReported }: Use,
): Promise<Ended | EndedElsewhere> => {
  if (used() === 0n && (await isAllReported())) {
    try {
      await api.void(id, false);
      return null;
    } catch (error) {
      // Another process has reported use.
      if (codeOf(error) !== 'conflict') throw error;
    }
  }
  try {
    const { captured_amount, fee_amount } = await api.capture(id);
    return { paid: captured_amount, fee: fee_amount };
  } catch (error) {
    if (codeOf(error) === 'authorization_closed') return 'elsewhere';
    // Nobody gets what does not exceed the fee, so the buyer's money need not wait for the window.
    if (codeOf(error) !== 'capture_below_fee') throw error;
    if (!(await isAllReported())) await refresh();
    return (await isAllReported()) ? { unpaid: (await api.void(id, true)).used } : 'elsewhere';
  }
};

/** Repeats `endOnce` until the API has decided, or its own job ends the authorization. */
const end = async (api: Api, id: string, use: Use, endsAt: number): Promise<Ended | EndedElsewhere> => {
  for (let tries = 0; ; tries += 1) {
    try {
      return await endOnce(api, id, use);
    } catch (error) {
      const isTemporary = error instanceof NoAnswerError || (error instanceof ApiError && error.retryable);
      const waitMs = (isTemporary && error.retryAfterMs) || PAUSE_MS * 2 ** Math.min(tries, 6);
      if (!isTemporary || Date.now() + waitMs > endsAt) throw error;
      await pause(Math.min(waitMs, LONGEST_PAUSE_MS));
    }
  }
};

/** A value that is returned for a moment. */
const ofMoment = <T>(value: T): (() => T | null) => {
  const readAt = Date.now();
  return () => (Date.now() - readAt < FRESH_MS ? value : null);
};

/** Repeats a step until it succeeds or the window has ended. */
const until = async (endsAt: number, step: () => Promise<void>, onError: (error: unknown) => void) => {
  for (;;) {
    try {
      return await step();
    } catch (error) {
      onError(error);
      if (Date.now() > endsAt) return;
      await pause(PAUSE_MS);
    }
  }
};

type Context = {
  api: Api;
  /** The flushes of those with use that is not reported yet. */
  unreported: Map<string, () => Promise<boolean>>;
} & Pick<Deps, 'isAlone' | 'onError' | 'onEnd'>;

const isAtRisk = async (api: Api, id: string): Promise<boolean> => {
  const found = await api.verify(id).catch(() => null);
  return (found?.authorization?.at_risk_at ?? null) !== null;
};

/** What is used of an authorization, and its ceiling, as the API has last said. */
const createFigures = (
  api: Api,
  id: string,
  { used, max_amount }: Pick<NonNullable<Verified['authorization']>, 'used' | 'max_amount'>,
) => {
  let [usedMicro, ceiling] = [BigInt(used), BigInt(max_amount)];
  const reported = (now: { used: string; max_amount: string }): void => {
    [usedMicro, ceiling] = [BigInt(now.used), BigInt(now.max_amount)];
  };
  return {
    used: (): bigint => usedMicro,
    ceiling: (): bigint => ceiling,
    reported,
    /** Reads what all processes have reported. */
    refresh: async (): Promise<void> => {
      const { authorization } = await api.verify(id);
      if (authorization !== undefined) reported(authorization);
    },
    /** Its buyer has extended it. */
    extendedTo: (now: bigint): void => {
      ceiling = now;
    },
  };
};

type Finishing = {
  id: string;
  endsAt: number;
  calls: ReturnType<typeof createCalls>;
  reports: Pick<ReturnType<typeof createUsageReports>, 'flush'>;
  figures: Omit<Use, 'isAllReported'>;
  leastCapture: string;
  watch: EndWatch;
};

/** Ends an authorization once its calls have ended, here and in other processes. */
const finish = async (
  { api, onError }: Pick<Context, 'api' | 'onError'>,
  { id, endsAt, calls, reports, figures, leastCapture, watch }: Finishing,
  { before, others, isAllReported = async () => true }: Ending,
): Promise<void> => {
  if (before !== undefined) await until(endsAt, before, onError);
  while (calls.count() > 0) await calls.next();
  while (!(await reports.flush())) await pause(PAUSE_MS);
  if (others !== undefined) await until(endsAt, others, onError);
  const ended = await end(api, id, { ...figures, isAllReported }, endsAt);
  if (ended === 'elsewhere') watch.logByApi(false);
  else watch.ended(eventOf(ended, id, leastCapture));
};

const createAuthorization = (
  { settlement_id, settlement_token }: Ids,
  authorization: NonNullable<Verified['authorization']>,
  { api, unreported, isAlone, onError, onEnd }: Context,
) => {
  const endsAt = Date.parse(authorization.capture_ends_at);
  const [servesUntil, calls] = [endsAt - marginOf(endsAt - Date.now()), createCalls()];
  const { reported, ...figures } = createFigures(api, settlement_id, authorization);
  const watch = createEndWatch(settlement_id, endsAt, {
    read: () => api.verify(settlement_id),
    isAlone,
    onEnd,
  });
  let stopped: StopReason | null = null;
  let ending: Promise<void> | null = null;
  const retire = (): void => {
    stopped ??= 'closed';
  };
  /** Stops its calls, with the reason that only a read of it shows. */
  const stopAfter = async (error: ApiError): Promise<void> => {
    retire();
    unreported.delete(settlement_id);
    if (error.code !== 'authorization_closed') onError(error);
    else watch.logByApi(true);
    if (await isAtRisk(api, settlement_id)) stopped = 'at_risk';
    calls.stopAll(stopped ?? 'closed');
  };
  const reports = createUsageReports({
    report: async (usages) => {
      reported(await api.usage({ settlement_id, settlement_token, usages }));
    },
    onReported: () => unreported.delete(settlement_id),
    onRefused: (error) => void stopAfter(error),
    onError,
  });
  const leastCapture = authorization.least_capture;
  const finishing = { id: settlement_id, endsAt, calls, reports, figures, leastCapture, watch };

  return {
    id: settlement_id,
    ...figures,
    endsAt,
    /** What was left when it was opened. Null: that is too long ago. */
    leftAtOpening: ofMoment(leftOf(authorization)),
    /** Adds to what is reported as used. */
    add: (amountMicro: bigint): void => {
      unreported.set(settlement_id, reports.flush);
      reports.add(amountMicro);
      watch.used();
    },
    calls,
    /** True while a call runs, or has use that is not reported yet. */
    isBusy: (): boolean => calls.count() > 0 || !reports.isEmpty(),
    /** No further call begins on it. Those under way go on. */
    retire,
    /** Why it serves no further request, or null. */
    refusal: (): Refusal | null => {
      if (Date.now() >= servesUntil) retire();
      if (stopped !== null) return REFUSALS[stopped];
      return reports.isStale() ? unavailable('usage_unreported') : null;
    },
    /** Ends it once its calls have ended: captures what was used. */
    end: (reason: StopReason, steps: Ending = {}): Promise<void> => {
      stopped ??= reason;
      ending ??= finish({ api, onError }, finishing, steps).catch(onError);
      return ending;
    },
  };
};
export type Authorization = ReturnType<typeof createAuthorization>;

/** The authorizations that this process serves. */
export const createAuthorizations = ({ client, ...deps }: Deps) => {
  const api = createApi({ client });
  const known = boundedMap<Authorization>(MAX_KNOWN);
  const unreported: Context['unreported'] = new Map();
  const opening = new Map<string, Promise<Authorization | Refusal>>();
  const reads = boundedMap<() => Promise<Verified>>(MAX_KNOWN);
  /** Reads that show what has happened before they were asked for. */
  const readsOf = (settlementId: string): (() => Promise<Verified>) => {
    const read = () => api.verify(settlementId);
    const found = reads.get(settlementId) ?? freshReads(read, (verified) => verified.quote_amount);
    reads.set(settlementId, found);
    return found;
  };

  const open = async (ids: Ids, extend: boolean): Promise<Authorization | Refusal> => {
    const verified = await api.verify(ids.settlement_id);
    const refusal = refusalOf(verified, extend);
    if (refusal !== null) return refusal;
    const authorization = createAuthorization(ids, verified.authorization!, { api, unreported, ...deps });
    known.set(ids.settlement_id, authorization);
    return authorization;
  };

  return {
    /** One that this process serves, or has served. */
    known: (settlementId: string): Authorization | undefined => known.get(settlementId),
    /** Reads an authorization of the API. Concurrent requests share the call. */
    open: (ids: Ids, extend: boolean): Promise<Authorization | Refusal> => {
      const under = opening.get(ids.settlement_id);
      if (under !== undefined) return under;
      const opened = open(ids, extend).finally(() => opening.delete(ids.settlement_id));
      opening.set(ids.settlement_id, opened);
      return opened;
    },
    /** Reports what is not reported yet, while the API answers. */
    close: async (): Promise<void> => {
      const endsAt = Date.now() + CLOSING_MS;
      const report = async (flush: () => Promise<boolean>): Promise<void> => {
        while (!(await flush()) && Date.now() < endsAt) await pause(PAUSE_MS);
      };
      await Promise.all([...unreported.values()].map(report));
    },
    /** Reads what the API says is left of it now. */
    read: async ({ settlement_id }: Ids, extend: boolean): Promise<Left | Refusal> => {
      const verified = await readsOf(settlement_id)();
      return refusalOf(verified, extend) ?? leftOf(verified.authorization!);
    },
  };
};
export type Authorizations = ReturnType<typeof createAuthorizations>;
