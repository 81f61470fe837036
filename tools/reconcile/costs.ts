import type { Checkpoint, chainAt, Included } from './chain.ts';
import { beginning } from './checkpoint.ts';
import type { Query } from './records.ts';

type Finding = { signature: string; lamports: bigint; what: string };

/** The costs of a fee payer since its checkpoint, by the chain and by the records. */
export type CostReport = {
  feePayer: string;
  balance: bigint;
  /** Fees and rent that the chain took since the checkpoint. */
  paid: bigint;
  /** What the records have of it. */
  recorded: bigint;
  /** Of transactions whose cost is not read yet, or that a release before this record has made. */
  unread: bigint;
  /** What was moved in and out by others, or by an operator. */
  moved: bigint;
  /** The part of the balance that no transaction explains: the node lacks some of the history. */
  unexplained: bigint;
  findings: Finding[];
  checkpoint: Checkpoint;
};

/** Whether chain and records say something else about the costs of a fee payer. */
export const isWrong = ({ findings, unexplained }: CostReport): boolean =>
  findings.length > 0 || unexplained !== 0n;

const COMPARED_AT_ONCE = 1000;
type Recorded = { fee: bigint; rent: bigint } | 'unread';

/** The recorded costs of transactions, by signature. */
const recordedOf = async (query: Query, signatures: readonly string[]): Promise<Map<string, Recorded>> => {
  const found = new Map<string, Recorded>();
  for (let at = 0; at < signatures.length; at += COMPARED_AT_ONCE) {
    // Bound as a value, because a provider of the chain has named them.
    const some = signatures.slice(at, at + COMPARED_AT_ONCE);
    // A payment to a vendor of this deployment has two intents, and the cost is of one of them.
    const rows = await query(
      `select signature, max(fee_lamports)::text as fee, max(rent_lamports)::text as rent
       from chain_submitter.transactions where signature = any($1::text[]) group by signature`,
      [some],
    );
    for (const { signature, fee, rent } of rows as Record<string, string | null>[])
      found.set(signature!, fee == null ? 'unread' : { fee: BigInt(fee), rent: BigInt(rent!) });
  }
  return found;
};

const findingsOf = (feePayer: string, included: Included, recorded: Recorded | undefined): Finding[] => {
  if (recorded === 'unread') return [];
  const { signature, fee } = included;
  const lamports = -included.lamportsOf(feePayer);
  if (recorded === undefined)
    return included.onlyMovesSol ? [] : [{ signature, lamports, what: 'it is in no record' }];
  return recorded.fee === fee && recorded.fee + recorded.rent === lamports
    ? []
    : [{ signature, lamports, what: `the record has ${recorded.fee} and ${recorded.rent} of rent` }];
};

/**
 * The checkpoint after the oldest part of the history that is final and agrees. It ends with a
 * transaction that succeeded, so that it can be found again.
 */
const advance = (
  from: Checkpoint,
  oldestFirst: readonly Included[],
  isAgreed: (included: Included) => boolean,
): Checkpoint => {
  const end = oldestFirst.findIndex((each) => !each.isFinal || !isAgreed(each));
  const agreed = end === -1 ? oldestFirst : oldestFirst.slice(0, end);
  const kept = agreed.slice(0, agreed.findLastIndex(({ hasFailed }) => !hasFailed) + 1);
  const last = kept.at(-1);
  if (last === undefined) return from;
  return {
    ...from,
    signature: last.signature,
    slot: last.slot,
    balance: kept.reduce((sum, { lamportsOf }) => sum + lamportsOf(from.account), from.balance),
    known: from.known + kept.length,
  };
};

/** Slots in which a cost is read that no provider had told at finality. About an hour. */
const READ_WITHIN_SLOTS = 9000;
/** Of its lamports the mint does not matter. */
const NO_KEYS = '00'.repeat(32);

/**
 * Compares what the chain took from a fee payer with the recorded costs, to the lamport.
 * @param kept its checkpoint, if the chain still has it. It is in the database of the records, so
 *   an earlier copy of them has an earlier one
 */
export const compareCosts = async (
  { chain, query }: { chain: ReturnType<typeof chainAt>; query: Query },
  feePayer: string,
  kept: Checkpoint | undefined,
): Promise<CostReport> => {
  const from = kept ?? beginning(feePayer, NO_KEYS);
  const { included, balance, unexplained } = await chain.lamportsHistory(from);
  const own = included.filter(({ keys }) => keys[0] === feePayer);
  const recorded = await recordedOf(
    query,
    own.map(({ signature }) => signature),
  );
  const sum = (list: readonly Included[]) => list.reduce((all, each) => all + each.lamportsOf(feePayer), 0n);
  const costs = own.filter(({ signature }) => recorded.has(signature));
  const unread = costs.filter(({ signature }) => recorded.get(signature) === 'unread');
  const findings = own.flatMap((each) => findingsOf(feePayer, each, recorded.get(each.signature)));
  const newest = included[0]?.slot ?? 0;
  const open = new Set([
    ...findings.map(({ signature }) => signature),
    // Older ones are of a release before this record, and stay without it.
    ...unread.flatMap(({ signature, slot }) => (newest - slot < READ_WITHIN_SLOTS ? [signature] : [])),
  ]);
  const paid = -sum(costs);
  return {
    feePayer,
    balance,
    paid,
    recorded: [...recorded.values()].reduce(
      (total, each) => (each === 'unread' ? total : total + each.fee + each.rent),
      0n,
    ),
    unread: -sum(unread),
    moved: sum(included) + paid,
    unexplained,
    findings,
    checkpoint: advance(from, included.toReversed(), ({ signature }) => !open.has(signature)),
  };
};

/** The reports as lines of text. */
export const costsText = (reports: readonly CostReport[]): string =>
  reports
    .flatMap(({ feePayer, balance, paid, recorded, unread, moved, unexplained, findings }) => [
      `fee payer ${feePayer}: ${balance} lamports; paid ${paid}, recorded ${recorded}, not read ${unread}, moved ${moved}, unexplained ${unexplained}`,
      ...findings.map(
        ({ signature, lamports, what }) => `cost       ${signature} ${lamports} lamports: ${what}`,
      ),
    ])
    .join('\n');
