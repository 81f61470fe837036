import { stateMachine } from '../../../shared/state-machine.ts';

/** A signed generation: `live` may still land; of an intent there is one at most (rule 9). */
export type TransactionStatus = 'live' | 'expired' | 'failed';
/** `revive`: it was taken for dead, and is on the chain. */
export type TransactionEvent = 'expire' | 'fail' | 'revive';

export const transactions = stateMachine<TransactionStatus, TransactionEvent>({
  live: { expire: 'expired', fail: 'failed' },
  expired: { revive: 'live' },
  failed: { revive: 'live' },
});
