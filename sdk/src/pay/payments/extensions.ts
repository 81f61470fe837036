import { boundedMap } from '../../bounded-map.ts';
import { type QuoteClaims, storedClaims } from '../../checks/tokens.ts';
import { ApiError } from '../../errors.ts';
import type { Paid, Settle } from '../../settle.ts';
import type { Ledger } from '../base/budget.ts';
import type { Call } from '../base/call.ts';
import { NotAllowedError, PriceAboveCapError } from '../base/errors.ts';
import type { Approve } from '../base/price.ts';
import { type Receipt, receiptIn } from '../base/receipt.ts';
import { refuseLapsed, refuseOtherTab } from '../base/rules.ts';
import type { PaymentRecord } from '../base/store.ts';
import { isRefusedForGood } from './attempts.ts';
import type { Tabs } from './tabs.ts';

type ExtensionsDeps = {
  settle: Settle;
  /** Throws if this quote must not be paid for this address. */
  checkExtension: (quote: QuoteClaims, url: string, maxAmount: bigint | undefined) => void;
  ledger: Ledger;
  approve: Approve;
  tabs: Tabs;
  paid: (receipt: Receipt) => void;
};

type Offer = { quote: QuoteClaims; quoteToken: string };

const MAX_KNOWN = 1000;

const amountOf = ({ quote_amount }: QuoteClaims): bigint => BigInt(quote_amount);

/** Settles the attempt of a tab, which is stored. */
const createDecide =
  ({ settle, ledger, tabs }: ExtensionsDeps) =>
  /** @returns false if it was refused. @throws if its outcome is unknown, or its owner decides */
  async (tab: PaymentRecord, call: Call): Promise<boolean> => {
    const { id, quoteToken } = tab.extending!;
    let extended: Paid;
    try {
      extended = await settle(
        { quote_token: quoteToken, payment_attempt_id: id },
        call.signal === undefined ? {} : { signal: call.signal },
      );
    } catch (error) {
      const isDenied = error instanceof ApiError && error.code === 'approval_denied';
      if (!isRefusedForGood(error) && !isDenied) throw error;
      ledger.release(id);
      await tabs.notExtended(tab, amountOf(storedClaims(quoteToken)));
      if (isDenied) throw error;
      return false;
    }
    ledger.merge(id, tab.id);
    // Otherwise it has been captured meanwhile, with what was used of it.
    await tabs.extended(tab, BigInt(extended.status === 'authorized' ? extended.max_amount : tab.ceiling!));
    return extended.status === 'authorized';
  };

/** Counts an addition and stores its attempt, before anything is sent. */
const createBegin =
  ({ checkExtension, ledger, approve, tabs }: ExtensionsDeps) =>
  /** @returns the tab, or null if there is no room for the addition */
  async (tab: PaymentRecord, call: Call, { quote, quoteToken }: Offer): Promise<PaymentRecord | null> => {
    const [id, added] = [crypto.randomUUID(), amountOf(quote)];
    const { method, signal, maxAmount } = call;
    checkExtension(quote, tab.url, maxAmount);
    await tabs.refresh();
    if (!(await tabs.addRoom(tab, added, { maxAmount }))) return null;
    try {
      ledger.reserve(id, new URL(tab.url).origin, quote);
      if (!(await (call.approve ?? approve)(quote, { method, url: tab.url })))
        throw new NotAllowedError('the payment was not approved', quote);
      signal?.throwIfAborted();
      return await tabs.begin(tab, { id, quoteToken });
    } catch (error) {
      ledger.release(id);
      await tabs.notExtended(tab, added);
      throw error;
    }
  };

/** Extends the ceilings of tabs by the offers of their vendors. */
export const createExtensions = (deps: ExtensionsDeps) => {
  const { tabs, paid } = deps;
  const [begin, decide] = [createBegin(deps), createDecide(deps)];
  /** How often this process has extended each tab. */
  const counts = boundedMap<number>(MAX_KNOWN);
  const extensionsOf = ({ settlement }: PaymentRecord): number =>
    settlement === null ? 0 : (counts.get(settlement.settlement_id) ?? 0);

  return {
    extensionsOf,
    /**
     * Extends the tab that a request has presented. Calls for one tab run one after another.
     * @returns the request's record, or null if the next tab is opened instead
     * @throws NotAllowedError if the offer is for another tab or with other terms
     */
    extend: async (record: PaymentRecord, call: Call, offer: Offer): Promise<PaymentRecord | null> => {
      const { settlement_id } = record.settlement!;
      let tab = await tabs.find(settlement_id);
      if (tab === null) return null;
      refuseOtherTab(offer.quote, storedClaims(tab.quoteToken!));
      const counted = (): void => {
        counts.set(settlement_id, extensionsOf(record) + 1);
      };
      // An attempt whose outcome was unknown is made again before another one.
      if (tab.extending !== undefined) {
        if (await decide(tab, call)) {
          counted();
          return record;
        }
        tab = await tabs.find(settlement_id);
        if (tab === null) return null;
      }
      refuseLapsed(offer.quote);
      try {
        const begun = await begin(tab, call, offer);
        if (begun === null || !(await decide(begun, call))) return null;
      } catch (error) {
        if (error instanceof PriceAboveCapError) return null;
        throw error;
      }
      counted();
      const extended = { ...record, extended: offer.quoteToken };
      paid(receiptIn(extended)!);
      return extended;
    },
  };
};
