import {
  createConsumer,
  createDelegate,
  createVendor,
  quoteOf,
  settleWith,
  type Vendor,
} from '../../../deploy/local/seed/actors.ts';
import { createApi, must, patientApi } from '../../../deploy/local/seed/api.ts';
import { displayUsdc } from '../../../shared/lib/money/usdc.ts';
import { waitFor } from '../../support/base/wait.ts';
import { atOnce } from '../../support/servers/stack.ts';
import type { Access } from '../access.ts';
import { listOf } from '../checks/counts.ts';
import type { FinalRecords } from '../checks/final-records.ts';
import { HANDS, inParallel, until } from '../recovery.ts';
import type { Traffic } from '../traffic.ts';
import { createTabClient } from './client.ts';
import {
  type Case,
  type Ended,
  type ExtensionRow,
  extensionsOf,
  isCaptured,
  judgeTabs,
  lossOf,
  usesOf,
} from './invariants.ts';
import { startTabs } from './load.ts';
import { type Buyer, createTabLog, type TabLog } from './log.ts';

const BALANCE = 10_000_000_000n;
const TABS_PER_READ = 200;

/**
 * Buyers with a payment that is final: others may open a few tabs only.
 * @param newcomers as many have none
 */
const createBuyers = async (
  access: Access,
  vendor: Vendor,
  { count, newcomers }: { count: number; newcomers: number },
) => {
  const api = patientApi(createApi(access.stack.gateway_url));
  const buyers = await atOnce(count + newcomers, () =>
    createConsumer(api, access.stack, { balance: BALANCE, allowance: BALANCE }),
  );
  await Promise.all(
    buyers.slice(0, count).map(async ({ token }) => {
      const paid = await must(settleWith(api, token, await quoteOf(api, vendor)), 'first payment');
      const path = `GET /v1/settlements/${paid.settlement_id}` as const;
      await waitFor(
        () => must(api<{ chain_status: string }>(path, { token }), 'settlement'),
        ({ chain_status }) => chain_status === 'finalized',
        60_000,
      );
    }),
  );
  const limit = String(BALANCE);
  return Promise.all(
    buyers.map(async (consumer) => {
      const { api_key: key } = await createDelegate(api, consumer, { per_payment: limit, daily: limit });
      return { consumer, key };
    }),
  );
};

const readUses = async ({ query }: Access, settlementIds: readonly string[]) => {
  const uses = new Map<string, Map<string, bigint>>(settlementIds.map((id) => [id, new Map()]));
  for (let from = 0; from < settlementIds.length; from += TABS_PER_READ) {
    const rows = await query<{ id: string; usage_id: string; amount: string }>(
      `select settlement_id as id, usage_id, (amount_pico / 1000000)::text as amount from settlement.uses
       where settlement_id = any($1)`,
      [settlementIds.slice(from, from + TABS_PER_READ)],
    );
    for (const { id, usage_id, amount } of rows) uses.get(id)!.set(usage_id, BigInt(amount));
  }
  return uses;
};

/** The balances now, and what they should be by the captures of the records. */
const readMoved = async (
  { chain }: Access,
  tabs: readonly Ended[],
  { before, forks }: { before: ReadonlyMap<string, bigint>; forks: number },
): Promise<Case['moved']> => {
  // A fork may also remove what a cheater has done.
  const elsewhere = new Set(
    tabs.flatMap(({ tab: { buyer } }) =>
      buyer.isElsewhere || (buyer.cheats && forks > 0) ? [buyer.consumer.wallet.publicKey.toBase58()] : [],
    ),
  );
  const expected = new Map(before);
  const add = (owner: string, amount: bigint) => expected.set(owner, (expected.get(owner) ?? 0n) + amount);
  for (const { tab, row } of tabs.filter((one) => isCaptured(one.row))) {
    add(tab.buyer.consumer.wallet.publicKey.toBase58(), -BigInt(row!.quote_amount));
    add(tab.vendor.payout.publicKey.toBase58(), BigInt(row!.quote_amount) - BigInt(row!.fee_amount));
  }
  const known = [...expected].filter(([who]) => !elsewhere.has(who));
  return inParallel(known, HANDS, async ([who, amount]) => ({
    ...{ who, expected: amount },
    balance: await chain.balance(who),
  }));
};

const readCase = async (
  access: Access,
  { log, before, forks }: { log: TabLog; before: ReadonlyMap<string, bigint>; forks: number },
  records: FinalRecords,
): Promise<Case> => {
  const rows = new Map(
    records.settlements
      .filter(({ ceiling }) => ceiling !== null)
      .map((row) => [`${row.account_id}/${row.payment_attempt_id}`, row]),
  );
  const uses = await readUses(
    access,
    [...rows.values()].map(({ settlement_id }) => settlement_id),
  );
  const extensions = Map.groupBy(
    await access.query<ExtensionRow>('select * from settlement.extensions'),
    ({ settlement_id }) => settlement_id,
  );
  const tabs = log.tabs.map((tab): Ended => {
    const row = rows.get(`${tab.buyer.consumer.signIn.account.account_id}/${tab.attemptId}`);
    const { settlement_id: id = '' } = row ?? {};
    return { tab, row, uses: uses.get(id) ?? new Map(), extensions: extensions.get(id) ?? [] };
  });
  return { tabs, moved: await readMoved(access, tabs, { before, forks }), forks };
};

const linesOf = ({ tabs }: Pick<Case, 'tabs'>, log: TabLog): string[] => {
  const loss = lossOf(tabs);
  const { reported, recorded } = usesOf(tabs);
  const extended = extensionsOf(tabs);
  const ended: Record<string, number> = {};
  for (const { row } of tabs) ended[row?.status ?? 'refused'] = (ended[row?.status ?? 'refused'] ?? 0) + 1;
  return [
    `tabs: ${listOf(ended)}`,
    `uses: ${reported} reported, ${recorded} recorded`,
    `extensions: ${extended.asked} asked for, ${extended.counted} counted, ${extended.recorded} recorded, ${extended.beyond} captures beyond the first ceiling`,
    `lost to cheaters: ${displayUsdc(loss.total)} by ${loss.tabs} tabs, ${displayUsdc(loss.most)} at most by one`,
    `answers: ${listOf(Object.fromEntries(log.answers))}`,
  ];
};

/**
 * Tabs: authorizations whose vendors report use from two replicas, while some buyers empty their
 * wallets or take their allowance back, and payers without history open and extend tabs at once.
 * @param options `perSecond`: tabs that begin per second. `uses`: about how many uses a tab gets
 */
export const tabTraffic = ({
  perSecond = 5,
  buyers = 8,
  cheaters = 4,
  newcomers = 2,
  vendors = 3,
  uses = 20,
  log = createTabLog(),
}: {
  perSecond?: number;
  buyers?: number;
  cheaters?: number;
  newcomers?: number;
  vendors?: number;
  uses?: number;
  log?: TabLog;
} = {}): Traffic<Access> => ({
  name: 'tabs',
  victims: /^(gateway|settlement|chain-submitter)/,
  begin: async (access) => {
    const api = patientApi(createApi(access.stack.gateway_url));
    const sellers = await atOnce(vendors, () => createVendor(api, access.stack));
    const count = buyers + cheaters;
    const all = (await createBuyers(access, sellers[0]!, { count, newcomers })).map(
      (buyer, at): Buyer => ({ ...buyer, cheats: at >= buyers && at < count, isNew: at >= count }),
    );
    const owners = [
      ...all.map(({ consumer }) => consumer.wallet.publicKey),
      ...sellers.map(({ payout }) => payout.publicKey),
    ].map((key) => key.toBase58());
    const before = new Map(
      await Promise.all(owners.map(async (who) => [who, await access.chain.balance(who)] as const)),
    );
    const client = createTabClient(access, log);
    const authorized = () => log.tabs.filter(({ settlement }) => settlement !== null);
    return {
      about: `${buyers} buyers, ${cheaters} cheaters and ${newcomers} payers without history have tabs with ${vendors} vendors`,
      start: (rng) => startTabs({ access, client, log, buyers: all, vendors: sellers, rng, perSecond, uses }),
      counts: () => {
        const { length } = authorized();
        return {
          tried: log.tabs.length,
          begun: length,
          paid: log.tabs.filter(({ captured }) => captured.size > 0).length,
        };
      },
      spans: () => log.tabs.map(({ from, to, captured }) => ({ from, to, isPaid: captured.size > 0 })),
      /** Buyers ask until they know, vendors repeat their captures, and all windows end. */
      recover: async (deadline) => {
        const undecided = log.tabs.filter(({ isDecided }) => !isDecided);
        await inParallel(undecided, HANDS, (tab) => until(deadline, () => client.authorize(tab)));
        const more = authorized().flatMap((tab) =>
          tab.extensions
            .filter(({ isDecided }) => !isDecided)
            .map((extension) => () => client.extend(tab, extension)),
        );
        await inParallel(more, HANDS, (extend) => until(deadline, extend));
        const waiting = authorized().filter(({ end }) => end === 'captured');
        await inParallel(waiting, HANDS, (tab) => until(deadline, () => client.capture(tab)));
        await access.query('update settlement.authorizations set due_at = now() where due_at is not null');
      },
      evaluate: async (records, { forks }) => {
        const of = await readCase(access, { log, before, forks }, records);
        const paid = of.tabs.filter(({ row }) => isCaptured(row)).length;
        return { breaks: judgeTabs(of), paid, lines: linesOf(of, log) };
      },
    };
  },
});
