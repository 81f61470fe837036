import { z } from 'zod';
import type { RecordEntry, References } from '../../../shared/contract/operator.ts';
import { type Db, type Pool, sql } from '../../../shared/db/pool.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import { entry, namesOf, type RecordFinder, textArray } from '../../../shared/operator/records.ts';
import type { RpcPool } from '../chain/rpc-pool.ts';
import {
  fundIntentId,
  incomingIntentId,
  outgoingIntentId,
  preparedIntentId,
  settleIntentId,
} from '../ledger/intent-id.ts';
import { statusText } from './status-text.ts';

const Work = z.object({
  intent_id: z.string(),
  kind: z.string(),
  object_id: z.string(),
  status: z.string(),
  generation: z.number(),
  signature: z.string().nullable(),
  slot: z.bigint().nullable(),
  failure_code: z.string().nullable(),
  failure_message: z.string().nullable(),
  leased: z.boolean(),
  created_at: z.number(),
  progressed_at: z.number(),
});
type Work = z.infer<typeof Work>;

const Signed = z.object({
  intent_id: z.string(),
  signature: z.string(),
  generation: z.number(),
  status: z.string(),
  last_valid_block_height: z.bigint(),
  signed_at: z.number(),
});
type Signed = z.infer<typeof Signed>;

const Prepared = z.object({
  preparation_id: z.string(),
  kind: z.string(),
  status: z.string(),
  signature: z.string().nullable(),
  created_at: z.number(),
  expires_at: z.number(),
});

/** The statuses of so many transactions are queried. A payment has few. */
const MAX_QUERIED = 10;

/**
 * The intents that objects of these names can have. An id that names another kind finds nothing.
 */
const intentIdsOf = ({ ids, attempts }: References): string[] => [
  ...attempts.flatMap((attempt) => [settleIntentId(attempt), outgoingIntentId(attempt)]),
  ...ids.flatMap((id) => [
    incomingIntentId(id),
    fundIntentId({ fund_id: id }),
    preparedIntentId({ kind: 'refund', preparation_id: id }),
    preparedIntentId({ kind: 'withdrawal', preparation_id: id }),
    preparedIntentId({ kind: 'delegation', preparation_id: id }),
  ]),
];

const listWork = (db: Db, references: References): Promise<readonly Work[]> =>
  db.any(sql.type(Work)`
    select intent_id, kind, object_id, status, generation, signature, slot, failure_code, failure_message,
      worker_id is not null as leased, created_at, progressed_at
    from intents where intent_id in (
      select unnest(${textArray(intentIdsOf(references))})
      union select intent_id from transactions where signature = any(${textArray(references.ids)})
    ) order by created_at limit 100`);

const listSigned = (db: Db, intentIds: readonly string[]): Promise<readonly Signed[]> =>
  db.any(sql.type(Signed)`
    select intent_id, signature, generation, status, last_valid_block_height, signed_at
    from transactions where intent_id = any(${textArray(intentIds)}) order by signed_at limit 100`);

const listPrepared = (db: Db, ids: readonly string[]) =>
  db.any(sql.type(Prepared)`
    select preparation_id, kind, status, signature, created_at, expires_at
    from preparations where preparation_id = any(${textArray(ids)})`);

const entriesOfWork = (row: Work): RecordEntry[] => [
  ...entry(row.created_at, row.object_id, 'work accepted by chain-submitter', { kind: row.kind }),
  ...entry(row.progressed_at, row.object_id, `work is ${row.status}`, {
    generation: row.generation,
    tx_hash: row.signature,
    slot: row.slot,
    leased: row.leased,
    failure: row.failure_code && `${row.failure_code}: ${row.failure_message}`,
  }),
];

/** What every provider reports about a transaction now. One that does not answer is named. */
const queryProviders = async (
  { rpc, clock }: { rpc: RpcPool; clock: Clock },
  { signature }: Signed,
): Promise<RecordEntry[]> => {
  const answers = await Promise.all(
    rpc.providers.map((provider) =>
      provider.statuses([signature], { history: true }).then(
        ({ statuses }) => [`provider_${provider.number}`, statusText(statuses[0] ?? null)],
        () => [`provider_${provider.number}`, 'no answer'],
      ),
    ),
  );
  return entry(clock(), signature, 'providers report now', Object.fromEntries(answers));
};

/** A settle's or an outgoing payment's attempt, which is in the id of its intent. */
const attemptOf = ({ intent_id }: Work): References['attempts'] => {
  const [, account_id, payment_attempt_id] = /^(?:settle|out):([^:]+):(.+)$/.exec(intent_id) ?? [];
  return account_id === undefined || payment_attempt_id === undefined
    ? []
    : [{ account_id, payment_attempt_id }];
};

/**
 * Intents, their signed transactions and preparations, by attempt, object or signature, and what
 * the providers report about the transactions now.
 */
export const findWorkRecords =
  (deps: { pool: Pool; rpc: RpcPool; clock: Clock }): RecordFinder =>
  async (references) => {
    const [work, prepared] = await Promise.all([
      listWork(deps.pool, references),
      listPrepared(deps.pool, references.ids),
    ]);
    const signed = await listSigned(
      deps.pool,
      work.map(({ intent_id }) => intent_id),
    );
    const objectOf = new Map(work.map(({ intent_id, object_id }) => [intent_id, object_id]));
    const reports = await Promise.all(
      signed.slice(-MAX_QUERIED).map((transaction) => queryProviders(deps, transaction)),
    );
    return {
      related: {
        ids: namesOf([
          ...work.map(({ object_id }) => object_id),
          ...signed.map(({ signature }) => signature),
        ]),
        attempts: work.flatMap(attemptOf),
      },
      entries: [
        ...work.flatMap(entriesOfWork),
        ...signed.flatMap((row) =>
          entry(row.signed_at, objectOf.get(row.intent_id) ?? row.intent_id, 'transaction signed', {
            generation: row.generation,
            tx_hash: row.signature,
            bytes: row.status,
            last_valid_block_height: row.last_valid_block_height,
          }),
        ),
        ...prepared.flatMap((row) => [
          ...entry(row.created_at, row.preparation_id, 'transaction prepared for its owner', {
            kind: row.kind,
            status: row.status,
            tx_hash: row.signature,
          }),
          ...(row.status === 'open' ? entry(row.expires_at, row.preparation_id, 'preparation expires') : []),
        ]),
        ...reports.flat(),
      ],
    };
  };
