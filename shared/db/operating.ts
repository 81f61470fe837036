import type { z } from 'zod';
import type { Consuming } from '../bus/consume.ts';
import { conflict, notFound } from '../contract/errors.ts';
import type { Decision, operatorOperations, Quarantined } from '../contract/operator.ts';
import type { Handler } from '../contract/service.ts';
import { isoTime, isoTimeOrNull } from '../lib/clock.ts';
import { listActions, recordAction } from './operator_actions.ts';
import { countOutbox } from './outbox.ts';
import type { Db, Pool } from './pool.ts';
import { findQuarantined, listQuarantined, markDecided, type QuarantineRow } from './quarantine.ts';

/** What a service adds for messages about work whose outcome can be proven. */
export type Outcomes = {
  /** All that is known of what the message is about; null for a message of another kind. */
  facts: (message: QuarantineRow) => Promise<unknown>;
  /**
   * What has to be committed with the decision that it landed or failed for good, and done after the commit.
   * @throws ServiceError conflict where the record or the chain does not prove it, or the message is of another kind
   */
  decide: (
    message: QuarantineRow,
    decision: 'landed' | 'failed',
  ) => Promise<{ proof: unknown; commit?: (tx: Db) => Promise<() => void> }>;
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
export const operatorHandlers = ({
  pool,
  consuming,
  outcomes,
}: {
  pool: Pool;
  consuming: readonly Consuming[];
  outcomes?: Outcomes;
}): Handlers => {
  /** Told once more to whoever reads its subject. Handlers know repeats, so one that is lost may be told again. */
  const retry = async ({ subject, body }: QuarantineRow): Promise<void> => {
    for (const consumer of consuming) if (await consumer.again(subject, body)) return;
    throw conflict(`nothing here reads ${subject}`);
  };

  const prepare = async (row: QuarantineRow, decision: Decision) => {
    if (decision === 'dismiss') return { proof: null };
    if (decision === 'retry') return retry(row).then(() => ({ proof: null }));
    if (outcomes === undefined)
      throw conflict(`${row.subject} is about nothing whose outcome the chain proves`);
    return outcomes.decide(row, decision);
  };

  return {
    listOperatorActions: async ({ limit }) => [...(await listActions(pool, limit))],
    showBacklog: async () => ({ outbox: await countOutbox(pool) }),
    listQuarantined: async (filter) => (await listQuarantined(pool, filter)).map(shown),
    showQuarantined: async ({ quarantine_id }) => {
      const row = await findQuarantined(pool, quarantine_id);
      if (row === null) return null;
      const facts = (await outcomes?.facts(row)) ?? null;
      return { ...shown(row), body: row.body.toString('utf8').slice(0, BODY_SHOWN), facts };
    },
    decideQuarantined: async ({ quarantine_id, decision, actor, reason }) => {
      const row = await findQuarantined(pool, quarantine_id);
      if (row === null) throw notFound('quarantined message here');
      if (row.decided_at !== null) throw decided(row);
      const { proof, commit }: { proof: unknown; commit?: (tx: Db) => Promise<() => void> } = await prepare(
        row,
        decision,
      );
      const { marked, after } = await pool.transaction(async (tx) => {
        const marked = await markDecided(tx, quarantine_id, decision);
        // Somebody decided while the chain was asked.
        if (marked === null) throw decided((await findQuarantined(tx, quarantine_id)) ?? row);
        await recordAction(
          tx,
          { actor, reason },
          {
            action: 'quarantine.decide',
            target: `quarantine/${quarantine_id} ${row.subject}`,
            before: { decision: null },
            after: { decision, ...(proof === null ? {} : { proof }) },
          },
        );
        return { marked, after: await commit?.(tx) };
      });
      after?.();
      return shown(marked);
    },
  };
};
