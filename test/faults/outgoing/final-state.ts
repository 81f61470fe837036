import { createChainReader, HANDS, readRecords } from '../final-records.ts';
import type { Harness } from '../harness.ts';
import { inParallel } from '../recovery.ts';
import type { Actors } from './actors.ts';

type SettlementRow = {
  settlement_id: string;
  account_id: string;
  payment_attempt_id: string;
  delegate_id: string;
  status: 'pending' | 'issued' | 'failed';
  chain_status: 'pending' | 'confirmed' | 'finalized' | 'failed';
  tx_hash: string | null;
  quote_amount: string;
  holding: boolean;
  accepted_at: number;
  progressed_at: number;
};

type Usage = { id: string; held: string; spent: string };

/** Everything that the invariants compare, read after the recovery phase. */
export type FinalState = Awaited<ReturnType<typeof readFinalState>>;

/** Reads the chain by plain RPC when it is final, and the records. */
export const readFinalState = async (harness: Harness, { owners, payees }: Actors) => {
  const { query, chain } = harness;
  const { historyOf, transfersOf } = createChainReader(harness);
  const balancesOf = (holders: readonly string[]) =>
    inParallel(holders, HANDS, async (owner) => ({ owner, amount: await chain.balance(owner) }));
  const settlements = await query<SettlementRow>(`
    select s.settlement_id, account_id, payment_attempt_id, delegate_id, status, chain_status, tx_hash,
      quote_amount::text, holding, (extract(epoch from committed_at) * 1000)::float8 as accepted_at,
      (extract(epoch from progressed_at) * 1000)::float8 as progressed_at
    from settlement.settlements s join campaign.acceptances using (settlement_id) where rail = 'x402_out'`);
  return {
    ...(await readRecords(harness)),
    settlements,
    byAttempt: new Map(settlements.map((row) => [`${row.account_id} ${row.payment_attempt_id}`, row])),
    /** What left each wallet. The deposit before the faults is positive. */
    transfers: (await inParallel(owners, HANDS, transfersOf)).flat().filter(({ amount }) => amount < 0n),
    failed: (await inParallel(owners, HANDS, historyOf)).flat().filter(({ err }) => err !== null),
    wallets: await balancesOf(owners),
    payees: await balancesOf(payees),
    delegates: await query<Usage>(
      'select delegate_id as id, total_held::text as held, total_spent::text as spent from settlement.delegates',
    ),
    payers: await query<{ id: string; held: string }>(
      'select wallet_id as id, held::text as held from settlement.payers',
    ),
  };
};
