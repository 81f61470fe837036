import { LANES, laneOf } from '../../shared/lib/lane.ts';
import { createCellClients } from './cells-clients.ts';
import { checkCells, checkCellsAtEnd } from './cells-invariants.ts';
import { type CellProcess, createCellProcesses } from './cells-processes.ts';
import { createCellChain, createCellTables, newIdIn, type Quote } from './cells-tables.ts';
import { Broken, createHarness, type Process, type Rule } from './harness.ts';
import { type Outcome, QUIET } from './simulate.ts';

const FAULTS_MS = 90_000;
const HEAL_MS = 300_000;
/** Of each account the lane is another one. */
const ACCOUNTS = ['acct_ada', 'acct_ben', 'acct_cleo', 'acct_dora', 'acct_emil'];
const PROCESSES = 2;

/**
 * One run of several cells: payers and vendors are spread over them, quotes of one cell are paid
 * from another, and lanes move between cells while messages are lost and processes die. Everything
 * that happens follows from the seed.
 */
export const simulateCells = async (
  seed: number,
  { off = null, traced = false, cells }: { off?: Rule | null; traced?: boolean; cells: number },
): Promise<Outcome> => {
  const faults = { ...QUIET };
  const harness = createHarness(seed, { off, faults });
  const { random } = harness;
  const mild = (most: number) => (random.chance(0.7) ? random.between(0, most) : 0);
  Object.assign(faults, { loss: mild(0.4), repeat: mild(0.5), slow: mild(0.6) });
  Object.assign(faults, { crash: mild(0.03), sleep: mild(0.03), lostAnswer: mild(0.05) });

  const chain = createCellChain(harness);
  const tables = Array.from({ length: cells }, (_, cell) => createCellTables(harness, cell));
  const replicas: CellProcess[][] = tables.map(() => []);
  const { ask, start } = createCellProcesses(harness, chain, (cell) => replicas[cell]!);
  const clients = createCellClients(harness, ask, cells);
  for (let lane = 0; lane < LANES; lane++)
    tables[lane % cells]!.lanes.set(lane, { state: 'owned', epoch: 1 });

  let born = 0;
  const startIn = (cell: number): void => {
    const name = `cell${cell}-${++born}`;
    const process: Process = { name, alive: true, pausedUntil: 0, startedAt: harness.now(), skewMs: 0 };
    replicas[cell]!.push(start(process, tables[cell]!));
  };
  harness.onCrash(({ name }) => {
    const cell = Number(/^cell(\d+)/.exec(name)![1]);
    harness.schedule(random.between(300, 4000), () => startIn(cell));
  });
  for (let cell = 0; cell < cells; cell++) for (let one = 0; one < PROCESSES; one++) startIn(cell);

  const quotes: Quote[] = [];
  const makeQuote = (): Quote => {
    const quoteId = newIdIn(random.int(0, cells), 'q');
    harness.call(quoteId, `q${quotes.length}`);
    const quote = {
      quoteId,
      amount: BigInt(random.int(1, 4)),
      expiresAt: harness.now() + random.between(10_000, 70_000),
    };
    quotes.push(quote);
    return quote;
  };
  for (let number = 0; number < 8; number++)
    harness.schedule(random.between(0, FAULTS_MS / 2), () => {
      const quote = makeQuote();
      const rivals = random.chance(0.5) ? random.int(2, 4) : 1;
      for (let rival = 0; rival < rivals; rival++) {
        const account = random.pick(ACCOUNTS);
        const wish = { account, attempt: `a${number}.${rival}`, quote };
        // An impatient client calls twice, and a wrong one uses an attempt for two quotes.
        const calls = [wish, ...(random.chance(0.4) ? [wish] : [])];
        if (random.chance(0.2)) calls.push({ ...wish, quote: makeQuote() });
        for (const call of calls)
          harness.schedule(random.chance(0.5) ? random.between(0, 20) : random.between(0, 15_000), () =>
            clients.begin(call),
          );
      }
    });
  for (let moves = random.int(2, 12); moves > 0; moves--)
    harness.schedule(random.between(1000, FAULTS_MS), () => {
      const [lane, to] = [laneOf(random.pick(ACCOUNTS)), random.int(0, cells)];
      for (const cell of tables) cell.leave(lane, to);
    });

  const judged = { tables, chain, clients };
  let broken: Outcome['broken'] = null;
  try {
    const check = () => checkCells(judged);
    await harness.run(FAULTS_MS, check);
    Object.assign(faults, QUIET);
    harness.trace('harness', 'faults are over');
    await harness.run(
      FAULTS_MS + HEAL_MS,
      check,
      () => clients.isIdle() && harness.now() > FAULTS_MS + 150_000,
    );
    checkCellsAtEnd(judged);
  } catch (error) {
    const invariant = error instanceof Broken ? error.invariant : 'the code runs';
    broken = { invariant, message: error instanceof Broken ? error.message : String((error as Error).stack) };
    harness.trace('harness', `BROKEN ${broken.message}`);
  }
  return {
    ...{ seed, broken, refunds: 0, statements: 0, virtualMs: harness.now() },
    refusals: clients.wishes.filter(({ answer }) => answer !== 'paid').length,
    payments: tables.reduce((sum, { settlements }) => sum + settlements.size, 0),
    trace: broken === null && !traced ? [] : harness.readable(),
  };
};
