import { laneOf } from '../../shared/lib/lane.ts';
import type { CellProcess } from './cells-processes.ts';
import { ABANDONED_MS, type Call } from './cells-tables.ts';
import type { Harness, Process } from './harness.ts';

type Ask = <T>(
  from: Process,
  to: number,
  work: (other: CellProcess) => Promise<T>,
  options: { isRepeated: boolean },
) => Promise<T>;

/** A payment that a client wants, the answer that it relies on, and when it asked for that one. */
type Wish = Omit<Call, 'at'> & { answer: string | null; askedAt: number };

/**
 * The payers' programs behind a gateway that has its own idea of where each lane is. They repeat a
 * call until its outcome is known.
 */
export const createCellClients = (harness: Harness, ask: Ask, cells: number) => {
  const { random } = harness;
  const process: Process = { name: 'clients', alive: true, pausedUntil: 0, startedAt: 0, skewMs: 0 };
  const wishes: Wish[] = [];
  const homes = new Map<number, number>();

  const pursue = async (wish: Wish): Promise<void> => {
    const lane = laneOf(wish.account);
    let openUntil = 0;
    for (;;) {
      const home = homes.get(lane) ?? lane % cells;
      const cell = random.chance(0.15) ? random.int(0, cells) : home;
      const at = harness.now();
      const answer = await ask(process, cell, (other) => other.settle({ ...wish, at }), {
        isRepeated: false,
      }).catch(() => null);
      // A call without an answer may still be carried out.
      if (answer === null) openUntil = at + ABANDONED_MS;
      else if (typeof answer === 'object' && 'moved' in answer) {
        if (answer.moved !== null) homes.set(lane, answer.moved);
      } else if (typeof answer === 'object') {
        if (answer.status !== 'pending') {
          Object.assign(wish, { answer: answer.status, askedAt: at });
          return;
        }
      } else if (answer !== 'later' && harness.now() > openUntil) {
        Object.assign(wish, { answer, askedAt: at });
        harness.trace('clients', `${wish.account} ${wish.attempt}: ${answer}`);
        return;
      }
      await harness.sleep(process, random.between(100, 5000));
    }
  };

  return {
    wishes,
    isIdle: () => wishes.every(({ answer }) => answer !== null),
    begin: (wish: Omit<Call, 'at'>): void => {
      const wanted = { ...wish, answer: null, askedAt: 0 };
      wishes.push(wanted);
      void pursue(wanted).catch(harness.fault);
    },
  };
};
export type CellClients = ReturnType<typeof createCellClients>;
