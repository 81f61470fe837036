import { countsOf, listOf } from '../checks/counts.ts';
import { HANDS, inParallel, until } from '../recovery.ts';
import type { Traffic } from '../traffic.ts';
import { createActors, createBuyer } from './actors.ts';
import { readFinalState } from './final-state.ts';
import { type Case, isReversed, judge, transfersOf } from './invariants.ts';
import { startLoad } from './load.ts';
import { BEHAVIOURS, createLog, isAnswered, signatureOf, signedIn } from './log.ts';

/** So many that few of them are paused after three failures in a row. */
const PAYEES = 64;

const linesOf = (of: Case): string[] => {
  const { log, finalState } = of;
  const answers = log.attempts.flatMap((attempt) => attempt.answers);
  const detailsOf = (wanted: string) =>
    listOf(countsOf(answers.filter(({ kind }) => kind === wanted).map(({ detail }) => detail)));
  const signed = log.attempts
    .filter((attempt) => signatureOf(attempt) !== null)
    .map((attempt) => ({
      attempt,
      behaviour: attempt.behaviour,
      isPaid: transfersOf(of, attempt).length > 0,
      isServed: attempt.deliveries.some(({ status }) => status === 200),
    }));
  const repeated = signed.filter(({ attempt }) => signedIn(attempt).length > 1).length;
  const honest = log.attempts
    .flatMap(({ deliveries }) => deliveries)
    .filter(({ behaviour }) => behaviour === 'honest')
    .map(({ status, reason }) => `${status ?? 'no answer'} ${reason}`.trim());
  const included = BEHAVIOURS.map((behaviour) => {
    const own = signed.filter((one) => one.behaviour === behaviour);
    return `${behaviour} ${own.filter(({ isPaid }) => isPaid).length} of ${own.length}`;
  });
  return [
    `${log.attempts.length} attempts, ${signed.length} signed (${repeated} more than once), ${finalState.transfers.length} on the chain`,
    `answers: ${listOf(countsOf(answers.map(({ kind }) => kind)))}`,
    `refusals: ${detailsOf('refused')}`,
    `calls without an answer: ${detailsOf('unknown')}`,
    `included of signed: ${included.join(', ')}`,
    `answers of honest vendors: ${listOf(countsOf(honest))}`,
    `${signed.filter(({ isPaid, isServed }) => isPaid && !isServed).length} paid and refused by the vendor, ` +
      `${signed.filter(({ isPaid, isServed }) => !isPaid && isServed).length} delivered and not paid`,
    `${finalState.settlements.filter(({ status }) => status === 'failed').length} failed with proof, ` +
      `${finalState.settlements.filter(isReversed).length} reversed by a fork`,
  ];
};

/**
 * Payments to vendors that do not use Quittance.
 * @param options `perSecond`: payments that begin per second. `payments`: about how many there will
 *   be
 */
export const outgoingTraffic = ({
  perSecond = 5,
  accounts = 12,
  payments = 1000,
}: {
  perSecond?: number;
  accounts?: number;
  payments?: number;
} = {}): Traffic => ({
  name: 'outgoing',
  victims: /^(gateway|settlement|chain-submitter|identity)/,
  begin: async (harness, redeemed) => {
    const log = createLog(redeemed);
    const fitting = Math.ceil(payments / accounts / 8);
    const actors = await createActors(harness, { accounts, payees: PAYEES, fitting });
    const buyer = createBuyer(harness, log);
    return {
      about: `${actors.payers.length} keys of ${accounts} accounts pay ${PAYEES} vendors of others`,
      start: (rng) => startLoad({ actors, buyer, log, rng, perSecond }),
      counts: () => ({ tried: log.attempts.length, begun: log.signed(), paid: log.confirmed.size }),
      spans: () =>
        log.attempts.flatMap(({ answers, deliveries }) => {
          const times = [...answers, ...deliveries].map(({ at }) => at);
          const isPaid = answers.some(({ detail }) => detail === 'confirmed');
          return times.length === 0 ? [] : [{ from: Math.min(...times), to: Math.max(...times), isPaid }];
        }),
      /** Buyers repeat each call until it is answered, and some of the others once. */
      recover: async (deadline, isAbandoned) => {
        const priced = log.attempts.filter(({ price }) => price !== null && !isAbandoned());
        await inParallel(priced, HANDS, (attempt) =>
          until(deadline, async () => {
            await buyer.ask(attempt);
            return isAnswered(attempt);
          }),
        );
      },
      evaluate: async (records, disturbances) => {
        const of = { log, finalState: await readFinalState(harness, actors, records), ...disturbances };
        return { breaks: judge(of), lines: linesOf(of), paid: of.finalState.transfers.length };
      },
      stop: actors.stop,
    };
  },
});
