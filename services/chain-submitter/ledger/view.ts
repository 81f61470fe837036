import type { Progress } from '../../../shared/contract/chain-submitter.ts';
import type { IntentRow } from './store/intents.ts';

/** The progress of an intent; null before its first transition. */
export const toProgress = (intent: IntentRow): Progress | null =>
  intent.status === 'accepted'
    ? null
    : {
        object_id: intent.object_id,
        status: intent.status,
        generation: intent.generation,
        tx_hash: intent.signature,
        slot: intent.slot === null ? null : Number(intent.slot),
        failure:
          intent.failure_code === null
            ? null
            : { code: intent.failure_code, message: intent.failure_message ?? '' },
      };
