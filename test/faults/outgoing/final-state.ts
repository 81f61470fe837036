import { createChainReader, type FinalRecords } from '../checks/final-records.ts';
import type { Harness } from '../harness.ts';
import { HANDS, inParallel } from '../recovery.ts';
import type { Actors } from './actors.ts';

/** Everything that the invariants compare, read after the recovery phase. */
export type FinalState = Awaited<ReturnType<typeof readFinalState>>;

/** Reads the chain by plain RPC when it is final, and the records of outgoing payments. */
export const readFinalState = async (
  harness: Harness,
  { owners, payees, payers }: Actors,
  records: FinalRecords,
) => {
  const { historyOf, transfersOf, balancesOf } = createChainReader(harness);
  const settlements = records.settlementsOf('x402_out');
  const paying = new Set(payers.map(({ delegateId }) => delegateId));
  return {
    recorded: records.transactions,
    settlements,
    byAttempt: new Map(settlements.map((row) => [`${row.account_id} ${row.payment_attempt_id}`, row])),
    /** What left each wallet. The deposit before the faults is positive. */
    transfers: (await inParallel(owners, HANDS, transfersOf)).flat().filter(({ amount }) => amount < 0n),
    failed: (await inParallel(owners, HANDS, historyOf)).flat().filter(({ err }) => err !== null),
    wallets: await balancesOf(owners),
    payees: await balancesOf(payees),
    delegates: records.delegates.filter(({ id }) => paying.has(id)),
  };
};
