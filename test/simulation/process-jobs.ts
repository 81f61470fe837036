import { ServiceError } from '../../shared/contract/errors.ts';
import type { Logger } from '../../shared/lib/telemetry/logger.ts';
import { type Harness, isMistake, type Process } from './harness.ts';

const CALL_MS = 10;
const GIVES_UP_MS = 5000;

const quiet = () => {};
export const loggerOf = (harness: Harness, process: Process): Logger => {
  const say = (fields: unknown, text?: string) => {
    const { err } = (fields ?? {}) as { err?: Error };
    if (isMistake(err)) harness.fault(err);
    harness.trace(process.name, `${text ?? String(fields)}${err === undefined ? '' : `: ${err.message}`}`);
  };
  return { trace: quiet, debug: quiet, info: say, warn: say, error: say, fatal: say } as unknown as Logger;
};

/** A periodic job of a service: one round after another. Errors are left to the next round. */
export const every = (harness: Harness, process: Process, ms: number, round: () => Promise<unknown>): void =>
  harness.inside(process, ms, () => {
    void round()
      .catch((error: unknown) => {
        if (isMistake(error)) harness.fault(error);
      })
      .then(() => every(harness, process, ms, round));
  });

/**
 * A call to another service. Any of its processes handles it, and may die, pause or be disconnected
 * at any moment.
 */
export const callTo =
  <R extends { process: Process }>(harness: Harness, caller: Process, replicas: () => readonly R[]) =>
  async <T>(ask: (replica: R) => Promise<T>): Promise<T> => {
    const away = new ServiceError('service_unavailable', 'no process answers');
    const able = replicas().filter((one) => one.process.alive);
    if (able.length === 0) throw away;
    const gaveUp = harness.sleep(caller, GIVES_UP_MS).then(() => {
      throw away;
    });
    const lost = harness.random.chance(harness.faults.lostAnswer);
    const answer = harness.io(caller, CALL_MS, () =>
      ask(harness.random.pick(able)).catch((error: unknown) => {
        if (isMistake(error)) harness.fault(error);
        throw error;
      }),
    );
    const given = await Promise.race([answer, gaveUp]);
    if (lost) throw away;
    return given;
  };
