import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BusUser } from '../contract/service.ts';
import type { Bus } from './connect.ts';
import { replyInbox } from './topology.ts';

/** Questions of operators that every process of a program answers for itself. */

/** All processes answer at once, and an operator waits for the slowest. */
const ANSWER_WITHIN_MS = 1_000;

const subjectOf = (operator: string, program: BusUser, question: string): string =>
  `op.${operator}.${program}.each.${question}`;

/** Has this process answer operators who ask a question. Each replica answers. */
export const answerEach = (bus: Bus, question: string, answer: () => Promise<object>): void => {
  const { user } = bus;
  bus.nc.subscribe(subjectOf('*', user, question), {
    callback: (error, msg) => {
      if (error !== null) return bus.logger.error({ err: error }, 'subscription failed');
      const operator = msg.subject.split('.')[1]!;
      if (!msg.reply?.startsWith(`${replyInbox('operator', user, operator)}.`)) return;
      answer().then(
        (about) => msg.respond(JSON.stringify(about)),
        (cause: unknown) => bus.logger.error({ err: cause }, `no answer to ${question}`),
      );
    },
  });
};

/**
 * Asks every process of some programs.
 * @param bus of an operator
 * @returns the answers of those that have answered in time
 */
export const askEach = async (
  bus: Bus,
  programs: readonly BusUser[],
  question: string,
  withinMs = ANSWER_WITHIN_MS,
): Promise<unknown[]> => {
  const operator = bus.operator!;
  const found: unknown[] = [];
  const subscriptions = programs.map((program) => {
    const inbox = `${replyInbox('operator', program, operator)}.${randomUUID()}`;
    const subscription = bus.nc.subscribe(inbox, {
      callback: (_error, msg) => {
        // Without data: nobody answers.
        if (msg?.data.length > 0) found.push(msg.json());
      },
    });
    bus.nc.publish(subjectOf(operator, program, question), undefined, { reply: inbox });
    return subscription;
  });
  await sleep(withinMs);
  for (const subscription of subscriptions) subscription.unsubscribe();
  return found;
};
