import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { BusUser } from '../contract/service.ts';
import { isoTime } from '../lib/clock.ts';
import { build } from '../lib/telemetry/version.ts';
import type { Bus } from './connect.ts';
import { replyInbox } from './topology.ts';

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
/** All processes answer at once, and an operator waits for the slowest. */
const ANSWER_WITHIN_MS = 1_000;

const subjectOf = (operator: string, program: BusUser): string => `op.${operator}.${program}.each.build`;

/** Has this process answer operators who ask which builds run. Each replica answers. */
export const answerBuilds = (bus: Bus): void => {
  const { user, replicaId } = bus;
  const about: Process = { program: user, replica_id: replicaId, ...build, started_at: STARTED_AT };
  bus.nc.subscribe(subjectOf('*', user), {
    callback: (error, msg) => {
      if (error !== null) return bus.logger.error({ err: error }, 'subscription failed');
      const operator = msg.subject.split('.')[1]!;
      if (msg.reply?.startsWith(`${replyInbox('operator', user, operator)}.`))
        msg.respond(JSON.stringify(about));
    },
  });
};

/**
 * Asks every process of some programs for its build.
 * @param bus of an operator
 * @returns those that have answered within a second, by program and start
 */
export const askBuilds = async (bus: Bus, programs: readonly BusUser[]): Promise<Process[]> => {
  const operator = bus.operator!;
  const found: Process[] = [];
  const subscriptions = programs.map((program) => {
    const inbox = `${replyInbox('operator', program, operator)}.${randomUUID()}`;
    const subscription = bus.nc.subscribe(inbox, {
      callback: (_error, msg) => {
        const parsed = msg?.data.length > 0 ? Process.safeParse(msg.json()) : undefined;
        if (parsed?.success) found.push(parsed.data);
      },
    });
    bus.nc.publish(subjectOf(operator, program), undefined, { reply: inbox });
    return subscription;
  });
  await sleep(ANSWER_WITHIN_MS);
  for (const subscription of subscriptions) subscription.unsubscribe();
  return found.toSorted(
    (a, b) =>
      programs.indexOf(a.program as BusUser) - programs.indexOf(b.program as BusUser) ||
      a.started_at.localeCompare(b.started_at),
  );
};
