import type { TransactionStatus } from '../../services/chain-submitter/ledger/model/transaction.ts';
import type { IntentRow } from '../../services/chain-submitter/ledger/store/intents.ts';
import type { PreparationRow } from '../../services/chain-submitter/ledger/store/preparations.ts';

/** The rows in the simulation's tables of chain-submitter. */
export type Intent = IntentRow & { worker_id: string | null; next_at: number; row: string };

export type Transaction = {
  signature: string;
  intent_id: string;
  generation: number;
  wire: Buffer;
  last_valid_block_height: bigint;
  status: TransactionStatus;
  signed_at: number;
};

/** A row of preparations as its statement binds it. */
export type Prepared = Omit<PreparationRow, 'request' | 'status' | 'submitted_message' | 'signature'> & {
  json: string;
};
