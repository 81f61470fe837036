import { countsOf, listOf } from '../checks/counts.ts';
import { type Case, isLost, paidOf } from './invariants.ts';
import { pointName } from './log.ts';

/** Lines of a report on the purchases of a run. */
export const gateLines = ({ ended }: Case): string[] => {
  const purchases = ended.map(({ purchase }) => purchase);
  const killed = purchases.filter(({ killedAt }) => killedAt !== null);
  const places = killed.map(({ point, killedAt }) =>
    'when' in point! ? `gate ${point.when} ${killedAt}` : pointName(point!),
  );
  return [
    `purchases: ${listOf(countsOf(purchases.map(({ kind, outcome }) => `${kind} ${outcome}`)))}`,
    `${killed.length} kills: ${listOf(countsOf(places))}`,
    `${ended.filter((one) => paidOf(one).length > 0).length} paid; ${ended.filter(isLost).length} metered ones lost their use with their gate`,
    `${purchases.reduce((sum, { runs }) => sum + runs, 0)} requests reached the API`,
    `answers: ${listOf(countsOf(purchases.flatMap(({ answers }) => answers.map((answer) => answer.slice(0, 60)))))}`,
  ];
};
