import type { Consumer } from '../../../deploy/local/seed/actors.ts';
import type { Access } from '../access.ts';
import type { SettlementRow } from '../checks/final-records.ts';
import type { Attempt, ClientLog } from './client-log.ts';
import type { FinalizedTransaction, FinalState } from './final-state.ts';
import type { Owner } from './owners.ts';

/** The final state of a campaign, which the invariants check. */
export type Case = {
  harness: Access;
  clientLog: ClientLog;
  finalState: FinalState;
  /** How often the chain was forked. Only then may a confirmed transaction be replaced. */
  forks: number;
  /** The payer whose owner revokes the allowance during payments. */
  fickle: Consumer;
  /** The payers whose agents need approvals. */
  owners: readonly Owner[];
};

type Found = { what: string; attempt?: Attempt };
export type Invariant = (of: Case) => Found[];

/** The settlement of an attempt. */
export const rowOf = ({ finalState }: Case, { payer, id }: Attempt): SettlementRow | undefined =>
  finalState.byAttempt.get(`${payer.signIn.account.account_id}/${id}`);

/** Successful finalized transactions under a quote's reference. */
export const paymentsOf = ({ finalState }: Case, quoteId: string): FinalizedTransaction[] =>
  (finalState.under.get(quoteId) ?? []).flatMap((signature) => {
    const transaction = finalState.transactions.get(signature);
    return transaction?.succeeded ? [transaction] : [];
  });

const UNPAID: readonly SettlementRow['status'][] = ['failed', 'voided'];
export const isPaid = (row: SettlementRow | undefined): boolean =>
  row !== undefined && !UNPAID.includes(row.status) && row.chain_status !== 'failed';

type Holder = Parameters<Access['chain']['tokenAccount']>[0];

/** Whether these changes are all that a transaction made to token balances. */
export const movedExactly = (
  { harness }: Case,
  { deltas }: FinalizedTransaction,
  changes: readonly (readonly [owner: Holder, delta: bigint])[],
): boolean => {
  const expected = new Map(
    changes.map(([owner, delta]) => [harness.chain.tokenAccount(owner).toBase58(), delta]),
  );
  const moved = [...deltas].filter(([, delta]) => delta !== 0n);
  return moved.length === expected.size && moved.every(([owner, delta]) => expected.get(owner) === delta);
};
