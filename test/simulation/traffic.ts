import { actors } from './actors.ts';
import { checkApprovals, checkOwners, createApprovalAmounts, createOwners } from './approvals.ts';
import { checkAuthorizations, createMeteringVendor } from './authorizations.ts';
import type { Bus } from './bus.ts';
import type { Chain } from './chain.ts';
import { addDelegate, addLimits, SHARED_DELEGATE } from './choose-by.ts';
import type { Attempt, Clients } from './clients.ts';
import { checkOpen, createClosing } from './closing.ts';
import { checkConsumed, createConsumers } from './consume.ts';
import { checkExtended, checkExtensions, createExtending } from './extensions.ts';
import { createForger } from './forger.ts';
import type { Harness, Rule } from './harness.ts';
import { createOutgoing, type Order } from './outgoing.ts';
import { createOutgoingInvariants } from './outgoing-invariants.ts';
import type { LostOutgoing } from './outgoing-settlement.ts';
import type { SettlementReplica } from './processes.ts';
import { createRandom, type Random } from './random.ts';
import type { Delegate } from './settlement-rows.ts';
import type { SettlementTables } from './settlement-tables.ts';
import type { SubmitterTables } from './submitter-tables.ts';

/** Any numbers: the choices of traffic have random sources of their own. */
const TRAFFIC = 0x51ed270b;
const OUTGOING = 0x2545f491;
const LIMITS = 0x3c6ef372;
const CEILINGS = 0x1b873593;
const NEW_PAYERS = 0x2c1b3c6d;
/** Two ceilings, or one that is extended a little. */
const NEW_PAYER_MICRO = 5_000_000n;
/** Numbers of the delegates that pay vendors of others only, one for each payer. */
const SMALL_DELEGATE = 60;
const OUTGOING_WITHIN_MS = 30_000;
/** The rules that only this traffic needs. */
const OF_TRAFFIC = /approval|consume|outgoing|newest use|ceiling|extension|authorized|over a cap|closing/;

const OF_CAPS = /^authorized/;
const OF_ACCOUNTS: Rule = 'limits of an account';

/** The lower limits of accounts for what a sign-in pays, in some runs. */
const createAccountLimits = (random: Random, off: Rule | null) => {
  const isChosen = off === null ? random.chance(0.25) : off === OF_ACCOUNTS;
  if (!isChosen) return null;
  return (): Pick<Delegate, 'per_payment' | 'daily'> => ({
    per_payment: BigInt(random.int(1, 5)) * 1_000_000n,
    daily: BigInt(random.int(2, 8)) * 1_000_000n,
  });
};

/**
 * The traffic that only some runs have. Its choices are not drawn from the run's random source, so
 * a run without it is the same as if there were none. A mutation of one kind has that kind only,
 * and one of payments of other clients has none.
 */
export const chooseTraffic = (seed: number, off: Rule | null) => {
  const random = createRandom(seed ^ TRAFFIC);
  const ofOutgoing = createRandom(seed ^ OUTGOING);
  const ofCeilings = createRandom(seed ^ CEILINGS);
  const chosen = (share: number, words: RegExp, source = random) => {
    const isChosen = source.chance(share);
    if (off?.startsWith('incoming: ')) return false;
    return off !== null && OF_TRAFFIC.test(off) ? words.test(off) : isChosen;
  };
  const hasApprovals = chosen(0.3, /approval/);
  const hasUnits = chosen(0.25, /consume/);
  const hasOutgoing = chosen(0.25, /outgoing|approval of its amount/, ofOutgoing);
  const hasCeilings = chosen(0.25, /newest use|ceiling|extension|authorized|over a cap|closing/, ofCeilings);
  const hasExtensions = hasCeilings && (off === null || OF_TRAFFIC.test(off));
  return {
    approvalAbove: createApprovalAmounts(random, hasApprovals),
    /** The units that a quote prepays. */
    units: () => (hasUnits && random.chance(0.7) ? random.int(1, 7) : null),
    /** The window of a quote with a ceiling; null: its price is fixed. */
    windowSeconds: () => (hasCeilings && ofCeilings.chance(0.7) ? ofCeilings.int(60, 120) : null),
    /**
     * Whether ceilings are extended, and their wallets watched. The mutations of other kinds do not
     * need it, and their known seeds stay.
     */
    hasExtensions,
    ofCeilings,
    /** What a payer without a final payment may have open, in micro-units. */
    newPayerMicro:
      hasExtensions && createRandom(seed ^ NEW_PAYERS).chance(OF_CAPS.test(off ?? '') ? 1 : 0.5)
        ? NEW_PAYER_MICRO
        : 10n ** 12n,
    /** Null: each account has the limits that it begins with, which no payment of a run reaches. */
    accountLimits: createAccountLimits(createRandom(seed ^ LIMITS), off),
    /** How many payments go to vendors of others. */
    outgoing: hasOutgoing ? ofOutgoing.int(2, 6) : 0,
    random: ofOutgoing,
  };
};
type Choices = ReturnType<typeof chooseTraffic>;

/** The programs of that traffic, and what must hold of it. */
export const createTraffic = (
  harness: Harness,
  {
    choices: { random, approvalAbove, accountLimits, ofCeilings, ...choices },
    replicas,
    bus,
    clients,
    settlement,
    submitter,
    chain,
  }: {
    choices: Choices;
    replicas: () => readonly SettlementReplica[];
    clients: () => Clients;
    settlement: SettlementTables;
    submitter: SubmitterTables;
    chain: Chain;
    bus: Bus;
  },
) => {
  const owners = createOwners(harness, { replicas, clients, settlement });
  const consumers = createConsumers(harness, { replicas, settlement });
  const extending = createExtending(harness, { random: ofCeilings, clients });
  const metering = createMeteringVendor(harness, {
    replicas,
    onEnding: choices.hasExtensions ? extending.onEnding : null,
  });
  const closing = createClosing(harness, { replicas, settlement, random: ofCeilings });
  const forger = createForger(harness, { bus, random: ofCeilings });
  const outgoing = createOutgoing(harness, { replicas, chain, salt: String(random.next()) });
  const ofOutgoing = createOutgoingInvariants({ chain, settlement, submitter, outgoing });

  /** The account itself, the delegate that its native payments share, or one with a small limit. */
  const delegateOf = (payer: number): string | null => {
    const kind = random.next();
    if (kind < 0.3) return null;
    const approval_above = approvalAbove();
    const isShared = kind < 0.6;
    const total = BigInt(isShared ? random.int(3, 9) : random.int(1, 4)) * 1_000_000n;
    const number = (isShared ? SHARED_DELEGATE : SMALL_DELEGATE) + payer;
    return addDelegate(settlement.delegates, { number, payer }, { total, approval_above });
  };
  const orderOf = (number: number): Order => {
    const payer = random.int(0, actors.payers.length);
    const amountMicro = BigInt(random.int(1, 3)) * 1_000_000n;
    const memo = random.chance(0.3) ? `order ${number}` : null;
    const delegateId = delegateOf(payer);
    const stranger = random.int(0, outgoing.strangers);
    return { attemptId: `o${number}`, payer, delegateId, stranger, amountMicro, memo };
  };

  return {
    /** Lowers the limits of accounts, and begins the outgoing payments. */
    begin: (): void => {
      if (accountLimits !== null)
        for (const { account_id } of actors.payers)
          addLimits(settlement.delegates, { delegate_id: account_id, account_id }, accountLimits());
      for (let number = 0; number < choices.outgoing; number += 1)
        outgoing.begin(orderOf(number), random.between(0, OUTGOING_WITHIN_MS));
    },
    onPaid: (paid: NonNullable<Attempt['paid']>, attempt: Attempt) => {
      const { units, hasCeiling, grossMicro, extended } = attempt.quote;
      if (extended !== null) metering.useMore(paid, grossMicro);
      else if (hasCeiling) metering.open(paid, grossMicro);
      if (hasCeiling && extended === null && choices.hasExtensions) {
        extending.open(paid, attempt);
        closing.open(paid, attempt);
        forger.forge(attempt.quote);
      }
      if (units !== null) consumers.deliver(paid, units);
    },
    /** A restore has lost an outgoing payment. Its buyer does not know that, and may call again. */
    onLost: (lost: LostOutgoing): void => {
      ofOutgoing.onLost(lost);
      if (harness.random.chance(0.8)) outgoing.repeat(lost);
    },
    isIdle: () =>
      [owners, consumers, metering, extending, closing, outgoing].every((programs) => programs.isIdle()),
    /** The settlements that the chain has paid to vendors of others. */
    paidOut: () => ofOutgoing.paid(),
    /** After every event. */
    checkStep: () => {
      checkApprovals(settlement);
      checkConsumed(settlement);
      checkAuthorizations(settlement, metering);
      checkExtensions({ settlement, submitter, chain, clients: clients() });
      closing.check();
      checkOpen(settlement, choices.newPayerMicro);
      forger.check(chain);
      ofOutgoing.checkStep();
    },
    checkEnd: () => {
      checkOwners(owners, settlement);
      checkExtended({ settlement, submitter, clients: clients() });
      ofOutgoing.checkEnd();
    },
  };
};
