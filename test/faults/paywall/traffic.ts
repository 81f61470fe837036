import type { Break } from '../break.ts';
import { countsOf, listOf } from '../checks/counts.ts';
import { HANDS, inParallel, until } from '../recovery.ts';
import type { Traffic } from '../traffic.ts';
import { createActors } from './actors.ts';
import { readFinalState } from './final-state.ts';
import { type Case, judge } from './invariants.ts';
import { payOwn, present, startLoad } from './load.ts';
import { createLog, DIALECTS, isDecided, isDelivered } from './log.ts';
import { paywallOwnerFaults } from './owners.ts';
import { FIXED_PRICE } from './shop.ts';

/** Buyers whose wallet pays a part of their purchases only, one of each dialect. */
const POOR = DIALECTS.length;

const linesOf = ({ log, finalState }: Case): string[] => {
  const { poisoned } = log;
  const delivered = log.purchases.filter(isDelivered);
  const reasons = log.payments.flatMap(({ answers }) =>
    answers
      .filter(({ status }) => status === 402)
      .map(({ body }) => /"reason":"(\w+)"/.exec(body)?.[1] ?? body),
  );
  return [
    `${log.purchases.length} purchases, ${log.payments.length} payments signed by clients of x402 and MPP, ${finalState.transfers.length} on the chain`,
    `delivered: ${listOf(countsOf(delivered.map(({ dialect }) => dialect)))}`,
    `answers: ${listOf(countsOf(log.purchases.flatMap(({ answers }) => answers.map(({ status }) => `${status ?? 'none'}`))))}`,
    `refusals: ${listOf(countsOf(reasons))}`,
    `refused to the shop: ${listOf(countsOf(log.refusals.map(({ code, moneyMoved }) => `${code} (${moneyMoved})`)))}`,
    `${finalState.failed.emptied.length} failed on chain, of ${log.emptied.size} accounts that were emptied, and ${finalState.failed.unexplained.length} of others`,
    `quotes whose reference the platform named: ${poisoned.quotes.size}, and asked to name: ${poisoned.named.length}; ${poisoned.givenUp} attacks given up`,
    `${[...log.runs.values()].filter((runs) => runs > 1).length} handlers ran again, because their buyer was gone`,
  ];
};

/**
 * Payments to a vendor with the SDK's paywall: two replicas with one store, which sell to the
 * clients of each dialect while price, secrets and service key change.
 * @param options `perSecond`: purchases that begin per second. `purchases`: about how many there
 *   will be
 */
export const paywallTraffic = ({
  perSecond = 5,
  buyers = 18,
  purchases = 1000,
}: {
  perSecond?: number;
  buyers?: number;
  purchases?: number;
} = {}): Traffic => ({
  name: 'paywall',
  victims: /^(gateway|settlement|chain-submitter)/,
  begin: async (harness) => {
    const log = createLog();
    const poorBalance = FIXED_PRICE * BigInt(Math.ceil(purchases / buyers / 2));
    const actors = await createActors(harness, log, { buyers, poor: POOR, poorBalance });
    const ofFaults: Omit<Break, 'traffic'>[] = [];
    return {
      faults: () => paywallOwnerFaults(harness, { actors, log, breaks: ofFaults }),
      about: `${buyers} buyers pay a shop of two replicas`,
      start: (rng) => startLoad({ actors, log, rng, perSecond }),
      counts: () => {
        const { length } = log.purchases;
        return { tried: length, begun: length, paid: log.delivered() };
      },
      spans: () =>
        log.purchases.flatMap((purchase) => {
          const [first, last] = [purchase.answers[0], purchase.answers.at(-1)];
          return first && last ? [{ from: first.askedAt, to: last.at, isPaid: isDelivered(purchase) }] : [];
        }),
      /** Every buyer sends its payment again until it knows the outcome. */
      recover: async (deadline) => {
        const undecided = log.payments.filter((payment) => !isDecided(payment));
        await inParallel(undecided, HANDS, (payment) =>
          until(deadline, async () => {
            await present(actors, log, payment);
            return isDecided(payment);
          }),
        );
        // A poor buyer's last purchase may stay unpaid.
        const open = log.purchases.filter((each) => each.dialect === 'quittance' && !isDelivered(each));
        await inParallel(open, HANDS, async (purchase) => {
          const buyer = actors.buyers.find(({ address }) => address === purchase.buyer)!;
          if (buyer.dialect !== 'quittance') return;
          await until(deadline, async () => {
            await payOwn(buyer.pay, log, purchase);
            return buyer.isPoor || isDelivered(purchase);
          });
        });
      },
      evaluate: async (records, disturbances) => {
        const of = {
          log,
          finalState: await readFinalState(harness, { actors, log }, records),
          ...disturbances,
        };
        return { breaks: [...ofFaults, ...judge(of)], lines: linesOf(of), paid: log.delivered() };
      },
      stop: () => actors.shop.stop(),
    };
  },
});
