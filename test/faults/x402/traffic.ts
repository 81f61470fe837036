import type { Break } from '../break.ts';
import { countsOf, listOf } from '../checks/counts.ts';
import { HANDS, inParallel, until } from '../recovery.ts';
import type { Traffic } from '../traffic.ts';
import { createActors, PRICE } from './actors.ts';
import { afterSalesOf } from './after-sales.ts';
import { readFinalState } from './final-state.ts';
import { type Case, judge, undelivered, windowCases } from './invariants.ts';
import { startLoad } from './load.ts';
import { createLog, isDecided } from './log.ts';
import { x402OwnerFaults } from './owners.ts';

const VENDORS = 2;
/** Buyers whose wallet pays half of their purchases only. Their failures must stay failures. */
const POOR = 2;

const linesOf = (of: Case): string[] => {
  const { log, finalState } = of;
  const open = undelivered(of).map(({ hash }) => finalState.settlements.get(hash)?.status);
  const reasonsOf = (wanted: string) =>
    listOf(countsOf(log.answers.filter(({ kind }) => kind === wanted).map(({ reason }) => reason)));
  const undeliveredTimes = (wanted: string) => open.filter((status) => status === wanted).length;
  const reversed = [...finalState.settlements.values()].filter(
    ({ status, chain_status }) => status === 'redeemed' && chain_status === 'failed',
  ).length;
  return [
    `${log.purchases.length} purchases, ${log.payments.length} payments signed, ${finalState.transfers.length} on the chain`,
    `answers: ${listOf(countsOf(log.answers.map(({ kind }) => kind)))}`,
    `failures: ${reasonsOf('failure')}`,
    `answers that a vendor cannot read: ${reasonsOf('unknown')}`,
    `${undeliveredTimes('issued')} paid and listed as issued, ${undeliveredTimes('redeemed')} handed out to nobody`,
    `${finalState.failed.emptied.length} failed on chain, of ${log.emptied.size} accounts that were emptied, and ${finalState.failed.unexplained.length} of others`,
    `fees accrued and paid: ${finalState.fees.map(({ accrued, paid }) => `${accrued} and ${paid}`).join(', ')}`,
    `${finalState.refunds.length} refunded, ${log.payments.filter(({ reissued }) => reissued.size > 0).length} to be handed out once more`,
    `${windowCases(of)} successes handed out again after a gateway had died, ${reversed} reversed by a fork`,
  ];
};

/**
 * Payments of x402 to our vendors, by the clients of others.
 * @param options `perSecond`: purchases that begin per second. `purchases`: about how many there
 *   will be
 */
export const x402Traffic = ({
  perSecond = 5,
  buyers = 16,
  purchases = 1000,
}: {
  perSecond?: number;
  buyers?: number;
  purchases?: number;
} = {}): Traffic => ({
  name: 'x402',
  victims: /^(gateway|settlement|chain-submitter)/,
  begin: async (harness, redeemed) => {
    const log = createLog(redeemed);
    const poorBalance = PRICE * BigInt(Math.ceil(purchases / buyers / 2));
    const actors = await createActors(harness, log, { vendors: VENDORS, buyers, poor: POOR, poorBalance });
    /** What faults and clients find themselves. */
    const breaks: Omit<Break, 'traffic'>[] = [];
    return {
      about: `${buyers} buyers pay ${VENDORS} vendors and one that owes its fees`,
      faults: () => x402OwnerFaults(harness, { actors, log, breaks }),
      start: (rng) => startLoad({ actors, afterSales: afterSalesOf(harness), log, rng, perSecond }),
      counts: () => {
        const { length } = log.purchases;
        return { tried: length, begun: length, paid: log.delivered() };
      },
      spans: () =>
        log.payments.flatMap(({ answers }) => {
          const [first, last] = [answers[0], answers.at(-1)];
          const isPaid = answers.some(({ kind }) => kind === 'success');
          return first && last ? [{ from: first.askedAt, to: last.at, isPaid }] : [];
        }),
      /** Vendors settle each payment again until they know its state. */
      recover: async (deadline, isAbandoned) => {
        const undecided = log.payments.filter((payment) => !isDecided(payment) && !isAbandoned());
        await inParallel(undecided, HANDS, async (payment) => {
          await until(deadline, async () => {
            await payment.purchase.vendor.settle(payment);
            return isDecided(payment);
          });
          if (!isDecided(payment))
            breaks.push({ invariant: 'every-payment-is-answered', what: payment.hash });
        });
      },
      evaluate: async (records, disturbances) => {
        const of = {
          log,
          finalState: await readFinalState(harness, { actors, log }, records),
          ...disturbances,
        };
        const paid = log.payments.filter(({ answers }) => answers.some(({ kind }) => kind === 'success'));
        return { breaks: [...breaks, ...judge(of)], lines: linesOf(of), paid: paid.length };
      },
    };
  },
});
