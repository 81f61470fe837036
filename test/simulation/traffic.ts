import { checkApprovals, checkOwners, createApprovalAmounts, createOwners } from './approvals.ts';
import type { Attempt, Clients, Quote } from './clients.ts';
import { checkConsumed, createConsumers } from './consume.ts';
import type { Harness, Rule } from './harness.ts';
import type { SettlementReplica } from './processes.ts';
import { createRandom } from './random.ts';
import type { SettlementTables } from './settlement-tables.ts';

/** Any number: the choices of traffic have a random source of their own. */
const TRAFFIC = 0x51ed270b;
/** The rules that only this traffic needs. */
const OF_TRAFFIC = /approval|consume/;

/**
 * The traffic that only some runs have. Its choices are not drawn from the run's random source, so
 * a run without it is the same as if there were none. A mutation of one kind has that kind only.
 */
export const chooseTraffic = (seed: number, off: Rule | null) => {
  const random = createRandom(seed ^ TRAFFIC);
  const chosen = (share: number, words: RegExp) => {
    const isChosen = random.chance(share);
    return off !== null && OF_TRAFFIC.test(off) ? words.test(off) : isChosen;
  };
  const hasApprovals = chosen(0.3, /approval/);
  const hasUnits = chosen(0.25, /consume/);
  return {
    approvalAbove: createApprovalAmounts(random, hasApprovals),
    /** The units that a quote prepays. */
    units: () => (hasUnits && random.chance(0.7) ? random.int(1, 7) : null),
  };
};

/** The programs of that traffic, and what must hold of it. */
export const createTraffic = (
  harness: Harness,
  {
    replicas,
    clients,
    settlement,
  }: { replicas: () => readonly SettlementReplica[]; clients: () => Clients; settlement: SettlementTables },
) => {
  const owners = createOwners(harness, { replicas, clients, settlement });
  const consumers = createConsumers(harness, { replicas, settlement });
  return {
    onPaid: (paid: NonNullable<Attempt['paid']>, { units }: Quote) => {
      if (units !== null) consumers.deliver(paid, units);
    },
    isIdle: () => owners.isIdle() && consumers.isIdle(),
    /** After every event. */
    checkStep: () => {
      checkApprovals(settlement);
      checkConsumed(settlement);
    },
    checkEnd: () => checkOwners(owners, settlement),
  };
};
