import { countsOf } from '../counts.ts';
import { outgoingFaults } from '../faults/index.ts';
import type { Harness } from '../harness.ts';
import {
  type Disturbances,
  type PaymentsOptions,
  type PaymentsReport,
  runPaymentsCampaign,
} from '../payments-campaign.ts';
import { inParallel, until } from '../recovery.ts';
import type { Rng } from '../rng.ts';
import { createActors, createBuyer } from './actors.ts';
import { readFinalState } from './final-state.ts';
import { type Case, isReversed, judge, transfersOf } from './invariants.ts';
import { startLoad } from './load.ts';
import { BEHAVIOURS, createLog, isAnswered, signatureOf, signedIn } from './log.ts';

/** `payments` of the options are signed payments. */
export type OutgoingReport = PaymentsReport & ReturnType<typeof figuresOf>;

/** So many that few of them are paused after three failures in a row. */
const PAYEES = 64;
const REPEATERS = 16;
const VICTIMS = /^(gateway|settlement|chain-submitter|identity)/;

const figuresOf = (of: Case) => {
  const { log, finalState } = of;
  const answers = log.attempts.flatMap((attempt) => attempt.answers);
  const signed = log.attempts.filter((attempt) => signatureOf(attempt) !== null);
  return {
    attempts: log.attempts.length,
    signed: signed.length,
    /** Attempts that got their bytes more than once. */
    repeated: signed.filter((attempt) => signedIn(attempt).length > 1).length,
    answers: countsOf(answers.map(({ kind }) => kind)),
    refusals: countsOf(answers.filter(({ kind }) => kind === 'refused').map(({ detail }) => detail)),
    unknown: countsOf(answers.filter(({ kind }) => kind === 'unknown').map(({ detail }) => detail)),
    transfers: finalState.transfers.length,
    /** Signed and included payments by the counterparty's behaviour. */
    behaviours: BEHAVIOURS.map((behaviour) => {
      const own = signed.filter((attempt) => attempt.behaviour === behaviour);
      const paid = own.filter((attempt) => transfersOf(of, attempt).length > 0).length;
      return { behaviour, signed: own.length, paid };
    }),
    /** What honest vendors answered. */
    honest: countsOf(
      log.attempts
        .flatMap(({ deliveries }) => deliveries)
        .filter(({ behaviour }) => behaviour === 'honest')
        .map(({ status, reason }) => `${status ?? 'no answer'} ${reason}`.trim()),
    ),
    /** Paid, and the vendor never answered 200. */
    undelivered: signed.filter(
      (attempt) =>
        transfersOf(of, attempt).length > 0 && !attempt.deliveries.some(({ status }) => status === 200),
    ).length,
    /** The vendor answered 200, and nothing was paid. */
    unpaid: signed.filter(
      (attempt) =>
        transfersOf(of, attempt).length === 0 && attempt.deliveries.some(({ status }) => status === 200),
    ).length,
    failed: finalState.settlements.filter(({ status }) => status === 'failed').length,
    reversed: finalState.settlements.filter(isReversed).length,
  };
};

/** Runs one campaign of outgoing payments over a separate stack and checks the invariants. */
export const runOutgoingCampaign = (options: PaymentsOptions): Promise<OutgoingReport> => {
  const { payments, perSecond = 5, buyers: accounts = 12 } = options;
  const log = createLog();

  const begin = async (harness: Harness) => {
    const fitting = Math.ceil(payments / accounts / 8);
    const actors = await createActors(harness, { accounts, payees: PAYEES, fitting });
    const buyer = createBuyer(harness, log);
    const confirmed = {
      count: () => log.confirmed.length,
      newestHash: () => log.confirmed.at(-1) ?? null,
    };
    return {
      faults: outgoingFaults(harness, confirmed),
      about: `${actors.payers.length} keys of ${accounts} accounts make ${payments} payments`,
      startLoad: (rng: Rng) => startLoad({ actors, buyer, log, rng, payments, perSecond }),
      progress: () => `${log.signed()} signed, ${log.confirmed.length} confirmed`,
      /** Buyers repeat each call until it is answered, and some of the others once. */
      recover: async (deadline: number, isAbandoned: () => boolean): Promise<void> => {
        const priced = log.attempts.filter(({ price }) => price !== null && !isAbandoned());
        await inParallel(priced, REPEATERS, (attempt) =>
          until(deadline, async () => {
            await buyer.ask(attempt);
            return isAnswered(attempt);
          }),
        );
      },
      evaluate: async (disturbances: Disturbances) => {
        const of = { log, finalState: await readFinalState(harness, actors), ...disturbances };
        const breaks = judge(of);
        if (of.finalState.transfers.length === 0)
          breaks.push({ invariant: 'somebody-paid', what: 'no payment succeeded' });
        return { breaks, figures: figuresOf(of) };
      },
      stop: actors.stop,
    };
  };
  return runPaymentsCampaign(options, { victims: VICTIMS, begin });
};
