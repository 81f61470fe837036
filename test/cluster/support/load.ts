import { environmentKeys } from '../../../deploy/local/stack/keys.ts';
import { type Access, openAccess } from '../../faults/access.ts';
import { type CheckedLoad, startCheckedLoad } from '../../faults/checked-load.ts';
import type { Inbox } from '../../faults/checks/sent-webhooks.ts';
import { type Call, createClientLog } from '../../faults/own/client-log.ts';
import { ownTraffic } from '../../faults/own/traffic.ts';
import { breakLine } from '../../faults/report.ts';
import { createRng } from '../../faults/rng.ts';
import { createTabLog } from '../../faults/tabs/log.ts';
import { tabTraffic } from '../../faults/tabs/traffic.ts';
import { waitUntil } from '../../support/base/wait.ts';
import { countedLines, withoutIds } from '../../support/rules/counted-lines.ts';
import { report } from './figures.ts';
import { type Installation, TRIAL_FOLDER } from './installation.ts';

/** The client's own limits of a call. A cluster of one node shares its cores with its load. */
const TERMINAL_MS = 240_000;
const PAYERS = 6;
const VENDORS = 2;
const BUYERS = 3;
const TRIES = 5;
/** The faults of a test begin when so many payments have been made. */
const FIRST_PAYMENTS = 5;

/** Payments by the clients of the fault campaign (test/faults), through the Services. */
export type ClusterLoad = {
  /** Calls that got no answer, or one with a status of 500 or above. */
  refused: () => Call[];
  /** When calls to settle were answered with 200, in milliseconds since the epoch. */
  paidAt: () => number[];
  /** How many calls got each answer so far: `settle 200`, `quote service_unavailable`. */
  outcomes: () => [outcome: string, calls: number][];
  /** Rows of a query over the tables of the installation. */
  query: Access['query'];
  /** How many attempts began, and how many of them are paid. */
  counts: () => { attempts: number; paid: number };
  /**
   * Ends the load, lets every client repeat its open calls, and compares their answers with chain
   * and records. Returns what is wrong, one line for each.
   */
  conclude: () => Promise<string[]>;
  /** Ends everything that was started. Has no effect on what `conclude` has ended. */
  close: () => Promise<void>;
};

/** Refused calls as lines of text, those counted that differ only in their ids. */
export const refusedLines = (calls: readonly Call[]): string[] =>
  countedLines(
    calls.map(({ what, status, body }) =>
      withoutIds(`${what}: ${status ?? 'no answer'} ${JSON.stringify(body)}`),
    ),
  );

/** Repeats the sign-ups, one of which an installation refuses that has just been rolled out. */
const untilStarted = async (start: () => Promise<CheckedLoad>): Promise<CheckedLoad> => {
  for (let tries = 1; ; tries += 1) {
    try {
      return await start();
    } catch (error) {
      if (tries === TRIES) throw error;
      report(`the sign-ups are repeated: ${(error as Error).message}`);
    }
  }
};

/**
 * Starts payments at an installation, and resolves when the first ones have been made.
 * @param options `perSecond`: payments that begin per second. `tabs`: tabs that begin per second.
 *   `inbox`: where the vendors receive webhooks
 */
export const beginLoad = async (
  { stack }: Pick<Installation, 'stack'>,
  {
    perSecond = 4,
    tabs = 0,
    seed = 19,
    inbox,
  }: { perSecond?: number; tabs?: number; seed?: number; inbox?: () => Promise<Inbox> } = {},
): Promise<ClusterLoad> => {
  const keys = environmentKeys(TRIAL_FOLDER, 'test');
  const access = await openAccess(stack, [
    keys.feePayer.address,
    ...keys.delegateAuthorities.map(({ address }) => address),
  ]);
  const clientLog = createClientLog();
  const tabLog = createTabLog();
  let load: CheckedLoad | undefined;
  const close = async (): Promise<void> => {
    await load?.stop();
    await access.close();
  };
  try {
    const started = await untilStarted(() =>
      startCheckedLoad(access, {
        // Its console has another origin, so the passkeys of owners do not sign there.
        traffic: [
          ownTraffic({ perSecond, payers: PAYERS, vendors: VENDORS, owners: 0, clientLog }),
          ...(tabs > 0
            ? [tabTraffic({ perSecond: tabs, buyers: BUYERS, cheaters: 1, newcomers: 1, log: tabLog })]
            : []),
        ],
        rng: createRng(seed),
        inbox,
        terminalMs: TERMINAL_MS,
        say: report,
      }),
    );
    load = started;
    await waitUntil(() => clientLog.counts().paid >= FIRST_PAYMENTS, { withinMs: 300_000 });
    return {
      refused: () =>
        [...clientLog.calls].filter(({ at, status }) => at !== null && !(status !== null && status < 500)),
      paidAt: () =>
        clientLog.attempts.flatMap(({ answers }) =>
          answers.filter(({ how, status }) => how === 'settle' && status === 200).map(({ at }) => at),
        ),
      outcomes: () => [...clientLog.outcomes, ...tabLog.answers],
      query: access.query,
      counts: clientLog.counts,
      conclude: async () => (await started.conclude()).breaks.map(breakLine),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
};
