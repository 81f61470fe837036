import { cellOf, setCell } from '../../shared/lib/cell.ts';
import { newId } from '../../shared/lib/id.ts';
import { laneOf } from '../../shared/lib/lane.ts';
import { Broken, type Harness } from './harness.ts';

/** A call that pays a quote. `at`: when it was made. */
export type Call = {
  account: string;
  attempt: string;
  quote: Quote;
  at: number;
};
export type Quote = { quoteId: string; amount: bigint; expiresAt: number };
export type Settlement = Omit<Call, 'at'> & {
  settlementId: string;
  status: 'pending' | 'paid' | 'failed';
  acceptedAt: number;
  /** Whether the claim knows the end. */
  isConcluded: boolean;
};
type Claim = { settlementId: string; account: string; attempt: string; isUsed: boolean; at: number };
/** What an owner of a lane needs to accept payments of its accounts. */
type Pack = {
  spent: [account: string, spent: bigint][];
  attempts: [key: string, attempt: Attempt][];
};
type Attempt = { settlementId: string; quoteId: string };
/** `epoch` grows with each transfer. A lane that is gone keeps what it must deliver. */
type Lane =
  | { state: 'owned'; epoch: number }
  | { state: 'leaving'; epoch: number; to: number }
  | { state: 'gone'; epoch: number; to: number; pack: Pack | null };

/** After this time a caller has been told that its call was not answered. */
export const ABANDONED_MS = 20_000;
export const CAP = 8n;

export const cellNumberOf = (id: string): number => cellOf(id)!;
export const keyOf = ({ account, attempt }: Pick<Call, 'account' | 'attempt'>) => `${account} ${attempt}`;

/** An id that a cell makes. */
export const newIdIn = (cell: number, prefix: 'stl' | 'q'): string => {
  setCell(cell);
  const id = newId(prefix);
  setCell(0);
  return id;
};

/**
 * The tables of one cell, and its statements. Each function is one statement: it is executed
 * completely, or not at all.
 */
export type CellTables = ReturnType<typeof createCellTables>;

export const createCellTables = (harness: Harness, cell: number) => {
  const claims = new Map<string, Claim>();
  const settlements = new Map<string, Settlement>();
  const attempts = new Map<string, Attempt>();
  /** Settlements that this cell will never accept. */
  const never = new Set<string>();
  const spent = new Map<string, bigint>();
  const lanes = new Map<number, Lane>();
  const { now, off } = harness;
  const say = (what: string) => harness.trace(`cell ${cell}`, what);
  const isHere = (id: string) => cellNumberOf(id) === cell;
  const laneOfAccount = (account: string) => lanes.get(laneOf(account));

  const isOpenIn = (lane: number) =>
    [...settlements.values()].some(({ account, status }) => status === 'pending' && laneOf(account) === lane);

  /**
   * The claim of a quote. A repeat of the attempt gets the settlement that claims it already, if
   * that is of the same cell: no other cell may accept it.
   */
  const claim = (call: Call, settlementId: string): { settlementId: string } | 'taken' | 'later' => {
    const { account, attempt, quote } = call;
    const found = off === 'cells: one claim of a quote' ? undefined : claims.get(quote.quoteId);
    if (found === undefined) {
      if (quote.expiresAt <= now()) return 'taken';
      claims.set(quote.quoteId, { settlementId, account, attempt, isUsed: false, at: now() });
      say(`${settlementId} claims ${quote.quoteId}`);
      return { settlementId };
    }
    if (keyOf(found) !== keyOf(call)) return 'taken';
    return cellOf(found.settlementId) === cellOf(settlementId)
      ? { settlementId: found.settlementId }
      : 'later';
  };

  /** What the home has decided about a settlement becomes true for its claim. */
  const conclude = (quoteId: string, settlementId: string, end: 'paid' | 'failed' | 'never'): void => {
    const found = claims.get(quoteId);
    if (found?.settlementId !== settlementId) return;
    if (end === 'paid') found.isUsed = true;
    else claims.delete(quoteId);
    say(`the claim of ${quoteId} by ${settlementId} is ${end === 'paid' ? 'used' : 'released'}`);
  };

  /**
   * The end of a settlement, for the sweep of claims. One that does not exist can never be accepted
   * afterwards.
   */
  const close = (settlementId: string): Settlement['status'] | 'never' => {
    const row = settlements.get(settlementId);
    if (row !== undefined) return row.status;
    if (off !== 'cells: closed before its claim is released') never.add(settlementId);
    return 'never';
  };

  const accept = (call: Call, settlementId: string) => {
    const { account, attempt, quote } = call;
    const known = attempts.get(keyOf(call));
    if (known !== undefined) return { known };
    const isGuarded = off !== 'cells: lane in the acceptance';
    if (isGuarded && laneOfAccount(account)?.state !== 'owned') return 'moved';
    if (never.has(settlementId) || settlements.has(settlementId)) return 'later';
    if (now() - call.at > ABANDONED_MS) return 'later';
    if (quote.expiresAt <= now()) return 'expired';
    const sum = (spent.get(account) ?? 0n) + quote.amount;
    if (sum > CAP) return 'limit';
    if (isHere(quote.quoteId)) {
      // In one cell the commit of the acceptance is the claim.
      const claimed = claim(call, settlementId);
      if (typeof claimed === 'string') return claimed;
    }
    spent.set(account, sum);
    attempts.set(keyOf(call), { settlementId, quoteId: quote.quoteId });
    settlements.set(settlementId, {
      ...{ account, attempt, quote, settlementId },
      ...{ status: 'pending', acceptedAt: now(), isConcluded: false },
    });
    say(`accepts ${settlementId} of ${keyOf(call)} for ${quote.quoteId}`);
    return 'accepted';
  };

  const end = (settlementId: string, status: 'paid' | 'failed'): void => {
    const row = settlements.get(settlementId)!;
    if (row.status !== 'pending') return;
    row.status = status;
    if (status === 'failed') spent.set(row.account, (spent.get(row.account) ?? 0n) - row.quote.amount);
    say(`${settlementId} is ${status}`);
    if (!isHere(row.quote.quoteId)) return;
    conclude(row.quote.quoteId, settlementId, status);
    row.isConcluded = true;
  };

  /** Stops the acceptance of payments of a lane, if it is here. */
  const leave = (number: number, to: number): void => {
    const lane = lanes.get(number);
    if (lane?.state !== 'owned' || to === cell) return;
    lanes.set(number, { state: 'leaving', epoch: lane.epoch, to });
    say(`lane ${number} leaves for cell ${to}`);
  };

  /** Gives a lane up once none of its payments is open. */
  const giveUp = (number: number): void => {
    const lane = lanes.get(number);
    if (lane?.state !== 'leaving') return;
    if (off !== 'cells: open payments hold their lane' && isOpenIn(number)) return;
    const isOfLane = ([key]: [string, unknown]) => laneOf(key.split(' ')[0]!) === number;
    const pack: Pack = { spent: [...spent].filter(isOfLane), attempts: [...attempts].filter(isOfLane) };
    for (const [account] of pack.spent) spent.delete(account);
    if (off === 'cells: attempts move with their lane') pack.attempts = [];
    lanes.set(number, { state: 'gone', epoch: lane.epoch + 1, to: lane.to, pack });
    say(`lane ${number} is given up, epoch ${lane.epoch + 1}`);
  };

  /** Takes a lane over. A repeat, also of an earlier transfer, changes nothing. */
  const take = (number: number, epoch: number, pack: Pack): void => {
    const had = lanes.get(number)?.epoch ?? 0;
    if (off === 'cells: epoch of a lane' ? had === epoch : had >= epoch) return;
    lanes.set(number, { state: 'owned', epoch });
    for (const [account, amount] of pack.spent) spent.set(account, amount);
    for (const [key, attempt] of pack.attempts) attempts.set(key, attempt);
    say(`takes lane ${number}, epoch ${epoch}`);
  };

  const delivered = (number: number, epoch: number): void => {
    const lane = lanes.get(number);
    if (lane?.state === 'gone' && lane.epoch === epoch) lane.pack = null;
  };

  return {
    ...{ cell, claims, settlements, attempts, spent, lanes, never },
    ...{ claim, conclude, close, accept, end, leave, giveUp, take, delivered },
  };
};

/** The chain: it decides each settlement once, and includes each once. */
export const createCellChain = (harness: Harness) => {
  const outcomes = new Map<string, 'paid' | 'failed'>();
  const paidQuotes = new Map<string, string>();
  const paidAttempts = new Map<string, string>();
  const once = (paid: Map<string, string>, key: string, settlementId: string, invariant: string) => {
    const other = paid.get(key);
    if (other !== undefined) throw new Broken(invariant, `${key}: ${other} and ${settlementId}`);
    paid.set(key, settlementId);
  };
  return {
    outcomes,
    paidQuotes,
    paidAttempts,
    /** Pays a settlement, or proves that it can never be paid. A repeat gets the same outcome. */
    pay: (row: Settlement): 'paid' | 'failed' => {
      const known = outcomes.get(row.settlementId);
      if (known !== undefined) return known;
      const outcome = harness.random.chance(0.7) ? 'paid' : 'failed';
      outcomes.set(row.settlementId, outcome);
      harness.trace('chain', `${row.settlementId} of ${row.quote.quoteId}: ${outcome}`);
      if (outcome === 'failed') return outcome;
      once(paidQuotes, row.quote.quoteId, row.settlementId, 'a quote is paid once, in all cells');
      once(paidAttempts, keyOf(row), row.settlementId, 'an attempt pays once, in all cells');
      return outcome;
    },
  };
};
export type CellChain = ReturnType<typeof createCellChain>;
