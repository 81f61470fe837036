import type { Records } from '../../../shared/boot.ts';
import { encode } from '../../../shared/bus/envelope.ts';
import type { Waiting } from '../../../shared/bus/wake.ts';
import type { Progress } from '../../../shared/contract/chain-submitter.ts';
import { PLATFORM_SERVICE_ID } from '../../../shared/contract/platform.ts';
import { isOutgoingRail } from '../../../shared/contract/settlement.ts';
import { batched } from '../../../shared/db/batched.ts';
import type { Quarantine } from '../../../shared/events/consume.ts';
import { eventSubject } from '../../../shared/events/event.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { failpoint } from '../../../shared/lib/failpoint.ts';
import { formatMicro } from '../../../shared/lib/money/micro.ts';
import { count, record as measure } from '../../../shared/lib/telemetry/metrics.ts';
import { activeTraceparent } from '../../../shared/lib/telemetry/trace.ts';
import { signToken } from '../../../shared/lib/tokens/compact-token.ts';
import type { AcceptedEvents } from '../core/accepted-events.ts';
import type { TermsCache } from '../core/terms-cache.ts';
import { type PayerRefresher, refreshPayer } from '../payers/payer.ts';
import { findPayer } from '../payers/store.ts';
import { confirmedEvents, failedEvents } from '../record/events.ts';
import { deleteUnsent } from '../record/store/incoming/signs-last.ts';
import {
  type Confirmation,
  type ConfirmedRow,
  type Included,
  recordConfirmed,
  recordFailed,
  recordReopened,
  recordSigned,
} from '../record/store/record-progress.ts';
import { recordRedeems } from '../record/store/redeem.ts';
import { findSettlement, listTerms, type SettlementRow, type Terms } from '../record/store/settlements.ts';
import type { ServiceTerms } from '../terms.ts';

type Deps = PayerRefresher &
  Records &
  Pick<ServiceTerms, 'environment' | 'signingKey'> & {
    /** Receives the events that an operator has to decide about. */
    quarantine: Quarantine;
    waiting: Waiting;
    terms: TermsCache;
    accepted: AcceptedEvents;
  };

/**
 * Records the progress of a payment, publishes it, and wakes the request that waits for it.
 * Payments that make the same progress at the same moment are recorded by one statement.
 */
export const onSettleProgressed = (deps: Deps) => {
  const recordOne = batched((batch: readonly Traced[]) => recordBatch(deps, batch), {
    keysOf: ({ progress }) => [progress.object_id],
  });
  const recordOneSigned = batched(
    async (batch: readonly Progress[]) => {
      await recordSigned(deps.pool, batch);
      return batch;
    },
    { keysOf: ({ object_id }) => [object_id] },
  );
  return async (progress: Progress): Promise<void> => {
    switch (progress.status) {
      case 'signed':
        if (progress.tx_hash !== null) await recordOneSigned(progress);
        return;
      case 'confirmed':
      case 'finalized':
        return confirmed(deps, progress, recordOne);
      case 'reopened':
        await recordReopened(deps.pool, progress.object_id, progress.generation);
        return;
      case 'failed':
        return failed(deps, progress);
    }
  };
};

/**
 * The database was restored from a backup. A redelivery would fail again, so the event is dropped.
 */
const reportUnknown = ({ logger }: Pick<Deps, 'logger'>, settlementId: string): void => {
  count('quittance_anomalies_total', 1, { kind: 'unknown_settlement' });
  logger.error({ settlement_id: settlementId }, 'event dropped: its settlement is not in this database');
};

/** Whether an event says the opposite of what is recorded of its payment. */
const contradicts = (
  { status, chain_status }: Pick<SettlementRow, 'status' | 'chain_status'>,
  event: Progress['status'],
): boolean => {
  if (event === 'failed') return chain_status === 'finalized';
  return chain_status === 'failed' || status === 'voided';
};

/**
 * Handles an event that changed nothing because the record has the opposite end: failed or void
 * although it was included, or final although it failed. The proofs exclude both, so an operator
 * has to decide. The record stays as callers were answered: a failure stays with its id
 * (docs/spec/decisions.md, Settle), and another attempt may have paid the quote since.
 * A `confirmed` that is true becomes final within seconds, and is quarantined then.
 */
const quarantineContradiction = async (deps: Deps, progress: Progress): Promise<void> => {
  const { pool, logger, quarantine } = deps;
  const { object_id: settlementId, status, tx_hash: signature } = progress;
  const row = await findSettlement(pool, settlementId);
  if (row === null) return reportUnknown(deps, settlementId);
  if (!contradicts(row, status)) return;
  // The confirmation from before the fork of a reversed settlement may be delivered once more.
  if (status === 'confirmed' && row.issued_at !== null) return;
  count('quittance_anomalies_total', 1, { kind: 'contradicted_record' });
  logger.error(
    { settlement_id: settlementId, recorded: `${row.status}, ${row.chain_status}`, status, signature },
    'event contradicts the record of its payment',
  );
  if (status === 'confirmed') return;
  await quarantine({
    subject: eventSubject('chain-submitter.settleProgressed'),
    body: encode(progress),
    reason: `the settlement is recorded as ${row.status} (${row.chain_status}), the event says ${status}`,
  });
};

/** Progress that shares a statement, with the trace of its event. */
type Traced = { progress: Included; traceparent: string | null };

const isIncluded = (progress: Progress): progress is Included =>
  progress.tx_hash !== null && progress.slot !== null;

/**
 * The token of a confirmed settlement and the end of its window. A payment of another rail has
 * neither: its signed message identifies it. An authorization has its own.
 */
const issuedFor = (deps: Deps, terms: Terms, issuedAt: number) => {
  const { quote_id, redeem_window_seconds: seconds, settlement_id, service_id, quote_amount } = terms;
  if (quote_id === null || service_id === null || seconds === null || terms.ceiling !== null)
    return { redeem_expires_at: null, settlement_token: null };
  const redeem_expires_at = issuedAt + seconds * 1000;
  const claims = {
    env: deps.environment,
    settlement_id,
    quote_id,
    service_id,
    quote_amount: formatMicro(quote_amount),
    issued_at: isoTime(issuedAt),
    redeem_expires_at: isoTime(redeem_expires_at),
  };
  return { redeem_expires_at, settlement_token: signToken('settlement', claims, deps.signingKey) };
};

const confirmationOf = (deps: Deps, { progress, traceparent }: Traced, terms: Terms): Confirmation => {
  const issued_at = deps.clock();
  const { redeem_expires_at, settlement_token } = issuedFor(deps, terms, issued_at);
  const { tx_hash } = progress;
  const messages = confirmedEvents(terms, { tx_hash, issued_at }, { traceparent });
  return { progress, issued_at, redeem_expires_at, settlement_token, messages };
};

type Recorded = { terms: Terms; confirmation: Confirmation; row: ConfirmedRow | null };

/** @returns in the order of the batch; null: this database does not have the settlement */
const recordBatch = async (deps: Deps, batch: readonly Traced[]): Promise<(Recorded | null)[]> => {
  const ids = batch.map(({ progress }) => progress.object_id);
  const missing = ids.filter((id) => deps.terms.find(id) === undefined);
  const found = missing.length === 0 ? [] : await listTerms(deps.pool, missing);
  const stored = new Map(found.map((terms) => [terms.settlement_id, terms]));
  const confirmations = batch.flatMap((traced) => {
    const { object_id: id } = traced.progress;
    const terms = deps.terms.find(id) ?? stored.get(id);
    return terms === undefined ? [] : [{ terms, confirmation: confirmationOf(deps, traced, terms) }];
  });
  const rows =
    confirmations.length === 0
      ? []
      : await recordConfirmed(
          deps.pool,
          confirmations.map(({ confirmation }) => confirmation),
        );
  const recorded = new Map(
    confirmations.map((one, index) => [one.confirmation.progress.object_id, { ...one, row: rows[index]! }]),
  );
  return ids.map((id) => recorded.get(id) ?? null);
};

/** Redeems a payment of accrued fees, which has no vendor who would. */
const redeemFees = async (
  { pool, relay }: Deps,
  { settlement_id, settlement_token }: ConfirmedRow,
): Promise<void> => {
  const service_id = PLATFORM_SERVICE_ID;
  const request = { settlement_id, service_id, redeem_id: 'fees', traceparent: activeTraceparent() };
  const [redeemed] = await recordRedeems(pool, [{ ...request, settlement_token: settlement_token! }]);
  if (redeemed) relay.dispatch([redeemed]);
};

const confirmed = async (
  deps: Deps,
  progress: Progress,
  recordOne: (traced: Traced) => Promise<Recorded | null>,
): Promise<void> => {
  const { object_id: settlementId, status } = progress;
  if (!isIncluded(progress)) throw new TypeError('a confirmed transaction has a signature and a slot');
  await failpoint('settlement.beforeIssue');
  const recorded = await recordOne({ progress, traceparent: activeTraceparent() });
  await failpoint('settlement.afterIssue');
  if (recorded === null) return reportUnknown(deps, settlementId);
  const { terms, confirmation, row } = recorded;
  if (row === null) {
    await quarantineContradiction(deps, progress);
    // This may repeat an event whose first delivery ended before it woke the request.
    deps.waiting.wake(settlementId);
    return;
  }
  deps.relay.dispatch(row.outbox);
  if (row.was === 'pending') {
    deps.accepted.drop(settlementId);
    if (terms.service_id === PLATFORM_SERVICE_ID) await redeemFees(deps, row);
    // The caller waits at the replica that accepted the payment.
    const isHere = deps.terms.find(settlementId) !== undefined;
    deps.waiting.wake(settlementId, isHere ? row : undefined);
    count('quittance_settlements_total', 1, { outcome: 'issued' });
    // Floating point holds micro-units exactly up to nine billion USDC. Money is never computed
    // from it.
    count('quittance_settled_micro_usdc_total', Number(terms.quote_amount));
    count('quittance_fees_micro_usdc_total', Number(terms.fee_amount));
    // A vendor of an outgoing payment sends it when it likes, and so does a phone that pays a link.
    if (!isOutgoingRail(terms.rail) && !isOfLink(terms))
      measure('quittance_confirmation_seconds', (confirmation.issued_at - terms.created_at) / 1000);
  }
  if (status === 'finalized') deps.terms.delete(settlementId);
};

/** The payment of a link by a wallet: no other one of its rail has a quote. */
const isOfLink = ({ rail, quote_id }: Pick<Terms, 'rail' | 'quote_id'>): boolean =>
  rail === 'x402' && quote_id !== null;

/** Whether the payment was to be signed by its buyer last, and is deleted now. */
const deleteIfUnsent = async (
  deps: Deps,
  row: Pick<Terms, 'settlement_id' | 'quote_id' | 'rail'>,
  generation: number,
): Promise<boolean> => {
  const { settlement_id } = row;
  if (!isOfLink(row) || !(await deleteUnsent(deps.pool, settlement_id, generation))) return false;
  deps.terms.delete(settlement_id);
  return true;
};

const failed = async (deps: Deps, progress: Progress): Promise<void> => {
  const { object_id: settlementId, generation, tx_hash: signature, slot, failure } = progress;
  const row = await findSettlement(deps.pool, settlementId);
  // The repeated event of a deleted payment. Without a slot, no money moved.
  if (row === null) return slot === null ? undefined : reportUnknown(deps, settlementId);
  if (slot === null && (await deleteIfUnsent(deps, row, generation))) return;
  const { code, message } = failure ?? { code: 'payment_failed' as const, message: 'the payment failed' };
  const events = failedEvents(row, {
    code,
    redeemed: row.redeemed_at !== null,
    usedMicro: row.used ?? 0n,
  });
  const recorded = { generation, code, message, isIncluded: slot !== null };
  const outbox = await recordFailed(deps.pool, settlementId, recorded, events);
  if (outbox.length === 0) await quarantineContradiction(deps, progress);
  if (outbox.some(({ subject }) => subject === events.reversed.subject)) {
    count('quittance_settlements_total', 1, { outcome: 'reversed' });
    count('quittance_anomalies_total', 1, { kind: 'settlement_reversed' });
    deps.logger.error(
      { settlement_id: settlementId, signature },
      'confirmed payment reversed on chain for good',
    );
  } else if (outbox.length > 0) {
    count('quittance_settlements_total', 1, { outcome: 'failed' });
    count('quittance_settlement_failures_total', 1, { error_code: code });
  }
  deps.terms.delete(settlementId);
  deps.accepted.drop(settlementId);
  deps.waiting.wake(settlementId);
  deps.relay.dispatch(outbox);
  // The last snapshot showed more than the chain holds. Without a new one the next attempt would
  // fail in the same way.
  const { account_id: accountId, wallet_id: walletId } = row;
  if (code === 'payment_failed' || accountId === null || walletId === null) return;
  const payer = await findPayer(deps.pool, accountId, walletId);
  if (payer !== null) await refreshPayer(deps, payer);
};
