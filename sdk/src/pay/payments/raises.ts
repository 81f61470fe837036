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

type RaisesDeps = {
  settle: Settle;
  /** Throws if this quote must not be paid for this address. */
  checkRaise: (quote: QuoteClaims, url: string, maxAmount: bigint | undefined) => void;
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
  ({ settle, ledger, tabs }: RaisesDeps) =>
  /** @returns false if it was refused. @throws if its outcome is unknown, or its owner decides */
  async (tab: PaymentRecord, call: Call): Promise<boolean> => {
    const { id, quoteToken } = tab.raising!;
    let raised: Paid;
    try {
      raised = await settle(
        { quote_token: quoteToken, payment_attempt_id: id },
        call.signal === undefined ? {} : { signal: call.signal },
      );
    } catch (error) {
      const isDenied = error instanceof ApiError && error.code === 'approval_denied';
      if (!isRefusedForGood(error) && !isDenied) throw error;
      ledger.release(id);
      await tabs.notRaised(tab, amountOf(storedClaims(quoteToken)));
      if (isDenied) throw error;
      return false;
    }
    ledger.merge(id, tab.id);
    // Otherwise it has been captured meanwhile, with what was used of it.
    await tabs.raised(tab, BigInt(raised.status === 'authorized' ? raised.max_amount : tab.ceiling!));
    return raised.status === 'authorized';
  };

/** Counts an addition and stores its attempt, before anything is sent. */
const createBegin =
  ({ checkRaise, ledger, approve, tabs }: RaisesDeps) =>
  /** @returns the tab, or null if there is no room for the addition */
  async (tab: PaymentRecord, call: Call, { quote, quoteToken }: Offer): Promise<PaymentRecord | null> => {
    const [id, added] = [crypto.randomUUID(), amountOf(quote)];
    const { method, signal, maxAmount } = call;
    checkRaise(quote, tab.url, maxAmount);
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
      await tabs.notRaised(tab, added);
      throw error;
    }
  };

/** Raises the ceilings of tabs by the offers of their vendors. */
export const createRaises = (deps: RaisesDeps) => {
  const { tabs, paid } = deps;
  const [begin, decide] = [createBegin(deps), createDecide(deps)];
  /** How often this process has raised each tab. */
  const counts = boundedMap<number>(MAX_KNOWN);
  const raisesOf = ({ settlement }: PaymentRecord): number =>
    settlement === null ? 0 : (counts.get(settlement.settlement_id) ?? 0);

  return {
    raisesOf,
    /**
     * Raises the tab that a request has presented. Calls for one tab run one after another.
     * @returns the request's record, or null if the next tab is opened instead
     * @throws NotAllowedError if the offer is for another tab or with other terms
     */
    raise: async (record: PaymentRecord, call: Call, offer: Offer): Promise<PaymentRecord | null> => {
      const { settlement_id } = record.settlement!;
      let tab = await tabs.find(settlement_id);
      if (tab === null) return null;
      refuseOtherTab(offer.quote, storedClaims(tab.quoteToken!));
      const counted = (): void => {
        counts.set(settlement_id, raisesOf(record) + 1);
      };
      // An attempt whose outcome was unknown is made again before another one.
      if (tab.raising !== undefined) {
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
      const raised = { ...record, extended: offer.quoteToken };
      paid(receiptIn(raised)!);
      return raised;
    },
  };
};
