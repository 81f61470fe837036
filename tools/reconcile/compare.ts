import type { Checkpoint, History, Included } from './chain.ts';
import { advance, type Compared, sumOfRecords } from './checkpoint.ts';
import { OUTGOING_PAYMENT, type Transfer } from './records.ts';

/**
 * `foreign`: not signed by us, which explains the difference. `open`: ours, and its record is not
 * updated yet. The other kinds are errors: `missing` is recorded and not on the chain, `doubled` is
 * a second transaction of one record, `unrecorded` is signed by our keys and in no record,
 * `altered` moved another amount than recorded, and `incomplete` is a history whose sum is not the
 * balance.
 */
type Kind = 'foreign' | 'open' | 'missing' | 'doubled' | 'unrecorded' | 'altered' | 'incomplete';
type Finding = { kind: Kind; amount: bigint; what: string };
export type AccountReport = {
  account: string;
  name: string;
  balance: bigint;
  /** The balance according to the records. */
  recorded: bigint;
  drift: bigint;
  /** The part of the drift that neither foreign nor open transfers explain. */
  unexplained: bigint;
  known: number;
  findings: Finding[];
  /** Until where the account agrees. The next run may go on from it. */
  checkpoint: Checkpoint;
};

type Books = {
  /** The transfers before the chain was walked. The included ones must be found. */
  before: readonly Transfer[];
  /** The transfers after the walk. Every transaction that was found must be among them. */
  after: readonly Transfer[];
  /** Object ids of all signed transactions, read after the walk. */
  signed: ReadonlyMap<string, string>;
  /** Keys whose signature makes a transaction ours. */
  ours: ReadonlySet<string>;
};

/** Kinds that explain a difference. */
const EXPLAINED: readonly Kind[] = ['foreign', 'open'];

const amountIn = (transfer: Transfer, account: string): bigint =>
  transfer.moves.reduce((sum, move) => (move.account === account ? sum + move.amount : sum), 0n);

const nameOf = ({ source, id }: Transfer): string => `${source} ${id}`;

/** Assigns each included transaction to its record, which names one of them. */
const indexOf = ({ after, signed }: Books) => {
  const byId = new Map(after.map((transfer) => [transfer.id, transfer]));
  const bySignature = new Map(
    after.flatMap((transfer) =>
      transfer.signature === null ? [] : [[transfer.signature, transfer] as const],
    ),
  );
  const byReference = new Map(
    after.flatMap((transfer) =>
      transfer.reference === null ? [] : [[transfer.reference, transfer] as const],
    ),
  );
  // The vendor's fee payer completes the transaction of an outgoing payment, so its signature is
  // unknown until it is seen. Its amounts decide.
  const unseen = after.filter(
    ({ source, state, signature }) => source === OUTGOING_PAYMENT && state === 'open' && signature === null,
  );
  const isOf = ({ deltas }: Included, { moves }: Transfer) =>
    moves.every(({ account, amount }) => deltas.get(account) === amount);
  return (included: Included): Transfer | undefined =>
    bySignature.get(included.signature) ??
    byId.get(signed.get(included.signature) ?? '') ??
    included.keys.flatMap((key) => byReference.get(key) ?? [])[0] ??
    unseen.find((transfer) => isOf(included, transfer));
};

const classify = (
  included: Included,
  account: string,
  {
    transferOf,
    counted,
    ours,
  }: { transferOf: ReturnType<typeof indexOf>; counted: Set<string>; ours: ReadonlySet<string> },
): Finding | Transfer => {
  const amount = included.deltas.get(account)!;
  const { signature, signers } = included;
  const isOurs = signers.some((signer) => ours.has(signer));
  const transfer = transferOf(included);
  // A reference is public. A stranger's transfer with our reference is not a payment of ours.
  if (transfer === undefined || (!isOurs && transfer.signature !== signature))
    return isOurs
      ? { kind: 'unrecorded', amount, what: `${signature} is signed by our keys and in no record` }
      : { kind: 'foreign', amount, what: signature };
  // The books after the walk: a capture is recorded before its transaction is signed.
  if (transfer.state !== 'included' && transfer.state !== 'open')
    return {
      kind: 'unrecorded',
      amount,
      what: `${signature} moved the amount, but ${nameOf(transfer)} is recorded as ${transfer.state}`,
    };
  const again = counted.has(transfer.id);
  counted.add(transfer.id);
  if (transfer.state === 'open' && !again)
    return { kind: 'open', amount, what: `${nameOf(transfer)} by ${signature}` };
  if (transfer.signature !== signature || again)
    return {
      kind: 'doubled',
      amount,
      what: `${nameOf(transfer)} by ${signature}, but the record names ${transfer.signature}`,
    };
  const expected = amountIn(transfer, account);
  return expected === amount
    ? transfer
    : {
        kind: 'altered',
        amount: amount - expected,
        what: `${nameOf(transfer)} says ${expected}: ${signature}`,
      };
};

const isFinding = (result: Finding | Transfer): result is Finding => 'kind' in result;

const compared = (account: string, included: Included, result: Finding | Transfer): Compared => {
  const what = { included, amount: included.deltas.get(account)! };
  if (!isFinding(result)) return { ...what, as: 'known', transfer: result };
  return { ...what, as: result.kind === 'foreign' ? 'foreign' : 'other' };
};

/** What was foreign until the checkpoint. It explains its part of the drift, as one finding. */
const foreignBefore = ({ slot, foreign }: Checkpoint): Finding[] =>
  foreign.transfers === 0
    ? []
    : [{ kind: 'foreign', amount: foreign.amount, what: `${foreign.transfers} until slot ${slot}` }];

/** The recorded transfers of an account that its read history does not have. */
const absences = ({ before, after }: Books): ((history: History) => Transfer[]) => {
  const afterById = new Map(after.map((transfer) => [transfer.id, transfer]));
  const includedBy = new Map<string, Transfer[]>();
  for (const transfer of before.filter(({ state }) => state === 'included')) {
    for (const account of new Set(transfer.moves.map((move) => move.account)))
      includedBy.set(account, [...(includedBy.get(account) ?? []), transfer]);
  }
  return ({ account, included }) => {
    const onChain = new Set(included.map(({ signature }) => signature));
    return (includedBy.get(account) ?? []).flatMap((transfer) => {
      // A fork may have replaced its transaction while the chain was walked.
      const now = afterById.get(transfer.id);
      return now?.state !== 'included' || onChain.has(transfer.signature!) || onChain.has(now.signature!)
        ? []
        : [now];
    });
  };
};

/**
 * Compares the histories of accounts with the records, transfer by transfer.
 * @returns `report`: the balance of a history, the recorded balance, and every difference by its
 *   kind. `holds`: whether the records are those that the checkpoint of a history was made of
 */
export const comparing = (
  books: Books,
): { report: (history: History, name: string) => AccountReport; holds: (history: History) => boolean } => {
  const transferOf = indexOf(books);
  const absentFrom = absences(books);

  const missingFrom = (history: History): Finding[] =>
    // What is absent since a checkpoint that holds is what it was made of.
    history.from.signature === ''
      ? absentFrom(history).map((transfer) => {
          const what = `${nameOf(transfer)}: ${transfer.signature} is not on the chain`;
          return { kind: 'missing', amount: -amountIn(transfer, history.account), what };
        })
      : [];

  const holds = (history: History): boolean => {
    const { account, from } = history;
    const records = absentFrom(history)
      .map((transfer) => ({ transfer, amount: amountIn(transfer, account) }))
      .filter(({ amount }) => amount !== 0n);
    return records.length === from.known && sumOfRecords(records) === from.records;
  };

  const report = (history: History, name: string): AccountReport => {
    const { account, balance, included, from } = history;
    const context = { transferOf, counted: new Set<string>(), ours: books.ours };
    // The transaction that the record names comes first, so that the other one counts as the
    // second.
    const named = (each: Included) => (transferOf(each)?.signature === each.signature ? 0 : 1);
    const inOrder = [...included].sort((one, other) => named(one) - named(other));
    const results = new Map(inOrder.map((each) => [each, classify(each, account, context)]));
    const known = [...results.values()].filter((result) => !isFinding(result)).length;
    const missing = missingFrom(history);
    const findings = [...foreignBefore(from), ...[...results.values()].filter(isFinding), ...missing];
    const sum = included.reduce((total, { deltas }) => total + deltas.get(account)!, from.balance);
    const isComplete = sum === balance;
    if (!isComplete) {
      const what = 'the sum of the history is not the balance';
      findings.push({ kind: 'incomplete', amount: balance - sum, what });
    }
    const oldestFirst = included.toReversed().map((each) => compared(account, each, results.get(each)!));
    const total = (list: readonly Finding[]) => list.reduce((all, { amount }) => all + amount, 0n);
    const drift = total(findings);
    return {
      account,
      name,
      balance,
      recorded: balance - drift,
      drift,
      unexplained: drift - total(findings.filter(({ kind }) => EXPLAINED.includes(kind))),
      known: from.known + known,
      findings,
      // With a record that the chain lacks, or a history with a gap, both sides prove nothing.
      checkpoint: isComplete && missing.length === 0 ? advance(from, oldestFirst) : from,
    };
  };

  return { report, holds };
};

/** Whether an account shows an error, even if two differences cancel each other out. */
export const isBroken = ({ findings }: AccountReport): boolean =>
  findings.some(({ kind }) => !EXPLAINED.includes(kind));
