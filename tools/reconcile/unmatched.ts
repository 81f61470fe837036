import type { ServiceName } from '../../shared/contract/service.ts';
import type { Query } from './records.ts';

/**
 * A record that another service's database lacks, as after one of several databases was restored:
 * whatever the chain says, the two do not belong together.
 */
export type Unmatched = { lacks: ServiceName; what: string };

const idsIn = async (query: Query, statement: string): Promise<Set<string>> =>
  new Set((await query(statement)).map(({ id }) => String(id)));

/** What caused each kind of work, by its kind: the record is committed before its work. */
const CAUSES = [
  { kind: 'settle', service: 'settlement', ids: 'select settlement_id as id from settlement.settlements' },
  { kind: 'refund', service: 'funding', ids: 'select refund_id as id from funding.refunds' },
  { kind: 'withdrawal', service: 'funding', ids: 'select withdrawal_id as id from funding.withdrawals' },
] as const;

/** Work of chain-submitter for something that no service has ordered. */
const withoutCause = async (query: Query): Promise<Unmatched[]> => {
  const intents = await query('select kind, object_id as id, status from chain_submitter.intents');
  const found = await Promise.all(
    CAUSES.map(async ({ kind, service, ids }) => {
      const known = await idsIn(query, ids);
      return intents
        .filter((intent) => intent.kind === kind && !known.has(String(intent.id)))
        .map(({ id, status }) => ({ lacks: service, what: `the ${kind} ${id}, which is ${status}` }));
    }),
  );
  return found.flat();
};

/** Payments that are on the chain by settlement's record, and that chain-submitter never signed. */
const withoutTransaction = async (query: Query): Promise<Unmatched[]> => {
  const payments = await query(
    `select settlement_id as id, tx_hash, chain_status from settlement.settlements
     where tx_hash is not null and chain_status in ('confirmed', 'finalized')`,
  );
  const signed = await idsIn(query, 'select signature as id from chain_submitter.transactions');
  return payments
    .filter(({ tx_hash }) => !signed.has(String(tx_hash)))
    .map(({ id, tx_hash, chain_status }) => ({
      lacks: 'chain-submitter',
      what: `the transaction ${tx_hash} of ${id}, which is ${chain_status}`,
    }));
};

/** Every record that another database lacks. The services may be running. */
export const unmatchedIn = async (query: Query): Promise<Unmatched[]> =>
  // Causes are read after their work, and transactions after the payments that name them.
  [...(await withoutCause(query)), ...(await withoutTransaction(query))];
