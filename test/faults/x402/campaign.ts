import { countsOf } from '../counts.ts';
import { x402Faults } from '../faults/index.ts';
import type { Harness } from '../harness.ts';
import {
  type Disturbances,
  type PaymentsOptions,
  type PaymentsReport,
  runPaymentsCampaign,
} from '../payments-campaign.ts';
import { inParallel, until } from '../recovery.ts';
import { createActors, PRICE } from './actors.ts';
import { readFinalState } from './final-state.ts';
import { judge, undelivered, windowCases } from './invariants.ts';
import { startLoad } from './load.ts';
import { createLog, isDecided, KINDS, type Log } from './log.ts';

/**
 * `payments` of the options are purchases. Each is one payment, and one more for each failure.
 */
export type X402Report = PaymentsReport & ReturnType<typeof figuresOf>;

const VENDORS = 2;
/** Buyers whose wallet pays half of their purchases only. Their failures must stay failures. */
const POOR = 2;
/** More than all payments of a campaign accrue. */
const CREDIT_MICRO = 1_000_000_000_000n;
const REPEATERS = 16;
const VICTIMS = /^(gateway|settlement|chain-submitter)/;

type Judged = Disturbances & { log: Log; finalState: Awaited<ReturnType<typeof readFinalState>> };

const figuresOf = (of: Judged) => {
  const { log, finalState } = of;
  const open = undelivered(of).map(({ hash }) => finalState.settlements.get(hash)?.status);
  const reasonsOf = (wanted: string) =>
    countsOf(log.answers.filter(({ kind }) => kind === wanted).map(({ reason }) => reason));
  return {
    purchases: log.purchases.length,
    payments: log.payments.length,
    /** Answers to settle, by what a stock vendor understands. */
    answers: Object.fromEntries(
      KINDS.map((kind) => [kind, log.answers.filter((answer) => answer.kind === kind).length]),
    ) as Record<(typeof KINDS)[number], number>,
    /** Failures and lost answers by reason. */
    failures: reasonsOf('failure'),
    unknown: reasonsOf('unknown'),
    transfers: finalState.transfers.length,
    /** Payments whose vendor got a success. */
    delivered: log.payments.filter(({ answers }) => answers.some(({ kind }) => kind === 'success')).length,
    undelivered: {
      issued: open.filter((status) => status === 'issued').length,
      redeemed: open.filter((status) => status === 'redeemed').length,
    },
    /** Successes that were handed out again after their gateway had died. */
    window: windowCases(of),
    /** Confirmed payments that a fork removed for good. */
    reversed: [...finalState.settlements.values()].filter(
      ({ status, chain_status }) => status === 'redeemed' && chain_status === 'failed',
    ).length,
  };
};

/** Runs one campaign of x402 payments over a separate stack and checks the invariants. */
export const runX402Campaign = (options: PaymentsOptions): Promise<X402Report> => {
  const { payments, perSecond = 5, buyers = 16 } = options;
  const log = createLog();

  const begin = async (harness: Harness) => {
    const poorBalance = PRICE * BigInt(Math.ceil(payments / buyers / 2));
    const actors = await createActors(harness, log, { vendors: VENDORS, buyers, poor: POOR, poorBalance });
    const redeemed = { count: () => log.delivered.length, newestHash: () => log.delivered.at(-1) ?? null };
    return {
      faults: x402Faults(harness, redeemed),
      about: `${buyers} buyers make ${payments} purchases`,
      startLoad: (rng: Parameters<typeof startLoad>[0]['rng']) =>
        startLoad({ actors, log, rng, payments, perSecond }),
      progress: () => `${log.purchases.length} purchases, ${log.delivered.length} successes`,
      /** Vendors settle each payment again until they know its state. */
      recover: async (deadline: number, isAbandoned: () => boolean): Promise<void> => {
        const undecided = log.payments.filter((payment) => !isDecided(payment) && !isAbandoned());
        await inParallel(undecided, REPEATERS, async (payment) => {
          const vendor = actors.vendors.find(({ payTo }) => payTo === payment.purchase.payTo)!;
          await until(deadline, async () => {
            await vendor.settle(payment);
            return isDecided(payment);
          });
        });
      },
      evaluate: async (disturbances: Disturbances) => {
        const of = { log, finalState: await readFinalState(harness, actors), ...disturbances };
        const breaks = judge(of);
        if (log.delivered.length === 0)
          breaks.push({ invariant: 'somebody-paid', what: 'no payment succeeded' });
        return { breaks, figures: figuresOf(of) };
      },
    };
  };
  return runPaymentsCampaign(options, { victims: VICTIMS, firstCreditMicro: CREDIT_MICRO, begin });
};
