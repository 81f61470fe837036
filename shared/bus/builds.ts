import { z } from 'zod';
import type { BusUser } from '../contract/service.ts';
import { isoTime } from '../lib/clock.ts';
import { build } from '../lib/telemetry/version.ts';
import type { Bus } from './connect.ts';
import { answerEach, askEach } from './each.ts';

/** What a process says of itself. Another version may say more. */
const Process = z.object({
  program: z.string(),
  replica_id: z.string(),
  version: z.string(),
  commit: z.string(),
  started_at: z.iso.datetime(),
});
export type Process = z.infer<typeof Process>;

const STARTED_AT = isoTime(performance.timeOrigin);

/** Has this process answer operators who ask which builds run. */
export const answerBuilds = (bus: Bus): void => {
  const about: Process = {
    program: bus.user,
    replica_id: bus.replicaId,
    ...build,
    started_at: STARTED_AT,
  };
  answerEach(bus, 'build', async () => about);
};

/**
 * Asks every process of some programs for its build.
 * @param bus of an operator
 * @returns those that have answered within a second, by program and start
 */
export const askBuilds = async (bus: Bus, programs: readonly BusUser[]): Promise<Process[]> => {
  const answers = await askEach(bus, programs, 'build');
  const found = answers.flatMap((answer) => Process.safeParse(answer).data ?? []);
  return found.toSorted(
    (a, b) =>
      programs.indexOf(a.program as BusUser) - programs.indexOf(b.program as BusUser) ||
      a.started_at.localeCompare(b.started_at),
  );
};
