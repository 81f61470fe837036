import type { Access } from '../access.ts';
import { ownFaults } from '../faults/index.ts';
import { HANDS, inParallel, until } from '../recovery.ts';
import { createRng, type Rng } from '../rng.ts';
import type { Traffic } from '../traffic.ts';
import { type Client, createActors, createClient } from './client.ts';
import { type Attempt, type ClientLog, createClientLog, spanOf } from './client-log.ts';
import { readFinalState } from './final-state.ts';
import { judge } from './invariants.ts';
import { startLoad } from './load.ts';
import { ownReportLines } from './report.ts';

/** Answered attempts that are sent once more in the end. */
const REPEATED = 500;
const REDEEMED_MS = 10_000;

/**
 * Every client queries each attempt until its state is known; most repeat the call, the others have
 * lost all but the id.
 */
const recover = async (client: Client, clientLog: ClientLog, rng: Rng, deadline: number): Promise<void> => {
  const open = clientLog.attempts.filter(({ outcome }) => outcome === 'open');
  // A delegate cannot see another delegate's attempts, so a client with a borrowed id cannot query
  // by it.
  const forgetful = new Set(open.filter(({ isBorrowed }) => rng.chance(0.3) && !isBorrowed));
  const settled = async (attempt: Attempt) => {
    await client.settle(attempt);
    return attempt.outcome !== 'open';
  };
  const others = open.filter((attempt) => !forgetful.has(attempt));
  await inParallel(others, HANDS, (attempt) => until(deadline, () => settled(attempt)));
  await inParallel([...forgetful], HANDS, (attempt) => until(deadline, () => client.find(attempt)));
  const refunds = clientLog.refunds.filter(({ created }) => created.length > 0);
  await inParallel(refunds, HANDS, (refund) => until(deadline, () => client.endRefund(refund)));
};

/** An attempt that was answered gets the same answer after all faults. */
const repeat = async (client: Client, clientLog: ClientLog, rng: Rng): Promise<void> => {
  const paid = clientLog.attempts.filter(({ outcome, token }) => outcome === 'paid' && token !== null);
  await inParallel(rng.shuffle(paid).slice(0, REPEATED), HANDS, (attempt) => client.settle(attempt));
  const denied = clientLog.decisions.filter(({ wants, status }) => wants === 'deny' && status === 200);
  await inParallel(denied, HANDS, ({ attempt }) => client.settle(attempt));
  const sent = clientLog.deliveries.filter(({ answers }) => answers.length > 0);
  await inParallel(sent, HANDS, (delivery) => client.consume(delivery));
  const unredeemed = paid.filter(
    ({ redeems }) => redeems.length > 0 && !redeems.some(({ status }) => status === 200),
  );
  await inParallel(unredeemed, HANDS, (attempt) =>
    until(Date.now() + REDEEMED_MS, () => client.redeem(attempt, attempt.redeems[0]!.redeemId)),
  );
};

/**
 * Payments to our vendors by our own clients.
 * @param options `perSecond`: payments that begin per second. `owners`: payers that approve the
 *   payments of their agents with a passkey
 */
export const ownTraffic = ({
  perSecond = 15,
  payers = 8,
  vendors = 3,
  owners = 2,
  clientLog = createClientLog(),
}: {
  perSecond?: number;
  payers?: number;
  vendors?: number;
  owners?: number;
  clientLog?: ClientLog;
} = {}): Traffic<Access> => ({
  name: 'own',
  begin: async (installation, redeemed) => {
    const actors = await createActors(installation, { payers, vendors, owners });
    const client = createClient(installation, clientLog, redeemed);
    // During the faults a new payer may not get through its sign-up.
    const born = await Promise.all([client.signUp('wallet'), client.signUp('delegates')]);
    const newcomers = born.filter((one) => one !== null);
    const noticed: ReturnType<typeof judge> = [];
    let after = createRng(0);
    return {
      about: `${payers} payers pay ${vendors} vendors`,
      start: (rng) => {
        after = rng.fork(-1);
        return startLoad({ client, actors, clientLog, newcomers, rng, perSecond });
      },
      counts: () => {
        const { attempts, paid } = clientLog.counts();
        return { tried: attempts, begun: attempts, paid };
      },
      spans: () =>
        clientLog.attempts.map((attempt) => {
          const [from, to] = spanOf(attempt);
          return { from, to, isPaid: attempt.outcome === 'paid' };
        }),
      faults: (harness) => ownFaults({ harness, clientLog, client, actors, breaks: noticed }),
      recover: (deadline) => recover(client, clientLog, after, deadline),
      repeat: () => repeat(client, clientLog, after),
      evaluate: async (records, { forks }) => {
        const finalState = await readFinalState(installation, clientLog, records);
        const found = judge({ ...actors, harness: installation, clientLog, finalState, forks });
        return {
          breaks: [...noticed, ...found],
          paid: clientLog.counts().paid,
          lines: ownReportLines(clientLog),
        };
      },
    };
  },
});
