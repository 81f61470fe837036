import { readFailedOnChain } from '../checks/failed-on-chain.ts';
import { createChainReader, type FinalRecords } from '../checks/final-records.ts';
import type { Harness } from '../harness.ts';
import { HANDS, inParallel } from '../recovery.ts';
import type { Actors } from './actors.ts';
import type { Log } from './log.ts';

/** Everything that the invariants compare, read after the recovery phase. */
export type FinalState = Awaited<ReturnType<typeof readFinalState>>;

/** Reads the chain by plain RPC when it is final, and the records of the shop's service. */
export const readFinalState = async (
  harness: Harness,
  { actors: { buyers, payTo, serviceId }, log }: { actors: Actors; log: Log },
  records: FinalRecords,
) => {
  const { transfersOf } = createChainReader(harness);
  const settlements = records.settlements.filter((row) => row.service_id === serviceId);
  const own = buyers.filter(({ dialect }) => dialect === 'quittance');
  return {
    settlements,
    byTransaction: new Map(settlements.flatMap((row) => (row.tx_hash ? [[row.tx_hash, row] as const] : []))),
    /** Of all services, by the signed message. */
    byMessage: new Map(records.settlements.map((row) => [row.message_hash, row])),
    failed: await readFailedOnChain(harness, records, log.emptied),
    /** To the shop. */
    transfers: await transfersOf(payTo),
    /** Of each buyer with the paying fetch, the payments. */
    ownPayments: new Map(
      await inParallel(own, HANDS, async ({ address }) => {
        const spent = (await transfersOf(address)).filter(({ amount }) => amount < 0n);
        return [address, spent] as const;
      }),
    ),
  };
};
