import { z } from 'zod';
import { decode } from '../../../shared/bus/envelope.ts';
import { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import { conflict } from '../../../shared/contract/errors.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { jobSubject } from '../../../shared/events/event.ts';
import { insertOutbox } from '../../../shared/events/outbox.ts';
import type { Relay } from '../../../shared/events/relay.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import type { PublicKeys } from '../../../shared/lib/keys.ts';
import type { QuarantineResolver } from '../../../shared/operator/handlers.ts';
import type { QuarantineRow } from '../../../shared/operator/quarantine.ts';
import type { Network } from '../chain/model/network.ts';
import type { Rpc } from '../chain/rpc-pool.ts';
import { currentEvent, progressEvent } from '../intents/events.ts';
import { findIntent, insertFailedIntent } from '../intents/store/intents.ts';
import { settleIntentId, reportAttempt } from './attempt-report.ts';

type Deps = {
  pool: Pool;
  relay: Pick<Relay, 'dispatch'>;
  rpc: Rpc;
  network: Network;
  environment: string;
  keys: PublicKeys;
  clock: Clock;
};

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
  unknown: 'it names no attempt to pay that could be looked up: retry or dismiss it',
  prove: (job) => reportAttempt(deps, job),
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
    const present = currentEvent(known);
    const rows = present === null ? [] : await insertOutbox(tx, [present]);
    return () => deps.relay.dispatch(rows);
  },
});
