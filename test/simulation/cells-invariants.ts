import { laneOf } from '../../shared/lib/lane.ts';
import type { CellClients } from './cells-clients.ts';
import {
  CAP,
  type CellChain,
  type CellTables,
  cellNumberOf,
  keyOf,
  type Settlement,
} from './cells-tables.ts';
import { require } from './harness.ts';

type Judged = { tables: readonly CellTables[]; chain: CellChain; clients: CellClients };

const settlementsOf = (tables: readonly CellTables[]): Settlement[] =>
  tables.flatMap(({ settlements }) => [...settlements.values()]);

const ownersOf = (tables: readonly CellTables[], lane: number): CellTables[] =>
  tables.filter(({ lanes }) => lanes.get(lane)?.state === 'owned');

const sumByAccount = (rows: readonly Settlement[]): Map<string, bigint> => {
  const sums = new Map<string, bigint>();
  for (const { account, quote, status } of rows)
    if (status !== 'failed') sums.set(account, (sums.get(account) ?? 0n) + quote.amount);
  return sums;
};

/** What holds between any two statements of all cells. */
export const checkCells = ({ tables }: Judged): void => {
  const rows = settlementsOf(tables);
  for (const { settlementId, quote, status } of rows) {
    if (status === 'failed') continue;
    const claim = tables[cellNumberOf(quote.quoteId)]!.claims.get(quote.quoteId);
    require(claim?.settlementId === settlementId, 'who pays a quote has its claim', () =>
      `${settlementId} pays ${quote.quoteId}, which ${claim?.settlementId ?? 'nobody'} claims`);
  }
  for (const [account, sum] of sumByAccount(rows))
    require(sum <= CAP, 'an account stays within its limit, in all cells', () =>
      `${account}: ${sum} of ${CAP}`);
  for (let lane = 0; lane < 16; lane++)
    require(ownersOf(tables, lane).length <= 1, 'a lane has one owner in the records', () => `lane ${lane}`);
};

const checkClaims = ({ tables }: Judged): void => {
  for (const { claims } of tables)
    for (const [quoteId, { settlementId, isUsed }] of claims) {
      const row = tables[cellNumberOf(settlementId)]!.settlements.get(settlementId);
      require(isUsed && row?.status === 'paid', 'every claim is used or released', () =>
        `${settlementId} (${row?.status ?? 'no record'}) claims ${quoteId}`);
    }
};

const checkLanes = ({ tables }: Judged): void => {
  const rows = settlementsOf(tables);
  const sums = sumByAccount(rows);
  for (let lane = 0; lane < 16; lane++)
    require(ownersOf(tables, lane).length === 1, 'no lane is lost', () => `lane ${lane}`);
  for (const row of rows) {
    const [owner] = ownersOf(tables, laneOf(row.account));
    require(owner!.attempts.get(keyOf(row))?.settlementId ===
      row.settlementId, 'a lane has its attempts', () => `cell ${owner!.cell} does not know ${keyOf(row)}`);
    const [spent, sum] = [owner!.spent.get(row.account) ?? 0n, sums.get(row.account) ?? 0n];
    require(spent === sum, 'counters are the payments', () => `${row.account}: ${spent} for ${sum}`);
  }
};

/** What holds once the faults are over and everything had time to end. */
export const checkCellsAtEnd = (judged: Judged): void => {
  const { tables, chain, clients } = judged;
  checkCells(judged);
  for (const row of settlementsOf(tables)) {
    const { settlementId, status } = row;
    require(status ===
      (chain.outcomes.get(settlementId) ?? 'missing'), 'records are what the chain has', () =>
      `${settlementId} is ${status}`);
  }
  checkClaims(judged);
  checkLanes(judged);
  const paid = settlementsOf(tables).filter(({ status }) => status === 'paid');
  for (const wish of clients.wishes) {
    const { quote, answer, askedAt } = wish;
    const row = paid.find((one) => keyOf(one) === keyOf(wish) && one.quote === quote);
    require(answer !== null, 'every call gets an answer', () => `${keyOf(wish)} for ${quote.quoteId}`);
    // After a refusal another call of the same attempt may have paid.
    const isTrue = answer === 'paid' ? row !== undefined : row === undefined || row.acceptedAt > askedAt;
    require(isTrue, 'every answer is true', () =>
      `${keyOf(wish)} for ${quote.quoteId} was answered ${answer}`);
  }
};
