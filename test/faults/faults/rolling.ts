import { setTimeout as sleep } from 'node:timers/promises';
import { type Fault, type Fixture, over } from '../fault.ts';
import { bodyOf, type Call } from '../own/client-log.ts';
import { serviceNames } from './kill.ts';

/** Longer than any answer takes. */
const ANSWERED_MS = 20_000;

/** A client's timeout on a busy machine is not an answer of the restarted process. */
const isClean = ({ status, body }: Call): boolean =>
  (status === null && (body as { lost?: string } | undefined)?.lost === 'TimeoutError') ||
  (status === 503 && bodyOf({ body }).error !== undefined);

/**
 * Checks every call that is made during restarts when it is answered: at worst it gets a 503 that
 * names the safe action.
 */
export const restartsUnseen = async (
  { clientLog, breaks }: Pick<Fixture, 'clientLog' | 'breaks'>,
  restarts: () => Promise<void>,
): Promise<void> => {
  const from = Date.now();
  await restarts();
  const to = Date.now();
  const ours = () => [...clientLog.calls].filter(({ askedAt }) => askedAt >= from && askedAt <= to);
  while (Date.now() < to + ANSWERED_MS && ours().some(({ at }) => at === null)) await sleep(100);
  for (const { what, status, body } of ours().filter((call) => call.at !== null && !isClean(call)))
    breaks.push({
      invariant: 'restarts-are-unseen',
      what: `${what}: ${status} ${JSON.stringify(body)} during a rolling restart`,
    });
};

/**
 * SIGTERM to one process after another, the gateways included, each when its predecessor is ready,
 * under load.
 */
export const rolling = ({ harness, clientLog, breaks }: Fixture): Fault => ({
  name: 'rolling-restart',
  holdMs: [200, 500],
  isAlone: true,
  inject: async (rng) => {
    await harness.healthy();
    await restartsUnseen({ clientLog, breaks }, async () => {
      for (const name of rng.shuffle(serviceNames(harness))) await harness.restart(name);
    });
    return over;
  },
});
