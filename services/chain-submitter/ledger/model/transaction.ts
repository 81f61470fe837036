import { stateMachine } from '../../../../shared/state-machine.ts';

/**
 * The states of a signed generation. `live`: it may be included, or is included. An intent has at
 * most one live generation (rule 9).
 */
export type TransactionStatus = 'live' | 'expired' | 'failed';
/** `revive`: it was recorded as expired or failed, and is on the chain. */
type TransactionEvent = 'expire' | 'fail' | 'revive';

export const transactions = stateMachine<TransactionStatus, TransactionEvent>({
  live: { expire: 'expired', fail: 'failed' },
  expired: { revive: 'live' },
  failed: { revive: 'live' },
});
