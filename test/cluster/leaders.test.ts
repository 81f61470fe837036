import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { waitUntil } from '../support/base/wait.ts';
import { recordFigures, report } from './support/figures.ts';
import { type Installation, runningInstallation } from './support/installation.ts';
import { beginLoad, refusedLines } from './support/load.ts';
import { type NodeSignals, openNodeSignals } from './support/node-signals.ts';
import {
  failOverTo,
  hasStandby,
  installThree,
  leadersOfBus,
  losePod,
  psql,
  removeThree,
} from './support/three.ts';
import { waitForTrial } from './support/trial.ts';

/**
 * Proves that no payment is lost and none is made twice when a leader is lost during payments: the
 * NATS server that leads the meta group or a stream, the standby of Postgres, and its primary with
 * its volume, after which the standby is promoted as an operator does. The ledger of the fault
 * campaign decides. The time without service is measured from the clients' log and not asserted.
 */
let installation: Installation;
let signals: NodeSignals;
const own = () => installation.kubectl;

beforeAll(async () => {
  installation = await runningInstallation();
  signals = await openNodeSignals(own());
  report('three NATS servers and a synchronous standby');
  await installThree(own());
}, 900_000);
afterAll(async () => {
  await signals?.close();
  if (installation) await removeThree(own());
  await installation?.close();
}, 900_000);

/** Payments that must succeed after the loss, so that the service is proven to be back. */
const PAYMENTS_AFTERWARDS = 15;
const BACK_WITHIN_MS = 240_000;

const longestGap = (times: readonly number[]): number =>
  Math.max(0, ...times.slice(1).map((time, index) => time - times[index]!));

/** Seconds without service, from the times at which payments were answered and calls failed. */
const figuresOf = (paidAt: readonly number[], failedAt: readonly number[], lostAt: number) => {
  const seconds = (ms: number | undefined) => (ms === undefined ? null : Math.round(ms / 100) / 10);
  const times = [...paidAt].sort((a, b) => a - b);
  const before = times.findLastIndex((at) => at <= lostAt);
  const firstFailed = failedAt.filter((at) => at >= lostAt).sort((a, b) => a - b)[0];
  const again = times.find((at) => at > (firstFailed ?? Number.POSITIVE_INFINITY));
  return {
    longest_gap_seconds: seconds(longestGap(times.slice(Math.max(0, before)))),
    longest_gap_before_seconds: seconds(longestGap(times.slice(0, before + 1))),
    first_failed_to_first_paid_seconds:
      firstFailed === undefined || again === undefined ? null : seconds(again - firstFailed),
  };
};

/** Loses a server during payments. `lose` ends when the operator's work is done. */
const underLoad = async (name: string, lose: () => Promise<void>): Promise<void> => {
  const load = await beginLoad(installation);
  try {
    const lostAt = Date.now();
    await lose();
    const begun = load.counts().paid;
    await waitUntil(() => load.counts().paid >= begun + PAYMENTS_AFTERWARDS, {
      withinMs: BACK_WITHIN_MS,
    });
    await waitForTrial(own(), report);
    const wrong = await load.conclude();
    const refused = load.refused();
    for (const line of refusedLines(refused)) report(line);
    recordFigures(`lost: ${name}`, {
      ...figuresOf(
        load.paidAt(),
        refused.map(({ at }) => at!),
        lostAt,
      ),
      ...load.counts(),
      refused: refused.length,
    });
    expect(wrong).toEqual([]);
  } finally {
    await load.close();
  }
};

// The second loss leaves the primary where it was before the tests.
test.each([
  ['postgres-0', 'postgres-1'],
  ['postgres-1', 'postgres-0'],
])(
  'the primary %s is lost with its volume, and %s is promoted: nothing is lost or paid twice',
  async (primary, standby) => {
    await hasStandby(own(), primary);
    await underLoad(`primary ${primary} of Postgres with its volume`, async () => {
      await losePod(own(), signals, primary, { volume: true });
      await failOverTo(own(), standby);
      await hasStandby(own(), standby);
    });
  },
  600_000,
);

test('the standby of Postgres is lost: writes wait until the next one has the data', async () => {
  await underLoad('standby of Postgres with its volume', async () => {
    await losePod(own(), signals, 'postgres-1', { volume: true });
    // A commit without a second copy is not answered.
    await waitUntil(
      async () =>
        Number(
          await psql(
            own(),
            'postgres-0',
            "select count(*) from pg_stat_activity where wait_event = 'SyncRep'",
          ),
        ) > 0,
      { withinMs: 60_000, everyMs: 200 },
    );
    await hasStandby(own(), 'postgres-0');
  });
}, 600_000);

const SERVER = expect.stringMatching(/^nats-[012]$/);

test.each(['meta', 'EVENTS'])(
  'the NATS server that leads %s is lost: nothing is lost or paid twice',
  async (group) => {
    const leader = (await leadersOfBus(own()))[group]!;
    expect(leader).toEqual(SERVER);
    await underLoad(`leader of ${group}`, () => losePod(own(), signals, leader, { volume: false }));
    expect(await leadersOfBus(own())).toMatchObject({ meta: SERVER, JOBS: SERVER, EVENTS: SERVER });
  },
  600_000,
);

test('a NATS server that leads is lost with its volume: the next one gets its data from the others', async () => {
  const leader = (await leadersOfBus(own())).JOBS!;
  await underLoad('leader of JOBS with its volume', () => losePod(own(), signals, leader, { volume: true }));
}, 600_000);
