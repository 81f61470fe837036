import { balancedApi, lostBy } from '../../../deploy/local/seed/api.ts';
import { type TabQuote, tabCalls } from '../../support/actors/tab-calls.ts';
import type { Access } from '../access.ts';
import { type Extension, type Report, type Tab, type TabLog, usageId } from './log.ts';

const TIMEOUT_MS = 25_000;

/** An answer, or none. */
type Asked<T> = { status: number | null; body: T & { error?: { code: string } } };

/** Calls of vendors and buyers, which write down what they were told. */
export const createTabClient = ({ stack }: Access, log: TabLog) => {
  const api = balancedApi(stack.gateway_urls, { timeoutMs: TIMEOUT_MS });
  const callsOf = (tab: Pick<Tab, 'vendor'>) => tabCalls(api, tab.vendor);

  const asked = async <T>(
    what: string,
    call: Promise<{ status: number; body: unknown }>,
  ): Promise<Asked<T>> => {
    const { status, body } = (await call.catch((error: unknown) => ({
      status: null,
      body: { error: { code: lostBy(error) } },
    }))) as Asked<T>;
    const outcome = `${what} ${body?.error?.code ?? status}`;
    log.answers.set(outcome, (log.answers.get(outcome) ?? 0) + 1);
    return { status, body };
  };
  /** A busy or dying service decides nothing. */
  const isFinal = ({ status }: Asked<unknown>): boolean =>
    status !== null && status < 500 && status !== 202 && status !== 429;

  return {
    api,
    quote: (vendor: Tab['vendor'], terms: object) =>
      tabCalls(api, vendor)
        .quote(terms)
        .catch(() => null),
    /** Authorizes a tab once. True when its buyer knows what became of it. */
    authorize: async (tab: Tab): Promise<boolean> => {
      const call = callsOf(tab).authorize(tab.buyer.key, tab.quote, tab.attemptId);
      const answer = await asked<Tab['settlement'] & object>('authorize', call);
      if (answer.status === 200 && answer.body.settlement_id !== undefined) tab.settlement = answer.body;
      tab.isDecided ||= isFinal(answer);
      return tab.isDecided;
    },
    /** A quote that extends the ceiling of a tab. Null: it has ended, or there is no answer. */
    quoteMore: async (tab: Tab, added: number): Promise<TabQuote | null> => {
      const answer = await asked<TabQuote>('quote more', callsOf(tab).extend(tab.quote, String(added)));
      return answer.status === 201 ? answer.body : null;
    },
    /** Extends a ceiling once. True when its buyer knows what became of it. */
    extend: async (tab: Tab, extension: Extension): Promise<boolean> => {
      const call = callsOf(tab).authorize(tab.buyer.key, extension.quote, extension.attemptId);
      const answer = await asked<{ extension_id?: string; max_amount?: string }>('extend', call);
      if (answer.status === 200) {
        extension.isCounted = true;
        const { extension_id: id, max_amount: ceiling } = answer.body;
        // After the capture a repeat is answered with it.
        if (id !== undefined) extension.ids.add(id);
        if (ceiling !== undefined) extension.ceilings.add(ceiling);
      }
      extension.isDecided ||= isFinal(answer);
      return extension.isDecided;
    },
    /** Reports uses once. True when the answer is final. */
    report: async (tab: Tab, report: Report): Promise<boolean> => {
      const usages = report.amounts.map((amount, at) => ({
        usage_id: usageId(report.number, at),
        amount: String(amount),
      }));
      const answer = await asked('usage', callsOf(tab).use(tab.settlement!, { usages }));
      if (answer.status === 200) report.isCounted = true;
      return isFinal(answer);
    },
    /** Captures what was used, or more. True when the answer is final. */
    capture: async (tab: Tab, amount?: string): Promise<boolean> => {
      if (amount !== undefined) tab.asked.add(amount);
      const body =
        amount === undefined ? undefined : { amount, settlement_token: tab.settlement!.settlement_token };
      const call = callsOf(tab).capture(tab.settlement!, body);
      const answer = await asked<{ captured_amount?: string }>('capture', call);
      const { captured_amount: captured } = answer.body ?? {};
      if (captured !== undefined) tab.captured.add(captured);
      return isFinal(answer);
    },
    /** Ends a tab without a payment. True when the answer is final. */
    giveUp: async (tab: Tab): Promise<boolean> => {
      tab.isGivenUp = true;
      const call = callsOf(tab).voidIt(tab.settlement!, { discard_usage: true });
      const answer = await asked('void', call);
      if (answer.status === 200) tab.isVoided = true;
      return isFinal(answer);
    },
  };
};
export type TabClient = ReturnType<typeof createTabClient>;
