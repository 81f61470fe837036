import { z } from 'zod';
import { decode } from '../../shared/bus/envelope.ts';
import { chainSubmitter } from '../../shared/contract/chain-submitter.ts';
import { conflict } from '../../shared/contract/errors.ts';
import { jobSubject } from '../../shared/events/event.ts';
import { insertOutbox } from '../../shared/events/outbox.ts';
import type { QuarantineResolver } from '../../shared/operator/handlers.ts';
import type { QuarantineRow } from '../../shared/operator/quarantine.ts';
import { settleIntentId, sightOfAttempt } from './attempt-sight.ts';
import type { Deps } from './deps.ts';
import { presentEvent, progressEvent } from './progress.ts';
import { findIntent, insertFailedIntent } from './store/intents.ts';

const SUBJECT = jobSubject('chain-submitter.settle');
const { account_id, payment_attempt_id, settlement_id, quote_token } =
  chainSubmitter.jobs.settle.payload.shape;
/** What of a settle job must be readable for anything to be said of its attempt. */
const Salvaged = z.looseObject({
  ...{ account_id, payment_attempt_id, settlement_id, quote_token },
  generation: z.int().min(0).catch(0),
});

type Job = z.infer<typeof Salvaged>;

const salvage = ({ subject, body }: QuarantineRow): Job | null => {
  if (subject !== SUBJECT) return null;
  try {
    return Salvaged.parse(decode(body));
  } catch {
    return null;
  }
};

const FAILURE = {
  code: 'payment_failed',
  message: 'the payment could not be carried out; no money moved',
} as const;

/**
 * What an operator may declare about a settle job that could not be read. `failed` is said only with the proof that
 * nothing of the attempt can land any more (rule 11), and written down, so that the job, should it come again, meets its end.
 * `landed` publishes the record's outcome once more; a payment without a record is adopted by `retry`, never declared.
 */
export const quarantineResolver = (deps: Deps): QuarantineResolver<Job> => ({
  find: async (message) => salvage(message),
  notFoundMessage: 'it names no attempt to pay that could be looked up: retry or dismiss it',
  prove: (job) => sightOfAttempt(deps, job),
  commit: async (tx, job) => {
    const intentId = settleIntentId(job);
    const told = { intent_id: intentId, kind: 'settle', object_id: job.settlement_id } as const;
    const known = await findIntent(tx, intentId);
    if (known === null) {
      const { generation } = job;
      const row = { ...told, generation, request: job, failure: FAILURE };
      if (!(await insertFailedIntent(tx, row)))
        throw conflict('its settlement is being paid under another attempt');
      const failed = { status: 'failed', generation, tx_hash: null, slot: null, failure: FAILURE } as const;
      const rows = await insertOutbox(tx, [progressEvent(told, failed)]);
      return () => deps.relay.dispatch(rows);
    }
    const present = presentEvent(known);
    const rows = present === null ? [] : await insertOutbox(tx, [present]);
    return () => deps.relay.dispatch(rows);
  },
});
