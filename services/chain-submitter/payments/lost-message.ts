import type { Pool } from '../../../shared/db/pool.ts';
import type { Logger } from '../../../shared/lib/telemetry/logger.ts';
import { count } from '../../../shared/lib/telemetry/metrics.ts';
import { readLastValid } from '../chain/blockhashes.ts';
import type { IncludedTransaction } from '../chain/included-transaction.ts';
import { unknownOnError } from '../chain/read-for-caller.ts';
import { getIncluded } from '../chain/read-included.ts';
import type { RpcPool } from '../chain/rpc-pool.ts';
import { findTransactionEverywhere, type Wanted } from '../execution/find-transaction.ts';

/*
 * Payments whose record a restore has lost. The message identifies them, on the chain as here
 * (docs/adr/0034).
 */

export type LostDeps = { pool: Pool; rpc: RpcPool; logger: Logger };
/** A message without an intent, in the history of its source since the backup. */
export type LostMessage = Omit<Wanted, 'since'> & { since: string };

/**
 * The transaction of a message that is on the chain, at any provider; null when it is at none. Its
 * blockhash is of before the restore, so that it cannot be included any more.
 * @throws ServiceError service_unavailable when a provider does not answer
 */
export const findLostMessage = (deps: LostDeps, { since, ...wanted }: LostMessage): Promise<string | null> =>
  unknownOnError(findTransactionEverywhere(deps, { ...wanted, since: Date.parse(since) }));

/** The same with its bytes. */
export const readLostMessage = async (
  deps: LostDeps,
  lost: LostMessage,
): Promise<IncludedTransaction | null> => {
  const signature = await findLostMessage(deps, lost);
  return signature === null ? null : unknownOnError(getIncluded(deps, signature));
};

/** The last block of adopted bytes, which are as old as the newest ones of any provider at most. */
export const readLastValidOfLost = ({ rpc }: Pick<LostDeps, 'rpc'>): Promise<number> =>
  unknownOnError(readLastValid(rpc, { everywhere: true }));

/**
 * Reports a payment that was adopted from the chain.
 * @param what the beginning of the log line, which the runbook names
 */
export const reportAdopted = (
  { logger }: Pick<LostDeps, 'logger'>,
  what: string,
  log: { intent: string; settlement_id: string; signature: string },
): void => {
  count('quittance_anomalies_total', 1, { kind: 'adopted' });
  logger.warn(log, `${what} adopted from the chain`);
};
