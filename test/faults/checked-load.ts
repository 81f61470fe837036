import type { Access } from './access.ts';
import type { Break, TrafficName } from './break.ts';
import { readFinalRecords, recordBreaks } from './checks/final-records.ts';
import { type Inbox, startWebhookReceiver, type WebhookReceiver } from './checks/sent-webhooks.ts';
import { startMonitor } from './monitor.ts';
import { endOfWork, TERMINAL_MS, type Terminal, timesAfter } from './recovery.ts';
import type { Rng } from './rng.ts';
import type { Clients, Disturbances, Traffic } from './traffic.ts';

/** What became of the payments of one kind. */
export type Outcome = { name: TrafficName; attempts: number; paid: number; lines: string[] };

/** What the clients of a run found out, and which invariants do not hold. */
type Conclusion = { breaks: Break[]; terminal: Terminal; outcomes: Outcome[] };

/** Clients that pay all the time, and the comparison of their answers with chain and records. */
export type CheckedLoad = {
  /** The clients of each kind of traffic, in the order of the options. */
  kinds: { name: TrafficName; clients: Clients }[];
  /** The transactions of delivered payments of all kinds, in the order of their delivery. */
  redeemed: readonly string[];
  /**
   * Ends the load, waits until everything is terminal, and checks all invariants.
   * @param disturbances what has happened, read when the load has ended
   */
  conclude: (disturbances?: () => Disturbances) => Promise<Conclusion>;
  /** Ends the load without a check. Has no effect after `conclude`. */
  stop: () => Promise<void>;
};

/**
 * Signs the clients of each kind of traffic up at a running installation and starts their payments.
 * @param options `abandoned`: the share of the open payments that nobody asks about in the end, for
 *   kinds that have it. `terminalMs`: how soon after the load everything must be terminal.
 *   `inbox`: where the vendors receive webhooks; none: the installation can reach nothing here
 */
export const startCheckedLoad = async <Installation extends Access>(
  installation: Installation,
  options: {
    traffic: readonly Traffic<Installation>[];
    rng: Rng;
    abandoned?: number | undefined;
    terminalMs?: number | undefined;
    inbox?: (() => Promise<Inbox>) | undefined;
    say: (line: string) => void;
  },
): Promise<CheckedLoad> => {
  const { traffic, rng, abandoned = 0.3, terminalMs = TERMINAL_MS, inbox, say } = options;
  const redeemed: string[] = [];
  const kinds: CheckedLoad['kinds'] = [];
  let webhooks: WebhookReceiver | undefined;
  const stopClients = () => Promise.all([webhooks?.stop(), ...kinds.map(({ clients }) => clients.stop?.())]);
  try {
    for (const { name, begin } of traffic) kinds.push({ name, clients: await begin(installation, redeemed) });
    if (inbox) webhooks = await startWebhookReceiver(installation, inbox);
  } catch (error) {
    await stopClients();
    throw error;
  }
  const monitor = startMonitor(installation);
  const loads = kinds.map(({ clients }, at) => clients.start(rng.fork(-1 - at)));
  const stopLoads = () => Promise.all(loads.map((load) => load.stop()));

  const conclude: CheckedLoad['conclude'] = async (disturbances = () => ({ forks: 0, deaths: [] })) => {
    const healedAt = Date.now();
    say('the load ends');
    await stopLoads();
    say('recovery phase: no more faults and no new payments');
    const deadline = healedAt + terminalMs;
    await Promise.all(kinds.map(({ clients }) => clients.recover(deadline, () => rng.chance(abandoned))));
    say('the clients have asked for the outcome of their payments');
    const endedAt = await endOfWork(installation, deadline);
    say(endedAt === null ? 'some work has not ended' : 'all work has ended');
    const times = await timesAfter(installation, healedAt);
    for (const { clients } of kinds) await clients.repeat?.();
    const seen = await monitor.stop();
    say(`the monitor checked ${seen.rounds} times; checking the invariants`);

    const records = await readFinalRecords(installation, webhooks);
    const breaks: Break[] = [...seen.breaks, ...recordBreaks(records)];
    if (endedAt === null)
      breaks.push({ traffic: null, invariant: 'everything-ends', what: `not within ${terminalMs / 1000} s` });
    const outcomes: Outcome[] = [];
    for (const { name, clients } of kinds) {
      const { breaks: own, lines, paid } = await clients.evaluate(records, disturbances());
      breaks.push(...own.map((one) => ({ ...one, traffic: name })));
      // A run in which no payment succeeded proves nothing.
      if (paid === 0)
        breaks.push({ traffic: name, invariant: 'somebody-paid', what: 'no payment succeeded' });
      outcomes.push({ name, attempts: clients.counts().begun, paid, lines });
    }
    const allMs = endedAt === null ? null : endedAt - healedAt;
    return { breaks, outcomes, terminal: { ...times, allMs } };
  };
  const stop = async (): Promise<void> => {
    await Promise.all([stopLoads(), monitor.stop(), stopClients()]);
  };
  return { kinds, redeemed, conclude, stop };
};
