import { setTimeout as sleep } from 'node:timers/promises';
import { must } from '../../deploy/local/seed/api.ts';
import { rpcAt } from '../faults/access.ts';
import { actionsOf } from '../faults/owner-actions.ts';
import { CEILING, type Tab, tabCalls } from '../support/actors/tab-calls.ts';
import { waitFor } from '../support/base/wait.ts';
import { atOnce, tally } from '../support/servers/stack.ts';
import { type Fixture, RACERS } from './fixture.ts';
import { outcome, type Race, unless } from './race.ts';

/*
 * Races of authorizations: use against their end, and buyers who empty their wallets.
 */

const ENDED = ['redeemed', 'voided', 'failed'];
/** What a payer without a final payment may have authorized (docs/economics.md). */
const NEW_PAYER_CAP = 5_000_000n;
const USE = 20_000;
const ENDED_WITHIN_MS = 45_000;

type Ended = { settlement_id: string; status: string; amount: string; used: string; uses: string };

const endedTabs = (fixture: Fixture, tabs: readonly Tab[]) => {
  const read = () =>
    fixture.rows<Ended>(
      `select s.settlement_id, status, quote_amount::text as amount, (a.used_pico / 1000000)::text as used,
         (select (coalesce(sum(u.amount_pico), 0) / 1000000)::bigint::text from settlement.uses as u
           where u.settlement_id = s.settlement_id) as uses
       from settlement.settlements as s join settlement.authorizations as a using (settlement_id)
       where settlement_id = any($1)`,
      [tabs.map(({ settlement_id }) => settlement_id)],
    );
  return waitFor(read, (rows) => rows.every(({ status }) => ENDED.includes(status)), ENDED_WITHIN_MS, 100);
};

const useAgainstItsEnd: Race = async (fixture) => {
  const [buyer, calls] = [await fixture.buyerWith(), tabCalls(fixture.api, fixture.vendor)];
  const tab = await must(calls.authorize(buyer.token, await calls.quote()), 'authorize');
  const ids = RACERS / 2;
  const use = (i: number) => calls.use(tab, { usage_id: `use-${i % ids}`, amount: String(USE + (i % ids)) });
  const [used, ends] = await Promise.all([
    atOnce(RACERS, async (i) => {
      await sleep(i * 3);
      return use(i);
    }),
    atOnce(8, async (i) => {
      await sleep(60 + i * 10);
      return calls.capture(tab);
    }),
  ]);
  await calls.capture(tab);
  const [row] = await endedTabs(fixture, [tab]);
  const counted = new Map(
    used.flatMap(({ status }, i) => (status === 200 ? [[i % ids, USE + (i % ids)] as const] : [])),
  );
  const sum = [...counted.values()].reduce((total, one) => total + one, 0);
  const amounts = new Set(ends.flatMap(({ body }) => body.captured_amount ?? []));
  const left = await fixture.chain.balance(buyer.wallet.publicKey);
  return [
    ...unless(
      row!.status === 'redeemed' && row!.amount === row!.used && row!.used === row!.uses,
      `${row!.status}: ${row!.amount} captured, ${row!.used} used, ${row!.uses} in uses`,
    ),
    ...unless(String(sum) === row!.used, `${sum} were answered, ${row!.used} are used`),
    ...unless(
      [...amounts].every((amount) => amount === row!.amount),
      `told of captures of ${[...amounts]}`,
    ),
    ...unless(left === 100_000_000n - BigInt(row!.amount), `the buyer has ${left}`),
  ];
};

/** A vendor serves a tab until it is told to stop. Returns when that was, and why. */
const serve = async (calls: ReturnType<typeof tabCalls>, tab: Tab, isCounted: (micro: number) => void) => {
  for (let call = 0; ; call += 1) {
    const answer = await calls.use(tab, { usage_id: `call-${call}`, amount: String(USE) });
    if (answer.status === 200) isCounted(USE);
    else if (answer.status < 500) return { at: Date.now(), code: outcome(answer) };
    await sleep(100);
  }
};

const CHEATERS = 4;

const emptiedTabs: Race = async (fixture) => {
  const vendor = await fixture.newVendor();
  const calls = tabCalls(fixture.api, vendor);
  const access = { chain: fixture.chain, rpc: rpcAt(fixture.chain.connection.rpcEndpoint) };
  const wanted = Number(NEW_PAYER_CAP / CEILING) + 2;
  const found = await atOnce(CHEATERS, async (): Promise<string[]> => {
    const cheater = await fixture.buyerWith();
    const quotes = await atOnce(wanted, () => calls.quote());
    const answers = await atOnce(wanted, (i) => calls.authorize(cheater.token, quotes[i]!));
    const tabs = answers.filter(({ status }) => status === 200).map(({ body }) => body as Tab);
    let served = 0;
    let servedLate = 0;
    let emptiedAt = Number.POSITIVE_INFINITY;
    const serving = Promise.all(
      tabs.map((tab) =>
        serve(calls, tab, (micro) => {
          served += micro;
          if (Date.now() > emptiedAt) servedLate += micro;
        }),
      ),
    );
    await sleep(500);
    await actionsOf(access, cheater.wallet).emptied();
    emptiedAt = Date.now();
    const stopped = await serving;
    const rows = await endedTabs(fixture, tabs);
    const lost = rows
      .filter(({ status }) => status === 'failed')
      .reduce((sum, { used }) => sum + BigInt(used), 0n);
    const latest = Math.max(...stopped.map(({ at }) => at)) - emptiedAt;
    fixture.count('cheaters');
    fixture.count('micro-units that their vendors served', served);
    fixture.count('micro-units that their vendors lost', Number(lost));
    fixture.count('micro-units that were served after the wallet was empty', servedLate);
    fixture.count('ms from the empty wallet to the last refusal of use', Math.max(0, latest));
    return [
      ...unless(
        tabs.length <= Number(NEW_PAYER_CAP / CEILING),
        `${tabs.length} tabs of a new payer are open`,
      ),
      ...unless(lost <= NEW_PAYER_CAP, `${lost} were lost to one payer`),
      ...unless(
        rows.every(({ used, uses }) => used === uses && BigInt(used) <= CEILING),
        JSON.stringify(rows),
      ),
      ...unless(
        stopped.every(
          ({ code }) => code === 'authorization_closed' || code === 'usage_exceeds_authorization',
        ),
        JSON.stringify(tally(stopped.map(({ code }) => code))),
      ),
    ];
  });
  return found.flat();
};

export const tabRaces: Record<string, Race> = {
  '64 uses of one tab against 8 captures': useAgainstItsEnd,
  [`${CHEATERS} new payers empty their wallets under their tabs`]: emptiedTabs,
};
