import { invalid } from '../contract/errors.ts';
import type { Inspection } from '../contract/operator.ts';
import { type Db, sql } from '../db/pool.ts';

/**
 * Reads of operators about a person. Each has a reason, and is a row of the same chain as the
 * changes (actions.ts), so that `audit --account` shows who looked. The service that shows
 * something records it before it answers: what could not be recorded is not shown.
 */

/** The action of a look in the chain. */
const INSPECT = 'account.inspect';
/** The target of a search that named nobody. The text of the search is never stored. */
export const NOBODY = 'nobody';

type Inspecting = { actor: string; inspection?: Inspection | undefined };

/** One command asks a service several times, and is one look at each account. */
const recordInspection = (
  db: Db,
  { actor, inspection }: { actor: string; inspection: Inspection },
  what: string,
  targets: string[],
) =>
  db.query(sql.typeAlias('void')`
    insert into operator_actions (actor, action, target, reason, before, after)
    select ${actor}, ${INSPECT}, shown.target, ${inspection.ticket}, 'null',
      jsonb_build_object('inspection_id', ${inspection.inspection_id}::text, 'what', ${what}::text)
    from unnest(${sql.array(targets, 'text')}) as shown(target)
    where not exists (select from operator_actions a
      where a.target = shown.target and a.action = ${INSPECT} and a.after ->> 'inspection_id' = ${inspection.inspection_id})`);

/**
 * A handler that shows something about persons: it needs a ticket, and records the look before it
 * answers.
 * @param what what is shown, for the record
 * @param handler reads what is shown
 * @param targetsOf the accounts that the answer is about; none: nothing was shown
 */
export const withInspection =
  <Input, Answer>(
    db: Db,
    what: string,
    handler: (input: Input) => Promise<Answer>,
    targetsOf: (answer: Answer, input: Input) => readonly string[],
  ) =>
  async (input: Input & Inspecting): Promise<Answer> => {
    const { actor, inspection } = input;
    // Not in the schema: an older `ops` sends none, and its user must learn why it is refused.
    if (inspection === undefined)
      throw invalid(
        'inspection',
        'a look at a person needs a ticket, which is recorded: use --ticket of this release',
      );
    const answer = await handler(input);
    const targets = [...new Set(targetsOf(answer, input))];
    if (targets.length > 0) await recordInspection(db, { actor, inspection }, what, targets);
    return answer;
  };

const ACCOUNT = /"(acct_[0-9a-z]+)"/g;

/** Every account that an answer names. */
export const accountsNamedIn = (answer: unknown): string[] => [
  ...new Set([...JSON.stringify(answer).matchAll(ACCOUNT)].map(([, id]) => id!)),
];
