import { ServiceError } from '../../shared/contract/errors.ts';
import type { Harness, Process } from './harness.ts';

const CALL_TIMEOUT_MS = 20_000;

/** No answer arrived. */
export class Unanswered extends ServiceError {
  constructor(why: string) {
    super('service_unavailable', why);
  }
}

/** The calls of a program to a service, which any of its replicas handles. */
export const createCaller = <R extends { process: Process }>(
  harness: Harness,
  process: Process,
  replicas: () => readonly R[],
) => {
  const { random } = harness;
  const underWay = new Map<Promise<unknown>, Process>();
  return {
    /** Answers of a replica that dies, pauses or is disconnected never arrive. */
    call: async <T>(run: (replica: R) => Promise<T>, timeoutMs = CALL_TIMEOUT_MS): Promise<T> => {
      const able = replicas().filter((one) => one.process.alive);
      if (able.length === 0) throw new Unanswered('no process serves');
      const replica = random.pick(able);
      const timeout = harness.sleep(process, timeoutMs).then(() => {
        throw new Unanswered('no answer in time');
      });
      const work = run(replica).finally(() => underWay.delete(work));
      underWay.set(work, replica.process);
      const answer = await Promise.race([work, timeout]);
      if (random.chance(harness.faults.lostAnswer)) throw new Unanswered('answer lost');
      return answer;
    },
    /** Whether no running replica handles a call, whether or not its answer arrives. */
    isIdle: () => [...underWay.values()].every(({ alive }) => !alive),
  };
};
