import { type Case, type Invariant, isPaid, rowOf } from './case.ts';
import type { Asked, Attempt, Delivery } from './client-log.ts';
import { consumedIn } from './units.ts';

const isCounted = ({ status }: Asked): boolean => status === 200;
const isExhausted = (answer: Asked): boolean => consumedIn(answer).error?.code === 'settlement_exhausted';

/** The deliveries of each bundle. */
const bundlesOf = ({ clientLog }: Case): [Attempt, Delivery[]][] => {
  const bundles = new Map<Attempt, Delivery[]>();
  for (const delivery of clientLog.deliveries)
    bundles.set(delivery.attempt, [...(bundles.get(delivery.attempt) ?? []), delivery]);
  return [...bundles];
};

const sum = (deliveries: readonly Delivery[]): number =>
  deliveries.reduce((total, { units }) => total + units, 0);

/** What must hold of bundles of units, whatever its vendor's replicas send at once. */
export const unitInvariants: Record<string, Invariant> = {
  /** What was counted, by its answers and by the records, is at most the bundle. */
  'units-stay-within-the-bundle': (of) =>
    bundlesOf(of).flatMap(([attempt, deliveries]) => {
      const row = rowOf(of, attempt);
      const answered = sum(deliveries.filter(({ answers }) => answers.some(isCounted)));
      const total = row?.units_total ?? 0;
      return answered <= total && (row?.units_consumed ?? 0) <= total
        ? []
        : [{ what: `${answered} answered and ${row?.units_consumed} recorded of ${total}`, attempt }];
    }),

  /** Every delivery that was answered as counted is recorded once, and nothing else is counted. */
  'each-delivery-is-counted-once': (of) =>
    bundlesOf(of).flatMap(([attempt, deliveries]) => {
      const row = rowOf(of, attempt);
      const recorded = of.finalState.consumptions.filter(
        ({ settlement_id }) => settlement_id === row?.settlement_id,
      );
      const units = recorded.reduce((total, one) => total + one.units, 0);
      const lost = deliveries.filter(
        ({ requestId, answers, units: wanted }) =>
          answers.some(isCounted) &&
          recorded.filter((one) => one.request_id === requestId && one.units === wanted).length !== 1,
      );
      const twice = new Set(recorded.map(({ request_id }) => request_id)).size < recorded.length;
      return lost.length === 0 && !twice && units === (row?.units_consumed ?? 0)
        ? []
        : [
            {
              what: `${lost.length} of ${deliveries.length} not recorded once, ${units} units of ${row?.units_consumed}`,
              attempt,
            },
          ];
    }),

  /** Each delivery has units of its own: the counts that the answers name do not overlap. */
  'deliveries-share-no-unit': (of) =>
    bundlesOf(of).flatMap(([attempt, deliveries]) => {
      const ends = deliveries.map(({ answers, units }) => ({
        units,
        named: [
          ...new Set(answers.filter(isCounted).map((answer) => consumedIn(answer).units_consumed ?? 0)),
        ],
      }));
      const changed = ends.filter(({ named }) => named.length > 1);
      const taken = ends.flatMap(({ units, named }) =>
        named.slice(0, 1).flatMap((end) => Array.from({ length: units }, (_, i) => end - i)),
      );
      return changed.length === 0 && new Set(taken).size === taken.length
        ? []
        : [{ what: `units ${taken.toSorted((a, b) => a - b).join(' ')}`, attempt }];
    }),

  /** A repeat of a delivery that was counted gets the same answer, also when no unit is left. */
  'counted-stays-counted': (of) =>
    bundlesOf(of).flatMap(([attempt, deliveries]) =>
      isPaid(rowOf(of, attempt))
        ? deliveries.flatMap(({ requestId, answers }) => {
            const countedAt = Math.min(...answers.filter(isCounted).map(({ at }) => at));
            const later = answers.filter((answer) => answer.askedAt > countedAt && isExhausted(answer));
            return later.length === 0 ? [] : [{ what: `${requestId} was counted, then used up`, attempt }];
          })
        : [],
    ),

  /** A vendor is told that too few units are left only when that is so, and for good. */
  'used-up-is-true': (of) =>
    bundlesOf(of).flatMap(([attempt, deliveries]) => {
      const row = rowOf(of, attempt);
      const left = (row?.units_total ?? 0) - (row?.units_consumed ?? 0);
      return deliveries
        .filter(({ answers, units }) => answers.some(isExhausted) && units <= left)
        .map(({ requestId }) => ({ what: `${requestId} was told so, and ${left} are left`, attempt }));
    }),
};

/** What vendors delivered on bundles, as a line of text. */
export const unitLine = (deliveries: readonly Delivery[]): string => {
  const bundles = new Set(deliveries.map(({ attempt }) => attempt)).size;
  const counted = deliveries.filter(({ answers }) => answers.some(isCounted)).length;
  const exhausted = deliveries.filter(({ answers }) => answers.some(isExhausted)).length;
  return `units: ${bundles} bundles, ${counted} deliveries counted, ${exhausted} told that too few units are left`;
};
