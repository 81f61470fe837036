import type { Amount } from '../../amounts.ts';
import { microOf } from '../../amounts.ts';
import { type QuoteClaims, storedClaims } from '../../checks/tokens.ts';
import { NotFoundError } from '../../generated/errors.ts';
import type { ReadSettlement } from '../../settle.ts';
import type { Fetch } from '../../transport.ts';
import { sleep } from '../../wait.ts';
import type { Ledger } from '../base/budget.ts';
import type { EndedTab } from '../base/callbacks.ts';
import { CLOSE_TAB_HEADER, paymentHeaders } from '../base/dialects.ts';
import { PriceAboveCapError } from '../base/errors.ts';
import { isAuthorization, isTab, isUnpaid } from '../base/rules.ts';
import type { PaymentRecord, PaymentStore } from '../base/store.ts';
import type { Prepaid } from './prepaid.ts';

/** The name of authorizations that are open, in the store of payments. */
const NAME = 'authorizations';
/** How long a purchase waits for the end of a tab that it needs the room of. */
const ENDING_MS = 10_000;
const POLL_MS = 250;

type TabsDeps = {
  fetch: Fetch;
  read: ReadSettlement;
  ledger: Ledger;
  store: PaymentStore;
  prepaid: Prepaid;
  maxAmount: Amount;
  ended: (tab: EndedTab) => void;
};

const ceilingOf = ({ quoteToken, ceiling }: PaymentRecord): bigint =>
  BigInt(ceiling ?? storedClaims(quoteToken!).quote_amount);

/** Counts what was captured of authorizations that have ended, once. */
const createForget = (
  { ledger, store, ended }: TabsDeps,
  ceilings: Map<string, bigint>,
  leaving: Set<string>,
) => {
  /** Several calls may see an end at once. */
  const counting = new Set<string>();
  return async ({ id, url, settlement, quoteToken }: PaymentRecord, paidMicro: bigint): Promise<void> => {
    if (counting.has(id) || !(await store.load(NAME)).some((each) => each.id === id)) return;
    counting.add(id);
    ceilings.delete(id);
    leaving.delete(settlement!.settlement_id);
    if (paidMicro === 0n) ledger.release(id);
    else ledger.spend(id, paidMicro);
    try {
      await store.remove(NAME, id);
    } finally {
      counting.delete(id);
    }
    if (isTab(storedClaims(quoteToken!)))
      ended({ settlementId: settlement!.settlement_id, url, paidMicro: String(paidMicro) });
  };
};

/** The ends of authorizations, which the API knows. */
const createEnds = (deps: TabsDeps) => {
  const { fetch, read, prepaid } = deps;
  /** The ceilings that this process opens or has opened. */
  const ceilings = new Map<string, bigint>();
  /** Settlements that their vendor no longer accepts, or was asked to end. */
  const leaving = new Set<string>();
  const forget = createForget(deps, ceilings, leaving);

  /**
   * Reads whether an authorization has ended, and if so, counts what was captured. That is what
   * the payer pays. What its vendor has reported as used may be less, and counts nowhere.
   */
  const hasEnded = async (record: PaymentRecord): Promise<boolean> => {
    const { settlement_id } = record.settlement!;
    try {
      const { status, quote_amount } = await read({ settlement_id }, {});
      if (status === 'authorized') return false;
      await forget(record, isUnpaid(status) ? 0n : BigInt(quote_amount));
      return true;
    } catch (error) {
      if (!(error instanceof NotFoundError)) return false;
      await forget(record, 0n);
      return true;
    }
  };

  const isLeaving = ({ settlement }: PaymentRecord): boolean => leaving.has(settlement!.settlement_id);
  /** No further call uses it. */
  const leave = async ({ url, settlement }: PaymentRecord): Promise<void> => {
    leaving.add(settlement!.settlement_id);
    await prepaid.drop(url, settlement!.settlement_id);
  };

  return {
    ceilings,
    hasEnded,
    isLeaving,
    leave,
    /** Asks a vendor to end a tab. What is under way on it ends first. */
    begin: async (record: PaymentRecord): Promise<void> => {
      if (isLeaving(record)) return;
      await leave(record);
      const { url, settlement, method = 'GET', quoteToken } = record;
      if (!isTab(storedClaims(quoteToken!))) return;
      const headers = { ...paymentHeaders(settlement!), [CLOSE_TAB_HEADER]: 'true' };
      // A vendor that does not answer ends it when its window ends.
      const response = await fetch(url, { method, headers, redirect: 'manual' }).catch(() => null);
      response?.body?.cancel().catch(() => undefined);
    },
    /** Waits a while for the end. @returns false if it has not come */
    until: async (record: PaymentRecord, signal: AbortSignal | undefined): Promise<boolean> => {
      const until = Date.now() + ENDING_MS;
      while (!(await hasEnded(record))) {
        if (Date.now() > until) return false;
        await sleep(POLL_MS, signal);
      }
      return true;
    },
  };
};

type Room = { maxAmount?: bigint | undefined; signal?: AbortSignal | undefined };

/** Ends authorizations that are in the way of others. */
const createMaking = (ends: ReturnType<typeof createEnds>) => {
  /** Counts those that are ending anyway. @returns false if none has ended */
  const endLeaving = async (open: readonly PaymentRecord[]): Promise<boolean> =>
    (await Promise.all(open.filter(ends.isLeaving).map(ends.hasEnded))).includes(true);
  /** Ends one of the open tabs: one that is ending anyway, or the oldest. */
  const endOne = async (
    open: readonly PaymentRecord[],
    signal: AbortSignal | undefined,
  ): Promise<boolean> => {
    if (await endLeaving(open)) return true;
    const next = open.find(ends.isLeaving) ?? open[0];
    if (next === undefined) return false;
    await ends.begin(next);
    return ends.until(next, signal);
  };
  return { endLeaving, endOne };
};

/** What is left of the maximum beside the ceilings that are open. */
const createRoom =
  (mostOfAll: bigint, ceilings: ReadonlyMap<string, bigint>) =>
  (open: readonly PaymentRecord[], { maxAmount = mostOfAll }: Room, except?: string): bigint => {
    let room = maxAmount < mostOfAll ? maxAmount : mostOfAll;
    for (const [each, ceiling] of ceilings) if (each !== except) room -= ceiling;
    for (const record of open)
      if (record.id !== except && !ceilings.has(record.id)) room -= ceilingOf(record);
    return room;
  };

/** Extends the ceilings of open tabs. */
const createExtending = (
  { store }: TabsDeps,
  { ceilings, isLeaving }: ReturnType<typeof createEnds>,
  roomOf: ReturnType<typeof createRoom>,
) => {
  const ofRecord = (record: PaymentRecord): bigint => ceilings.get(record.id) ?? ceilingOf(record);
  const write = async ({ extending: _, ...open }: PaymentRecord, ceiling: bigint): Promise<void> => {
    const isOpen = (await store.load(NAME)).some(({ id }) => id === open.id);
    if (!isOpen) {
      // It has ended meanwhile, and counts no longer.
      ceilings.delete(open.id);
      return;
    }
    ceilings.set(open.id, ceiling);
    await store.save(NAME, { ...open, ceiling: String(ceiling) });
  };
  return {
    /** The open tab of a settlement. Null: there is none, or it is ending. */
    find: async (settlementId: string): Promise<PaymentRecord | null> => {
      const open = await store.load(NAME);
      const found = open.find(({ settlement }) => settlement?.settlement_id === settlementId);
      return found === undefined || isLeaving(found) ? null : found;
    },
    /** Counts an addition before it is made. @returns false if there is no room for it */
    addRoom: async (record: PaymentRecord, added: bigint, room: Room): Promise<boolean> => {
      if (added > roomOf(await store.load(NAME), room)) return false;
      ceilings.set(record.id, ofRecord(record) + added);
      return true;
    },
    /** Stores an attempt whose addition was counted, before it is sent. */
    begin: async (
      record: PaymentRecord,
      extending: NonNullable<PaymentRecord['extending']>,
    ): Promise<PaymentRecord> => {
      const begun = { ...record, ceiling: String(ofRecord(record)), extending };
      await store.save(NAME, begun);
      return begun;
    },
    extended: write,
    /** The addition was not made. */
    notExtended: (record: PaymentRecord, added: bigint): Promise<void> =>
      write(record, ofRecord(record) - added),
  };
};

/**
 * The authorizations of one `payingFetch`. The sum of the ceilings that are open is at most
 * `maxAmount`.
 */
export const createTabs = (deps: TabsDeps) => {
  const { store } = deps;
  const mostOfAll = microOf(deps.maxAmount);
  const ends = createEnds(deps);
  const { ceilings } = ends;
  const { endLeaving, endOne } = createMaking(ends);
  const roomOf = createRoom(mostOfAll, ceilings);
  return {
    ...createExtending(deps, ends, roomOf),
    /**
     * Counts the ceiling of an authorization before it is opened. Tabs that are in the way are
     * ended.
     * @throws PriceAboveCapError if the open ceilings would exceed the maximum
     */
    makeRoom: async (id: string, quote: QuoteClaims, room: Room): Promise<void> => {
      const amount = BigInt(quote.quote_amount);
      for (;;) {
        const open = (await store.load(NAME)).filter((record) => record.id !== id);
        if (amount <= roomOf(open, room, id)) {
          ceilings.set(id, amount);
          return;
        }
        if (await endOne(open, room.signal)) continue;
        const { maxAmount = mostOfAll } = room;
        throw new PriceAboveCapError('tabs', quote, maxAmount < mostOfAll ? maxAmount : mostOfAll);
      }
    },
    /** It was not opened. */
    cancel: (id: string): void => {
      ceilings.delete(id);
    },
    /** It is open. */
    opened: async (record: PaymentRecord): Promise<void> => store.save(NAME, record),
    /** Ends the tab of a record, which its buyer does not extend. */
    end: async ({ settlement }: PaymentRecord): Promise<void> => {
      const { settlement_id } = settlement!;
      const open = (await store.load(NAME)).find((each) => each.settlement?.settlement_id === settlement_id);
      if (open !== undefined) await ends.begin(open);
    },
    /** A vendor accepts a tab no longer. Its ceiling counts until the API says that it is over. */
    leave: async (record: PaymentRecord): Promise<void> => {
      await ends.leave(record);
      const { settlement_id } = record.settlement!;
      const open = (await store.load(NAME)).find((each) => each.settlement?.settlement_id === settlement_id);
      if (open !== undefined) await ends.hasEnded(open);
    },
    /**
     * The call of an authorization is answered. What it has cost counts when the API says so,
     * because the vendor could say less than it captures.
     */
    answered: async (record: PaymentRecord): Promise<void> => {
      const quote = record.quoteToken === null ? null : storedClaims(record.quoteToken);
      if (quote !== null && isAuthorization(quote) && !isTab(quote)) await ends.leave(record);
    },
    /** Reads what has ended. @returns true if something has */
    refresh: async (): Promise<boolean> => endLeaving(await store.load(NAME)),
    /** Ends all tabs. */
    closeAll: async (): Promise<void> => {
      const open = await store.load(NAME);
      await Promise.all(open.map(ends.begin));
      await Promise.all(open.map((record) => ends.until(record, undefined)));
    },
  };
};
export type Tabs = ReturnType<typeof createTabs>;
