import type { z } from 'zod';
import type { AttemptReport } from '../contract/chain-submitter.ts';
import { conflict, notFound } from '../contract/errors.ts';
import type { Decision, operatorOperations, Quarantined, References, Waiting } from '../contract/operator.ts';
import type { Handler } from '../contract/service.ts';
import type { Db, Pool } from '../db/pool.ts';
import { type Consuming, redeliverTo } from '../events/consume.ts';
import { countOutbox, listUnsent } from '../events/outbox.ts';
import { isoTime, isoTimeOrNull } from '../lib/clock.ts';
import { listActions, type Operator, recordAction, verifyActions } from './actions.ts';
import { accountsNamedIn, withInspection } from './inspections.ts';
import { findQuarantined, listQuarantined, type QuarantineRow, recordDecision } from './quarantine.ts';
import {
  type AccountRecords,
  type FoundRecords,
  listMessagesAbout,
  NOTHING_FOUND,
  type RecordFinder,
} from './records.ts';

/**
 * The part of a service for messages about payments, whose outcome the chain proves. The subject is
 * what a message is about.
 */
export type QuarantineResolver<Subject> = {
  /** Null for a message of another kind, or one that does not identify its subject. */
  find: (message: QuarantineRow) => Promise<Subject | null>;
  /** The error text if `find` returns null. */
  notFoundMessage: string;
  /** What the chain proves about the subject now. */
  prove: (subject: Subject) => Promise<AttemptReport>;
  /** Further details for an operator, as JSON. */
  describe?: (subject: Subject) => Record<string, unknown>;
  /**
   * Commits the effect of the decision.
   * @returns what is done after the commit
   * @throws ServiceError conflict if the record does not allow the decision
   */
  commit?: (tx: Db, subject: Subject) => Promise<() => void>;
};

/** The number of characters of a body that are shown. */
const BODY_SHOWN = 8000;

const shown = (row: QuarantineRow): z.infer<typeof Quarantined> => ({
  quarantine_id: row.quarantine_id,
  subject: row.subject,
  reason: row.reason,
  created_at: isoTime(row.created_at),
  decided_at: isoTimeOrNull(row.decided_at),
  decision: row.decision,
});

const decided = ({ decision }: QuarantineRow) => conflict(`the message is already decided: ${decision}`);

/** Lists the oldest open work of a service. */
export type ListWaiting = (limit: number) => Promise<Waiting[]>;

type Handlers = { [K in keyof typeof operatorOperations]: Handler<(typeof operatorOperations)[K]> };
type Deps<Subject> = {
  pool: Pool;
  consuming: readonly Consuming[];
  resolver?: QuarantineResolver<Subject>;
  /** What the tables of this service say about payments; absent: they say nothing. */
  findRecords?: RecordFinder;
  /** What the tables of this service say about an account; absent: they say nothing. */
  listAccountRecords?: AccountRecords;
  /** The oldest open work of this service; absent: it has none that waits. */
  listWaiting?: ListWaiting;
};

/**
 * Handles a quarantined message again. Handlers accept repeats, so a retry whose record is lost is
 * safe to repeat.
 */
const retry = async (consuming: readonly Consuming[], row: QuarantineRow): Promise<void> => {
  if (await redeliverTo(consuming, row)) return;
  throw conflict(`this service has no handler for ${row.subject}; dismiss the message`);
};

/** Everything known about the subject of a message; null if nothing is known. */
const detailsOf = async <Subject>(
  resolver: QuarantineResolver<Subject> | undefined,
  row: QuarantineRow,
): Promise<unknown> => {
  const subject = (await resolver?.find(row)) ?? null;
  if (resolver === undefined || subject === null) return null;
  return { ...resolver.describe?.(subject), attempt: await resolver.prove(subject) };
};

/** The proof of a decision, and what is committed with it. */
type Prepared = {
  proof?: Pick<AttemptReport, 'outcome' | 'reason'>;
  commit?: (tx: Db) => Promise<() => void>;
};

/** @throws ServiceError conflict for a decision that the chain does not prove */
const prepare = async <Subject>(
  { consuming, resolver }: Deps<Subject>,
  row: QuarantineRow,
  decision: Decision,
): Promise<Prepared> => {
  if (decision === 'dismiss') return {};
  if (decision === 'retry') {
    await retry(consuming, row);
    return {};
  }
  if (resolver === undefined)
    throw conflict(`${row.subject} has no outcome that the chain proves; retry or dismiss the message`);
  const subject = await resolver.find(row);
  if (subject === null) throw conflict(resolver.notFoundMessage);
  const { outcome, reason } = await resolver.prove(subject);
  if (outcome !== (decision === 'included' ? 'included' : 'excluded'))
    throw conflict(`the chain contradicts this decision: ${reason}`);
  const { commit } = resolver;
  return { proof: { outcome, reason }, ...(commit && { commit: (tx) => commit(tx, subject) }) };
};

/** Records a decision with its proof and its effect in one commit. */
const commitDecision = (
  pool: Pool,
  row: QuarantineRow,
  decision: Decision,
  operator: Operator,
  { proof, commit }: Prepared,
) =>
  pool.transaction(async (tx) => {
    const recorded = await recordDecision(tx, row.quarantine_id, decision);
    // Another operator decided while the chain was queried.
    if (recorded === null) throw decided((await findQuarantined(tx, row.quarantine_id)) ?? row);
    await recordAction(tx, operator, {
      action: 'quarantine.decide',
      target: `quarantine/${row.quarantine_id} ${row.subject}`,
      before: { decision: null },
      after: { decision, ...(proof && { proof }) },
    });
    return { recorded, afterCommit: await commit?.(tx) };
  });

/**
 * The accounts that records are about. Those of a wallet without an account are about what was
 * asked for.
 */
const accountsShown = (found: FoundRecords, { ids }: References): readonly string[] => {
  if (found.entries.length === 0) return [];
  const accounts = accountsNamedIn(found);
  return accounts.length > 0 ? accounts : ids.slice(0, 1);
};

/**
 * The operator operations of every service: its record of operator actions, its quarantine, and
 * what waits.
 */
export const operatorHandlers = <Subject>(deps: Deps<Subject>): Handlers => {
  const { pool, resolver, findRecords = NOTHING_FOUND, listAccountRecords = async () => [] } = deps;
  const { listWaiting = async () => [] } = deps;
  const findAll = async (references: References): Promise<FoundRecords> => {
    const [found, messages] = await Promise.all([
      findRecords(references),
      listMessagesAbout(pool, references.ids),
    ]);
    return { ...found, entries: [...found.entries, ...messages] };
  };
  return {
    listAccountRecords: withInspection(
      pool,
      'records of the account',
      listAccountRecords,
      (records, { account_id }) => (records.length === 0 ? [] : [account_id]),
    ),
    findRecords: withInspection(pool, 'records of an object', findAll, accountsShown),
    listOperatorActions: async (which) => [...(await listActions(pool, which))],
    verifyOperatorActions: ({ known }) => verifyActions(pool, known),
    listWaiting: ({ limit }) => listWaiting(limit),
    listUnsent: async () => [...(await listUnsent(pool))],
    getBacklog: async () => ({ outbox: await countOutbox(pool) }),
    listQuarantined: async (filter) => (await listQuarantined(pool, filter)).map(shown),
    findQuarantined: async ({ quarantine_id }) => {
      const row = await findQuarantined(pool, quarantine_id);
      if (row === null) return null;
      const details = await detailsOf(resolver, row);
      return { ...shown(row), body: row.body.toString('utf8').slice(0, BODY_SHOWN), details };
    },
    decideQuarantined: async ({ quarantine_id, decision, actor, reason }) => {
      const row = await findQuarantined(pool, quarantine_id);
      if (row === null) throw notFound('quarantined message here');
      if (row.decided_at !== null) throw decided(row);
      const prepared = await prepare(deps, row, decision);
      const { recorded, afterCommit } = await commitDecision(
        pool,
        row,
        decision,
        { actor, reason },
        prepared,
      );
      afterCommit?.();
      return shown(recorded);
    },
  };
};
