import { decode } from '../../shared/bus/envelope.ts';
import { Progress } from '../../shared/contract/chain-submitter.ts';
import { conflict } from '../../shared/contract/errors.ts';
import { chainSubmitter } from '../../shared/contract/index.ts';
import { subjects } from '../../shared/contract/service.ts';
import type { Outcomes } from '../../shared/db/operating.ts';
import type { QuarantineRow } from '../../shared/db/quarantine.ts';
import { isoTime, isoTimeOrNull } from '../../shared/lib/clock.ts';
import type { Deps } from './deps.ts';
import { lookUpSettlement } from './store/settlements.ts';

const SUBJECT = subjects.event(chainSubmitter.name, 'settleProgressed');

/** The settlement that a message speaks of, as far as it can be read; null for a message of another kind. */
const settlementOf = async ({ pool }: Pick<Deps, 'pool'>, { subject, body }: QuarantineRow) => {
  if (subject !== SUBJECT) return null;
  try {
    const { object_id } = Progress.pick({ object_id: true }).loose().parse(decode(body));
    return await lookUpSettlement(pool, object_id as string);
  } catch (error) {
    if (error instanceof SyntaxError || (error as Error).name === 'ZodError') return null;
    throw error;
  }
};

/**
 * What an operator may declare about a fact that contradicts the record (docs/runbook.md, RecordContradicted). The record
 * stays what callers were told: the decision says which of the two is true, and only what the chain proves can be said.
 */
export const outcomes = (deps: Pick<Deps, 'pool' | 'observeAttempt'>): Outcomes => ({
  facts: async (message) => {
    const row = await settlementOf(deps, message);
    if (row === null) return null;
    const { account_id, payment_attempt_id, quote_token } = row;
    return {
      settlement: {
        settlement_id: row.settlement_id,
        account_id,
        payment_attempt_id,
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
      attempt: await deps.observeAttempt({ account_id, payment_attempt_id, quote_token }),
    };
  },
  decide: async (message, decision) => {
    const row = await settlementOf(deps, message);
    if (row === null)
      throw conflict('the message names no settlement that is known here: retry or dismiss it');
    const { account_id, payment_attempt_id, quote_token } = row;
    const attempt = await deps.observeAttempt({ account_id, payment_attempt_id, quote_token });
    if (attempt.verdict !== (decision === 'landed' ? 'landed' : 'cannot_land'))
      throw conflict(`the chain does not bear that out: ${attempt.why}`);
    return { proof: { verdict: attempt.verdict, why: attempt.why } };
  },
});
