import { actors, addressOf } from './actors.ts';
import type { Chain } from './chain.ts';
import type { Database } from './database.ts';
import type { Harness, Rule } from './harness.ts';
import { buyers } from './incoming-actors.ts';
import { createIncomingClients } from './incoming-clients.ts';
import { checkIncomingEnd, checkIncomingStep, type JudgedIncoming } from './incoming-invariants.ts';
import {
  type IncomingReplica,
  type IncomingSubmitter,
  incomingSubmitter,
  services,
  startIncomingSettlement,
} from './incoming-processes.ts';
import type { IncomingTables } from './incoming-tables.ts';
import type { SettlementReplica, Submitter } from './processes.ts';
import { createRandom } from './random.ts';
import type { SettlementTables } from './settlement-tables.ts';
import type { SubmitterTables } from './submitter-tables.ts';

const MICRO = 1_000_000n;
/** The seeds of the other runs have the same events as without payments of other clients. */
const SHARE_OF_RUNS = 0.3;
const SLOW_FOR_MS = 90_000;
/** Its choices have a source of their own, so that the other events stay the same. */
const MOVES = 0x20000000;
const JUDGED_BY_RECORD: Rule = 'incoming: record decides over the payout address';

/** Whether a run has payments of other clients. A mutation of another rule needs none. */
const hasIncoming = (seed: number, { off }: Pick<Harness, 'off'>): boolean =>
  off === null ? createRandom(seed + 0x10000000).chance(SHARE_OF_RUNS) : off.startsWith('incoming: ');

/** Payments of other clients in one run: who makes them, and what happens to them. */
export const createIncoming = (
  harness: Harness,
  {
    seed,
    faultsMs,
    chain,
    tables,
    submitter,
    settlement,
    database,
    hasForks,
  }: {
    seed: number;
    faultsMs: number;
    chain: Chain;
    tables: IncomingTables;
    submitter: SubmitterTables;
    settlement: SettlementTables;
    database: Pick<Database, 'upSince' | 'kill'>;
    hasForks: () => boolean;
  },
) => {
  const { random } = harness;
  const isOn = hasIncoming(seed, harness);
  // This rule matters only when a message is valid for longer than its payment may make no
  // progress: while many slots have no block, and nobody presents it again.
  const isSlow = harness.off === 'incoming: tombstone';
  const isMutated = harness.off?.startsWith('incoming: ') === true;
  const submitters: IncomingSubmitter[] = [];
  const replicas: IncomingReplica[] = [];
  const drained = new Set<string>();
  let closing = false;
  let payoutAddress = actors.vendor.payout;
  const creditMicro = isOn && random.chance(0.3) ? 20_000n : 1_000_000n;
  const market = {
    ...{ tables, creditMicro, submitters: () => submitters },
    isClosing: () => closing,
    payoutAddress: () => payoutAddress,
  };
  const clients = createIncomingClients(harness, {
    ...{ seed, chain },
    replicas: () => replicas,
    handedOutAt: (id) => tables.handOuts.get(id)!,
    databaseUpSince: database.upSince,
  });
  const judged: JudgedIncoming = {
    ...{ chain, tables, clients, submitter, settlement, creditMicro },
    isUndisturbed: (source) => !hasForks() && !drained.has(source),
  };

  const openAccounts = () => {
    for (const { owner, source } of buyers) {
      const amount = BigInt(random.int(2, 7)) * MICRO;
      chain.accounts.set(source, { owner, amount, delegate: null, allowance: 0n });
    }
  };
  const beginSales = () => {
    for (let sales = random.int(2, 7), number = 0; number < sales; number++) {
      const by = random.pick(['facilitator', 'paywall'] as const);
      const rail = by === 'facilitator' ? 'x402' : random.pick(['x402', 'mpp'] as const);
      const amountMicro = BigInt(random.int(1, 4)) * MICRO;
      const once = isSlow || random.chance(0.2);
      const sale = { name: `f${number}`, buyer: random.pick(buyers), service: services[0], amountMicro };
      clients.begin({ ...sale, by, rail, once }, random.between(0, 30_000));
    }
  };
  const spend = (number: number) => {
    const { source } = buyers[number]!;
    drained.add(source);
    chain.outside(`buyer ${number} spends outside`, (accounts) => {
      const account = accounts.get(source)!;
      account.amount = random.chance(0.5) ? 0n : account.amount / 2n;
    });
  };
  const disturb = () => {
    if (random.chance(0.35)) harness.schedule(random.between(0, 40_000), () => spend(random.int(0, 2)));
    if (random.chance(0.1))
      harness.schedule(random.between(0, 40_000), () => {
        closing = true;
        harness.trace('vendor', 'the services close');
      });
    if (isSlow || random.chance(0.3)) {
      chain.skip(random.between(isSlow ? 0.5 : 0.2, 0.6));
      harness.schedule(faultsMs + (isSlow ? SLOW_FOR_MS : 0), () => chain.skip(0));
    }
    if (random.chance(0.3))
      harness.schedule(random.between(0, 40_000), () => {
        if (clients.sales.length > 0) clients.steal(random.pick(clients.sales), services[1]);
      });
  };
  /** The vendor gets another payout address. Its buyers have signed for the one before. */
  const move = () => {
    const own = createRandom(seed + MOVES);
    if ((isMutated && harness.off !== JUDGED_BY_RECORD) || !own.chance(0.3)) return;
    harness.schedule(own.between(0, 40_000), () => {
      payoutAddress = addressOf('vendor, later');
      harness.trace('vendor', 'the payout address changes');
      // Mutation: what today's terms refuse is not looked up.
      if (harness.off === JUDGED_BY_RECORD) tables.hide();
    });
  };
  // The confirmation of a hand-out follows it at once, so that a database is hardly ever lost
  // between the two by chance.
  tables.onHandOut(() => {
    if (harness.now() > faultsMs || !random.chance(0.1)) return;
    harness.schedule(random.between(5, 30), () => database.kill(random.between(4000, 9000)));
  });
  if (isOn) {
    openAccounts();
    beginSales();
    disturb();
    move();
  }

  return {
    isOn,
    isIdle: clients.isIdle,
    /**
     * The payments of quotes beside them; null: as in other runs. A mutation of these rules is
     * found without any.
     */
    quotes: (): number | null => (!isOn ? null : isMutated ? 0 : random.int(0, 3)),
    refusals: clients.refusals,
    onSubmitter: (started: Submitter) => void (isOn && submitters.push(incomingSubmitter(harness, started))),
    onSettlement: (started: SettlementReplica) =>
      void (isOn && replicas.push(startIncomingSettlement(harness, started, market))),
    checkStep: () => isOn && checkIncomingStep(judged),
    checkEnd: () => isOn && checkIncomingEnd(judged),
  };
};
