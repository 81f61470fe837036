import type { Access } from './access.ts';
import { type Actors, type Client, createActors, createClient } from './client.ts';
import { type ClientLog, createClientLog } from './client-log.ts';
import { readFinalState } from './final-state.ts';
import { type Break, judge } from './invariants.ts';
import { startLoad } from './load.ts';
import { startMonitor } from './monitor.ts';
import { recoveryPhase, TERMINAL_MS, type Terminal } from './recovery.ts';
import type { Rng } from './rng.ts';

/** What the clients of a run found out, and which invariants do not hold. */
type Conclusion = { breaks: Break[]; terminal: Terminal };

/** Clients that pay all the time, and the comparison of their answers with chain and records. */
export type CheckedLoad = {
  actors: Actors;
  client: Client;
  clientLog: ClientLog;
  /**
   * Ends the load, waits until everything is terminal, and checks all invariants.
   * @param options `forks`: how often the chain was forked. `healed`: resolves when the
   * installation is healthy again, while the load still runs
   */
  conclude: (options?: { forks?: () => number; healed?: () => Promise<void> }) => Promise<Conclusion>;
  /** Ends the load without a check. Has no effect after `conclude`. */
  stop: () => Promise<void>;
};

/**
 * Signs clients up at a running installation and starts their payments.
 * @param options `perSecond`: payments that begin per second. `terminalMs`: how soon after the load
 *   everything must be terminal
 */
export const startCheckedLoad = async (
  installation: Access,
  options: {
    payers: number;
    vendors: number;
    perSecond: number;
    rng: Rng;
    terminalMs?: number | undefined;
    say: (line: string) => void;
  },
): Promise<CheckedLoad> => {
  const { payers, vendors, perSecond, rng, terminalMs = TERMINAL_MS, say } = options;
  const clientLog = createClientLog();
  const actors = await createActors(installation, { payers, vendors });
  const client = createClient(installation, clientLog);
  const monitor = startMonitor(installation);
  const load = startLoad({ client, actors, clientLog, rng: rng.fork(-1), perSecond });

  const conclude: CheckedLoad['conclude'] = async ({ forks = () => 0, healed = async () => {} } = {}) => {
    await healed();
    const healedAt = Date.now();
    await load.stop();
    say('recovery phase: no more faults and no new payments');
    const terminal = await recoveryPhase(installation, { client, clientLog, rng, healedAt, terminalMs });
    const seen = await monitor.stop();
    say(
      `${terminal.openAttempts} attempts were unanswered; the monitor checked ${seen.rounds} times; checking the invariants`,
    );
    const finalState = await readFinalState(installation, clientLog);
    say(`read ${finalState.transactions.size} transactions and ${finalState.settlements.length} settlements`);
    const breaks = [
      ...seen.breaks,
      ...judge({
        harness: installation,
        clientLog,
        finalState,
        forks: forks(),
        fickle: actors.fickle,
      }),
    ];
    if (terminal.allMs === null)
      breaks.push({ invariant: 'every-attempt-terminal', what: `not within ${terminalMs / 1000} s` });
    // A run in which no payment succeeded proves nothing.
    if (clientLog.counts().paid === 0)
      breaks.push({ invariant: 'somebody-paid', what: 'no payment succeeded' });
    return { breaks, terminal };
  };
  const stop = async (): Promise<void> => {
    await Promise.all([load.stop(), monitor.stop()]);
  };
  return { actors, client, clientLog, conclude, stop };
};
