import { setTimeout as sleep } from 'node:timers/promises';
import type { Vendor } from '../../../deploy/local/seed/actors.ts';
import { CEILING } from '../../support/actors/tab-calls.ts';
import type { Access } from '../access.ts';
import { actionsOf } from '../owner-actions.ts';
import type { Rng } from '../rng.ts';
import type { TabClient } from './client.ts';
import { type Buyer, ceilingOf, type End, type Extension, type Tab, type TabLog } from './log.ts';

const MOST_OPEN = 40;
const TRIES = 4;
const REPLICAS = 2;
const WINDOW_SECONDS = 60;
const THRESHOLD = '250000';
const ALLOWANCE = 10_000_000_000n;

type Load = {
  access: Pick<Access, 'chain' | 'rpc'>;
  client: TabClient;
  log: TabLog;
  buyers: readonly Buyer[];
  vendors: readonly Vendor[];
  rng: Rng;
  perSecond: number;
  /** About how many uses a tab gets. */
  uses: number;
};

const endOf = (own: Rng): End => {
  if (own.chance(0.5)) return 'captured';
  if (own.chance(0.2)) return 'captured beyond the use';
  return own.chance(0.1) ? 'given up' : 'left';
};

/** A call is repeated until its answer is final; its client gives up after some tries. */
const repeated = async (call: () => Promise<boolean>, own: Rng): Promise<void> => {
  for (let tries = 0; tries < TRIES; tries += 1) {
    if (await call()) return;
    await sleep(own.int(50, 400));
  }
};

/** Both replicas of a vendor report use, some of it twice. */
const useTab = (
  tab: Tab,
  { client, uses, isExtended }: Pick<Load, 'client' | 'uses'> & { isExtended: boolean },
  own: Rng,
): Promise<unknown> => {
  const perReport = Math.min(100, Math.max(1, Math.ceil(uses / own.int(4, 12))));
  // The sum exceeds the ceiling now and then, and mostly the first one of a tab that is extended.
  const share = isExtended ? own.int(180, 400) : own.int(20, 230);
  const most = Math.max(2, Math.floor((Number(CEILING) * share) / 100 / uses));
  for (let left = uses; left > 0; left -= perReport) {
    const amounts = Array.from({ length: Math.min(perReport, left) }, () => own.int(1, most));
    tab.reports.push({ number: tab.reports.length, amounts, isCounted: false });
  }
  return Promise.all(
    Array.from({ length: REPLICAS }, async (_, replica) => {
      const mine = own.fork(replica);
      for (const report of tab.reports) {
        if (report.number % REPLICAS !== replica && !mine.chance(0.25)) continue;
        await repeated(() => client.report(tab, report), mine);
      }
    }),
  );
};

/** The quote of an extension of a tab. Null: the tab has ended, or there is no answer. */
const quoteExtension = async (tab: Tab, client: TabClient, own: Rng): Promise<Extension | null> => {
  const quote = await client.quoteMore(tab, own.int(20_000, Number(CEILING)));
  if (quote === null) return null;
  const extension = {
    ...{ attemptId: crypto.randomUUID(), quote, isDecided: false, isCounted: false },
    ...{ ids: new Set<string>(), ceilings: new Set<string>() },
  };
  tab.extensions.push(extension);
  return extension;
};

/**
 * A buyer extends the ceiling once or twice while its tab is used or ends, some of it by two calls
 * at once.
 */
const extendTab = async (tab: Tab, { client }: Pick<Load, 'client'>, own: Rng): Promise<void> => {
  for (let left = own.int(1, 2); left > 0; left -= 1) {
    await sleep(own.int(0, 700));
    const extension = await quoteExtension(tab, client, own);
    if (extension === null) return;
    const copies = own.chance(0.3) ? 2 : 1;
    await Promise.all(
      Array.from({ length: copies }, (_, copy) =>
        repeated(() => client.extend(tab, extension), own.fork(70 + 2 * left + copy)),
      ),
    );
  }
};

const endTab = async (tab: Tab, { client }: Pick<Load, 'client'>, own: Rng): Promise<void> => {
  const amount = String(own.int(20_000, Number(ceilingOf(tab))));
  const beyond = tab.end === 'captured beyond the use' ? amount : undefined;
  if (tab.end === 'captured' || beyond !== undefined)
    await Promise.all(
      Array.from({ length: REPLICAS }, (_, replica) =>
        repeated(() => client.capture(tab, beyond), own.fork(10 + replica)),
      ),
    );
  if (tab.end === 'given up') await repeated(() => client.giveUp(tab), own);
};

/** A cheater takes the money or the permission away. It puts it back when its tab has ended. */
const cheat = async ({ consumer }: Buyer, { access }: Pick<Load, 'access'>, own: Rng) => {
  await sleep(own.int(0, 1500));
  const actions = actionsOf(access, consumer.wallet);
  const delegate = consumer.view.delegation.delegate!;
  const act = own.chance(0.5) ? actions.emptied() : actions.overwritten(delegate, ALLOWANCE);
  return act.catch(() => null);
};

const newTab = (buyer: Buyer, { vendor, quote, end }: Pick<Tab, 'vendor' | 'quote' | 'end'>): Tab => ({
  ...{ attemptId: crypto.randomUUID(), buyer, vendor, quote, end, from: Date.now(), to: Date.now() },
  ...{ settlement: null, isDecided: false, reports: [], extensions: [], asked: new Set<string>() },
  ...{ captured: new Set<string>(), isGivenUp: false, isVoided: false },
});

/** Opens a tab of its own quote. Null: there is no quote. */
const openTab = async (buyer: Buyer, { client, log, vendors }: Load, own: Rng): Promise<Tab | null> => {
  const vendor = own.pick(vendors);
  const quote = await client.quote(vendor, { capture_window_seconds: WINDOW_SECONDS });
  if (quote === null) return null;
  const tab = newTab(buyer, { vendor, quote, end: 'given up' });
  log.tabs.push(tab);
  await repeated(() => client.authorize(tab), own);
  return tab;
};

/**
 * A payer without history opens tabs at once, and then extends all of them at once. Together that
 * is more than its cap has room for (docs/economics.md). Its vendor gives them up, so that it stays
 * one.
 */
const burst = async (buyer: Buyer, load: Load, own: Rng): Promise<void> => {
  const { client } = load;
  const opening = Array.from({ length: own.int(5, 12) }, (_, at) => openTab(buyer, load, own.fork(100 + at)));
  const tabs = (await Promise.all(opening)).filter((tab) => tab !== null);
  const open = tabs.filter(({ settlement }) => settlement !== null);
  const extended = await Promise.all(open.map((tab, at) => quoteExtension(tab, client, own.fork(200 + at))));
  await Promise.all(
    open.map(async (tab, at) => {
      const extension = extended[at]!;
      if (extension !== null) await repeated(() => client.extend(tab, extension), own.fork(300 + at));
    }),
  );
  await Promise.all(open.map((tab, at) => endTab(tab, load, own.fork(400 + at))));
  for (const tab of tabs) tab.to = Date.now();
};

const startTab = async (buyer: Buyer, load: Load, own: Rng): Promise<void> => {
  const end = endOf(own);
  const vendor = own.pick(load.vendors);
  const mode = end === 'captured beyond the use' ? { capture: 'manual' } : {};
  const threshold =
    end !== 'captured beyond the use' && own.chance(0.2) ? { capture_threshold: THRESHOLD } : {};
  const quote = await load.client.quote(vendor, {
    ...{ ...mode, ...threshold, capture_window_seconds: WINDOW_SECONDS },
  });
  if (quote === null) return;
  const tab = newTab(buyer, { vendor, quote, end });
  load.log.tabs.push(tab);
  const copies = own.chance(0.2) ? 2 : 1;
  await Promise.all(
    Array.from({ length: copies }, (_, copy) =>
      repeated(() => load.client.authorize(tab), own.fork(20 + copy)),
    ),
  );
  if (tab.settlement !== null) {
    const cheating = buyer.cheats ? cheat(buyer, load, own.fork(30)) : null;
    const isExtended = own.chance(0.4);
    const extending = isExtended ? extendTab(tab, load, own.fork(35)) : null;
    const use = useTab(tab, { ...load, isExtended }, own.fork(40));
    // Some vendors end a tab while their other calls are under way.
    if (own.chance(0.3)) await sleep(own.int(0, 600)).then(() => endTab(tab, load, own.fork(50)));
    await use;
    if (tab.captured.size === 0 && !tab.isVoided) await endTab(tab, load, own.fork(60));
    await extending;
    const undo = await cheating;
    // What was signed of it is decided before the money is back.
    if (undo) await sleep(8000);
    await undo?.().catch(() => {
      buyer.isElsewhere = true;
    });
  }
  tab.to = Date.now();
};

/**
 * Tabs begin at their rate, while few enough are open. A cheater has one at a time, and a payer
 * without history one burst.
 */
export const startTabs = (load: Load) => {
  const { rng, buyers, perSecond } = load;
  const open = new Set<Promise<void>>();
  const busy = new Set<Buyer>();
  let isRunning = true;
  const begin = (number: number): void => {
    const own = rng.fork(number);
    const buyer = own.pick(buyers);
    const isAlone = buyer.cheats || buyer.isNew === true;
    if (isAlone && busy.has(buyer)) return;
    busy.add(buyer);
    const tab = (buyer.isNew === true ? burst : startTab)(buyer, load, own).finally(() => {
      busy.delete(buyer);
      open.delete(tab);
    });
    open.add(tab);
  };
  const loop = async (): Promise<void> => {
    for (let number = 0; isRunning; number += 1) {
      if (open.size < MOST_OPEN) begin(number);
      await sleep(1000 / perSecond);
    }
  };
  const beginning = loop();
  return {
    stop: async (): Promise<void> => {
      isRunning = false;
      await beginning;
      await Promise.all(open);
    },
  };
};
