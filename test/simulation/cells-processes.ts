import { laneOf } from '../../shared/lib/lane.ts';
import {
  type Call,
  type CellChain,
  type CellTables,
  cellNumberOf,
  keyOf,
  newIdIn,
  type Settlement,
} from './cells-tables.ts';
import { type Harness, isMistake, type Process } from './harness.ts';
import { every } from './process-jobs.ts';

const COMMIT_MS = 8;
const ANSWER_MS = 5000;
const SWEEP_MS = 2000;
const CLAIM_RESTS_MS = 15_000;
const BELIEF_MS = 7000;

/** A cell, a process or a database does not answer. */
class Away extends Error {
  override name = 'Away';
}

/** What a caller of a cell gets. `moved` names the cell that has the payer's lane, if known. */
type Answer =
  | { status: Settlement['status']; settlementId: string }
  | { moved: number | null }
  | 'later'
  | 'conflict'
  | 'taken'
  | 'expired'
  | 'limit';

type Statement<Name extends 'claim' | 'conclude' | 'close' | 'take'> = (
  ...of: Parameters<CellTables[Name]>
) => Promise<ReturnType<CellTables[Name]>>;

/** What a process answers to clients and to other cells. */
export type CellProcess = {
  process: Process;
  settle: (call: Call) => Promise<Answer>;
  statusOf: (settlementId: string) => Promise<Settlement['status']>;
  claim: Statement<'claim'>;
  conclude: Statement<'conclude'>;
  close: Statement<'close'>;
  take: Statement<'take'>;
};

/**
 * The processes of cells: settlement as docs/design/settle.md, The claim of a quote, describes it
 * for several cells. This is a model of a design, and not the product's code.
 */
export const createCellProcesses = (
  harness: Harness,
  chain: CellChain,
  replicasOf: (cell: number) => readonly CellProcess[],
) => {
  const { random, faults } = harness;

  const commit = async <T>(process: Process, statement: () => T): Promise<T> => {
    const value = await harness.io(process, COMMIT_MS, statement);
    if (random.chance(faults.lostAnswer)) throw new Away('the answer of the database was lost');
    return value;
  };

  /** A call to another cell. It may be lost, repeated, or carried out after its caller gave up. */
  const ask = <T>(
    from: Process,
    to: number,
    work: (other: CellProcess) => Promise<T>,
    { isRepeated = random.chance(faults.repeat) } = {},
  ): Promise<T> =>
    new Promise((resolve, reject) => {
      harness.inside(from, ANSWER_MS, () => reject(new Away(`cell ${to} does not answer`)));
      const arrive = () => {
        const able = replicasOf(to).filter(({ process }) => process.alive);
        if (able.length === 0) return;
        work(random.pick(able)).then(
          (value) => {
            if (!random.chance(faults.loss))
              harness.inside(from, random.between(2, 40), () => resolve(value));
          },
          (error: unknown) => {
            if (isMistake(error)) harness.fault(error);
            harness.inside(from, random.between(2, 40), () => reject(error));
          },
        );
      };
      for (let copy = isRepeated ? 0 : 1; copy < 2; copy++) {
        const isLate = copy === 0 || random.chance(faults.slow / 4);
        if (!random.chance(faults.loss))
          harness.schedule(isLate ? random.between(40, 40_000) : random.between(2, 40), arrive);
      }
    });

  const start = (process: Process, tables: CellTables): CellProcess => {
    const { cell } = tables;
    /** Where the process believes lanes to be. It asks its database now and then only. */
    const beliefs = new Map<number, { home: number | null; until: number }>();

    const homeOf = async (lane: number): Promise<number | null> => {
      const known = beliefs.get(lane);
      if (known !== undefined && known.until > harness.now()) return known.home;
      const found = await commit(process, () => tables.lanes.get(lane));
      const home = found === undefined ? null : found.state === 'owned' ? cell : found.to;
      beliefs.set(lane, { home, until: harness.now() + BELIEF_MS });
      return home;
    };

    /** The answer of a repeat, from the cell that has the record. */
    const answerOf = async (settlementId: string): Promise<Answer> => {
      const home = cellNumberOf(settlementId);
      const read = (other: CellProcess) => other.statusOf(settlementId);
      const status = home === cell ? await statusOf(settlementId) : await ask(process, home, read);
      return { status, settlementId };
    };
    const statusOf = (settlementId: string) =>
      commit(process, () => tables.settlements.get(settlementId)!.status);

    let made = 0;
    /** The claim of the quote, in its cell. In the own cell it commits with the acceptance. */
    const claimFor = async (call: Call) => {
      const settlementId = newIdIn(cell, 'stl');
      made += 1;
      harness.call(settlementId, `s${process.name}.${made}`);
      const home = cellNumberOf(call.quote.quoteId);
      if (home === cell) return { settlementId };
      return ask(process, home, (other) => other.claim(call, settlementId));
    };

    /** Releases a claim at once whose acceptance was refused. The sweep does it otherwise. */
    const release = async ({ quote: { quoteId } }: Call, settlementId: string): Promise<void> => {
      const home = cellNumberOf(quoteId);
      if (home === cell) return;
      const end = await commit(process, () => tables.close(settlementId));
      if (end !== 'never') return;
      await ask(process, home, (other) => other.conclude(quoteId, settlementId, end));
    };

    const settle = async (call: Call): Promise<Answer> => {
      const { quoteId } = call.quote;
      const repeat = (known: { settlementId: string; quoteId: string }) =>
        known.quoteId === quoteId ? answerOf(known.settlementId) : 'conflict';
      const first = await commit(process, () => tables.attempts.get(keyOf(call)));
      if (first !== undefined) return repeat(first);
      const home = await homeOf(laneOf(call.account));
      if (home !== cell) return { moved: home };
      const claimed = await claimFor(call);
      const { settlementId } = typeof claimed === 'string' ? { settlementId: null } : claimed;
      // Refused by the claim: the attempt is read once more (rule 3).
      const decided =
        settlementId === null
          ? await commit(process, () => {
              const known = tables.attempts.get(keyOf(call));
              return known === undefined ? (claimed as 'taken' | 'later') : { known };
            })
          : await commit(process, () => tables.accept(call, settlementId));
      if (decided === 'accepted') return answerOf(settlementId!);
      const isOwn = typeof decided === 'object' && decided.known.settlementId === settlementId;
      if (settlementId !== null && !isOwn) void release(call, settlementId).catch(() => {});
      if (typeof decided === 'object') return repeat(decided.known);
      return decided === 'moved' ? { moved: null } : decided;
    };

    const pay = async () => {
      const open = await commit(process, () =>
        [...tables.settlements.values()].filter(({ status }) => status === 'pending'),
      );
      for (const row of open) {
        const outcome = await harness.io(process, 400, () => chain.pay(row));
        await commit(process, () => tables.end(row.settlementId, outcome));
      }
    };

    /** Publishes the ends of settlements to the cells of their quotes. */
    const concludeOthers = async () => {
      const open = await commit(process, () =>
        [...tables.settlements.values()].filter(
          ({ status, isConcluded }) => status !== 'pending' && !isConcluded,
        ),
      );
      for (const row of open) {
        const { quoteId } = row.quote;
        const end = row.status as 'paid' | 'failed';
        await ask(process, cellNumberOf(quoteId), (other) => other.conclude(quoteId, row.settlementId, end));
        await commit(process, () => {
          row.isConcluded = true;
        });
      }
    };

    /** Asks the home of each claim that rests what became of it. */
    const sweepClaims = async () => {
      const resting = await commit(process, () =>
        [...tables.claims].filter(([, { isUsed, at }]) => !isUsed && at + CLAIM_RESTS_MS < harness.now()),
      );
      for (const [quoteId, { settlementId }] of resting) {
        const home = cellNumberOf(settlementId);
        if (home === cell) continue;
        const end = await ask(process, home, (other) => other.close(settlementId));
        if (end !== 'pending') await commit(process, () => tables.conclude(quoteId, settlementId, end));
      }
    };

    const moveLanes = async () => {
      const leaving = await commit(process, () => [...tables.lanes]);
      for (const [number, lane] of leaving) {
        if (lane.state === 'leaving') await commit(process, () => tables.giveUp(number));
        if (lane.state !== 'gone' || lane.pack === null) continue;
        const { epoch, to, pack } = lane;
        await ask(process, to, (other) => other.take(number, epoch, pack));
        await commit(process, () => tables.delivered(number, epoch));
      }
    };

    for (const job of [pay, concludeOthers, sweepClaims, moveLanes]) every(harness, process, SWEEP_MS, job);
    return {
      process,
      settle,
      statusOf,
      claim: (...of) => commit(process, () => tables.claim(...of)),
      conclude: (...of) => commit(process, () => tables.conclude(...of)),
      close: (...of) => commit(process, () => tables.close(...of)),
      take: (...of) => commit(process, () => tables.take(...of)),
    };
  };
  return { ask, start };
};
