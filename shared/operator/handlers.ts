import type { z } from 'zod';
import type { AttemptReport } from '../contract/chain-submitter.ts';
import { conflict, notFound } from '../contract/errors.ts';
import type { Decision, operatorOperations, Quarantined } from '../contract/operator.ts';
import type { Handler } from '../contract/service.ts';
import type { Db, Pool } from '../db/pool.ts';
import type { Consuming } from '../events/consume.ts';
import { countOutbox } from '../events/outbox.ts';
import { isoTime, isoTimeOrNull } from '../lib/clock.ts';
import { listActions, recordAction } from './actions.ts';
import { findQuarantined, listQuarantined, type QuarantineRow, recordDecision } from './quarantine.ts';

/**
 * What a service adds for messages about payments, whose outcome the chain proves. The subject is
 * what a message is about.
 */
export type QuarantineResolver<Subject> = {
  /** Null for a message of another kind, and for one that says too little to find its subject. */
  find: (message: QuarantineRow) => Promise<Subject | null>;
  /** What an operator is told where `find` has nothing. */
  notFoundMessage: string;
  /** What the chain proves of it now. */
  prove: (subject: Subject) => Promise<AttemptReport>;
  /** What else an operator sees of it, as JSON. */
  describe?: (subject: Subject) => Record<string, unknown>;
  /**
   * What is committed with the decision. @returns what is done after the commit
   * @throws ServiceError conflict where the record does not allow the decision
   */
  commit?: (tx: Db, subject: Subject) => Promise<() => void>;
};

/** Bodies are shown up to this many characters. */
const BODY_SHOWN = 8000;

const shown = (row: QuarantineRow): z.infer<typeof Quarantined> => ({
  quarantine_id: row.quarantine_id,
  subject: row.subject,
  reason: row.reason,
  created_at: isoTime(row.created_at),
  decided_at: isoTimeOrNull(row.decided_at),
  decision: row.decision,
});

const decided = ({ decision }: QuarantineRow) => conflict(`it is decided already: ${decision}`);

type Handlers = { [K in keyof typeof operatorOperations]: Handler<(typeof operatorOperations)[K]> };

/** What every service answers to operators: the record of their actions, and messages set aside. */
export const operatorHandlers = <Subject>({
  pool,
  consuming,
  resolver,
}: {
  pool: Pool;
  consuming: readonly Consuming[];
  resolver?: QuarantineResolver<Subject>;
}): Handlers => {
  /**
   * Told once more to whoever reads its subject. Handlers know repeats, so one that is lost may be
   * told again.
   */
  const retry = async ({ subject, body }: QuarantineRow): Promise<void> => {
    for (const consumer of consuming) if (await consumer.redeliver(subject, body)) return;
    throw conflict(`nothing here reads ${subject}`);
  };

  /** All that is known of what a message is about, null where that is nothing. */
  const detailsOf = async (row: QuarantineRow): Promise<unknown> => {
    const subject = (await resolver?.find(row)) ?? null;
    if (resolver === undefined || subject === null) return null;
    return { ...resolver.describe?.(subject), attempt: await resolver.prove(subject) };
  };

  /** @throws ServiceError conflict for a decision that the chain does not prove */
  const prepare = async (
    row: QuarantineRow,
    decision: Decision,
  ): Promise<{
    proof?: Pick<AttemptReport, 'outcome' | 'reason'>;
    commit?: (tx: Db) => Promise<() => void>;
  }> => {
    if (decision === 'dismiss') return {};
    if (decision === 'retry') {
      await retry(row);
      return {};
    }
    if (resolver === undefined)
      throw conflict(`${row.subject} is about nothing whose outcome the chain proves`);
    const subject = await resolver.find(row);
    if (subject === null) throw conflict(resolver.notFoundMessage);
    const { outcome, reason } = await resolver.prove(subject);
    if (outcome !== (decision === 'included' ? 'included' : 'excluded'))
      throw conflict(`the chain does not bear that out: ${reason}`);
    const { commit } = resolver;
    return { proof: { outcome, reason }, ...(commit && { commit: (tx) => commit(tx, subject) }) };
  };

  return {
    listOperatorActions: async ({ limit }) => [...(await listActions(pool, limit))],
    getBacklog: async () => ({ outbox: await countOutbox(pool) }),
    listQuarantined: async (filter) => (await listQuarantined(pool, filter)).map(shown),
    findQuarantined: async ({ quarantine_id }) => {
      const row = await findQuarantined(pool, quarantine_id);
      if (row === null) return null;
      const details = await detailsOf(row);
      return { ...shown(row), body: row.body.toString('utf8').slice(0, BODY_SHOWN), details };
    },
    decideQuarantined: async ({ quarantine_id, decision, actor, reason }) => {
      const row = await findQuarantined(pool, quarantine_id);
      if (row === null) throw notFound('quarantined message here');
      if (row.decided_at !== null) throw decided(row);
      const { proof, commit } = await prepare(row, decision);
      const { marked, after } = await pool.transaction(async (tx) => {
        const marked = await recordDecision(tx, quarantine_id, decision);
        // Somebody decided while the chain was asked.
        if (marked === null) throw decided((await findQuarantined(tx, quarantine_id)) ?? row);
        await recordAction(
          tx,
          { actor, reason },
          {
            action: 'quarantine.decide',
            target: `quarantine/${quarantine_id} ${row.subject}`,
            before: { decision: null },
            after: { decision, ...(proof && { proof }) },
          },
        );
        return { marked, after: await commit?.(tx) };
      });
      after?.();
      return shown(marked);
    },
  };
};
