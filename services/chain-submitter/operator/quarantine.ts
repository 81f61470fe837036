import { z } from 'zod';
import { decode } from '../../../shared/bus/envelope.ts';
import { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import { conflict } from '../../../shared/contract/errors.ts';
import { jobSubject } from '../../../shared/events/event.ts';
import { insertOutbox } from '../../../shared/events/outbox.ts';
import type { Outbox } from '../../../shared/events/relay.ts';
import type { QuarantineResolver } from '../../../shared/operator/handlers.ts';
import type { QuarantineRow } from '../../../shared/operator/quarantine.ts';
import { currentEvent, progressEvent } from '../ledger/events.ts';
import { settleIntentId } from '../ledger/intent-id.ts';
import { findIntent, insertFailedIntent } from '../ledger/store/intents.ts';
import { type AttemptReportDeps, reportAttempt } from './attempt-report.ts';

type Deps = AttemptReportDeps & { relay: Outbox };

const SUBJECT = jobSubject('chain-submitter.settle');
const { account_id, payment_attempt_id, settlement_id, quote_token } =
  chainSubmitter.jobs.settle.payload.shape;
/** The fields of a settle job that name its attempt. */
const ReadableJob = z.looseObject({
  account_id,
  payment_attempt_id,
  settlement_id,
  quote_token,
  generation: z.int().min(0).catch(0),
});

type Job = z.infer<typeof ReadableJob>;

const parseJob = ({ subject, body }: QuarantineRow): Job | null => {
  if (subject !== SUBJECT) return null;
  try {
    return ReadableJob.parse(decode(body));
  } catch {
    return null;
  }
};

const FAILURE = {
  code: 'payment_failed',
  message: 'the payment could not be executed; no money moved',
} as const;

/**
 * What an operator may declare about a settle job that could not be parsed. `failed` needs the
 * proof that nothing of the attempt can be included any more (rule 11). The failure is recorded, so
 * that the job finds it if it comes again. `included` publishes the record's outcome once more. A
 * payment without a record is never declared: `retry` adopts it.
 */
export const quarantineResolver = (deps: Deps): QuarantineResolver<Job> => ({
  find: async (message) => parseJob(message),
  notFoundMessage: 'the message names no attempt to pay; retry or dismiss it',
  prove: (job) => reportAttempt(deps, job),
  commit: async (tx, job) => {
    const intentId = settleIntentId(job);
    const existing = await findIntent(tx, intentId);
    if (existing !== null) {
      const message = currentEvent(existing);
      const rows = message === null ? [] : await insertOutbox(tx, [message]);
      return () => deps.relay.dispatch(rows);
    }
    const { generation, settlement_id: object_id } = job;
    const row = { intent_id: intentId, object_id, generation, request: job, failure: FAILURE };
    if (!(await insertFailedIntent(tx, row)))
      throw conflict('another attempt pays the settlement of this message');
    const failed = { status: 'failed', generation, tx_hash: null, slot: null, failure: FAILURE } as const;
    const rows = await insertOutbox(tx, [progressEvent({ kind: 'settle', object_id }, failed)]);
    return () => deps.relay.dispatch(rows);
  },
});
