import type { Records } from '../../../shared/boot.ts';
import { decode } from '../../../shared/bus/envelope.ts';
import { Progress } from '../../../shared/contract/chain-submitter.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { eventSubject } from '../../../shared/events/event.ts';
import { isoTime, isoTimeOrNull } from '../../../shared/lib/clock.ts';
import type { QuarantineResolver } from '../../../shared/operator/handlers.ts';
import type { QuarantineRow } from '../../../shared/operator/quarantine.ts';
import type { Peers } from '../peers.ts';
import { findSettlement, type SettlementRow } from '../record/store/settlements.ts';

const SUBJECT = eventSubject('chain-submitter.settleProgressed');

/** A settlement that was paid by `settle`. The chain proves the outcome of its attempt. */
type Attempted = SettlementRow & { account_id: string; payment_attempt_id: string; quote_token: string };
const isAttempted = (row: SettlementRow): row is Attempted => row.rail === 'quittance';

/**
 * The settlement of a message. Null: a message of another kind, one that cannot be parsed, or one
 * of a payment of another protocol.
 */
const settlementOf = async ({ pool }: { pool: Pool }, { subject, body }: QuarantineRow) => {
  if (subject !== SUBJECT) return null;
  try {
    const { object_id } = Progress.pick({ object_id: true }).loose().parse(decode(body));
    const row = await findSettlement(pool, object_id as string);
    return row !== null && isAttempted(row) ? row : null;
  } catch (error) {
    if (error instanceof SyntaxError || (error as Error).name === 'ZodError') return null;
    throw error;
  }
};

/**
 * An operator's resolution of an event that contradicts the record (docs/runbook.md,
 * RecordContradicted). The record stays as callers were answered. The resolution names which of the
 * two is true, and the chain has to prove it.
 */
export const quarantineResolver = (
  deps: Pick<Records, 'pool'> & Pick<Peers, 'getAttemptReport'>,
): QuarantineResolver<Attempted> => ({
  find: (message) => settlementOf(deps, message),
  notFoundMessage: 'the message names no attempt of this database: retry or dismiss it',
  prove: ({ account_id, payment_attempt_id, quote_token }) =>
    deps.getAttemptReport({ account_id, payment_attempt_id, quote_token }),
  describe: (row) => ({
    settlement: {
      settlement_id: row.settlement_id,
      account_id: row.account_id,
      payment_attempt_id: row.payment_attempt_id,
      quote_id: row.quote_id,
      vendor_account_id: row.vendor_account_id,
      quote_amount: row.quote_amount.toString(),
      status: row.status,
      chain_status: row.chain_status,
      tx_hash: row.tx_hash,
      failure_code: row.failure_code,
      created_at: isoTime(row.created_at),
      issued_at: isoTimeOrNull(row.issued_at),
    },
  }),
});
