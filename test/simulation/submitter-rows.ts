import type { TransactionStatus } from '../../services/chain-submitter/ledger/model/transaction.ts';
import { quoteHashOf } from '../../services/chain-submitter/ledger/store/final-request.ts';
import type { IntentRow } from '../../services/chain-submitter/ledger/store/intents.ts';
import type { PreparationRow } from '../../services/chain-submitter/ledger/store/preparations.ts';

/** The rows in the simulation's tables of chain-submitter. */
export type Intent = IntentRow & {
  worker_id: string | null;
  next_at: number;
  row: string;
  /** The request of a final intent before it was shortened. Only the invariants read it. */
  whole?: unknown;
};
/** What an intent was asked for. */
export const requestOf = ({ whole, request }: Intent): unknown => whole ?? request;

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

/** A change of an intent as its statement binds it. */
export type TransitionRow = {
  intent_id: string;
  generation: number;
  signature: string | null;
  slot: number | null;
  failure_code: IntentRow['failure_code'];
  failure_message: string | null;
  subject: string;
  msg_id: string;
  payload: unknown;
};

/** What a settle keeps of its request (services/chain-submitter/ledger/store/final-request.ts). */
const finalRequest = ({ kind, request }: Intent): unknown => {
  const {
    quote_token,
    extension_tokens,
    account_id,
    payment_attempt_id,
    settlement_id,
    generation,
    ...kept
  } = request as Record<string, unknown>;
  return kind === 'settle' && quote_token !== undefined
    ? { ...kept, quote_hash: quoteHashOf(request) }
    : request;
};
/** What is final is never sent again: its bytes and most of its request are not kept. */
export const shorten = (intent: Intent, transactions: Map<string, Transaction>): void => {
  Object.assign(intent, { request: finalRequest(intent), whole: intent.request });
  for (const one of transactions.values()) if (one.intent_id === intent.intent_id) one.wire = Buffer.alloc(0);
};
