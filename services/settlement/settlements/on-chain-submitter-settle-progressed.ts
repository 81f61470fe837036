import { encode } from '../../../shared/bus/envelope.ts';
import type { Progress } from '../../../shared/contract/chain-submitter.ts';
import { batched } from '../../../shared/db/batched.ts';
import { event, eventSubject } from '../../../shared/events/event.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { signToken } from '../../../shared/lib/compact-token.ts';
import { failpoint } from '../../../shared/lib/failpoint.ts';
import { count, record as measure } from '../../../shared/lib/metrics.ts';
import { formatMicro } from '../../../shared/lib/micro.ts';
import { activeTraceparent } from '../../../shared/lib/trace.ts';
import type { Deps } from '../deps.ts';
import { refreshPayer } from '../payers/payer.ts';
import { findPayer } from '../payers/store.ts';
import {
  type Landed as LandedRow,
  type Landing,
  noteFailed,
  noteLanded,
  noteReopened,
  noteSigned,
} from './store/record-progress.ts';
import { lookUpSettlement, type Terms, termsOf } from './store/settlements.ts';
import { partiesOf, paymentOf } from './view.ts';

/**
 * Records how far a payment has come, publishes it, and wakes the request that waits for it. What
 * is confirmed at the same moment is recorded by one statement.
 */
export const settleProgressed = (deps: Deps) => {
  const recordOf = batched((batch: readonly Landed[]) => record(deps, batch), {
    keysOf: ({ object_id }) => [object_id],
  });
  return async (progress: Progress): Promise<void> => {
    const { object_id: settlementId, generation, tx_hash: txHash } = progress;
    switch (progress.status) {
      case 'signed':
        if (txHash !== null) await noteSigned(deps.pool, settlementId, { generation, txHash });
        return;
      case 'confirmed':
      case 'finalized':
        return landed(deps, progress, recordOf);
      case 'reopened':
        await noteReopened(deps.pool, settlementId, generation);
        return;
      case 'failed':
        return failed(deps, progress);
    }
  };
};

/** This database was set back. Delivered again it would fail again, for ever. */
const unknown = ({ logger }: Deps, settlementId: string): void => {
  count('settle.anomalies', 1, { kind: 'unknown_settlement' });
  logger.error({ settlement_id: settlementId }, 'event of a settlement that is not known here');
};

/**
 * An event that changed nothing, because the record is at the opposite end: proven failed and yet
 * included, or final and yet failed. Either is proven never to happen, so somebody has to look. The
 * record stays what callers were told: a failure sticks to its id (docs/spec/decisions.md, Settle),
 * and another attempt may have paid the quote since. A `confirmed` that is real becomes final
 * within seconds, and is set aside then.
 */
const watchForContradiction = async (deps: Deps, progress: Progress): Promise<void> => {
  const { pool, logger, quarantine } = deps;
  const { object_id: settlementId, status, tx_hash: tx } = progress;
  const row = await lookUpSettlement(pool, settlementId);
  if (row === null) return unknown(deps, settlementId);
  if (row.chain_status !== (status === 'failed' ? 'finalized' : 'failed')) return;
  // Of a reversed settlement the confirmation from before its fork may come once more.
  if (status === 'confirmed' && row.settlement_token !== null) return;
  count('settle.anomalies', 1, { kind: 'contradicted_record' });
  logger.error(
    { settlement_id: settlementId, recorded: row.chain_status, status, tx },
    'event of a payment is the opposite of its record',
  );
  if (status === 'confirmed') return;
  await quarantine({
    subject: eventSubject('chain-submitter.settleProgressed'),
    body: encode(progress),
    reason: `the settlement is recorded as ${row.chain_status}, the event says ${status}`,
  });
};

type Landed = Progress & { tx_hash: string; slot: number; traceparent: string | null };

/** What a landed transaction makes of a settlement of these terms. */
const landingOf = (deps: Deps, progress: Landed, terms: Terms): Landing => {
  const { object_id: settlementId, status, generation, tx_hash: txHash, slot, traceparent } = progress;
  const issuedAt = deps.clock();
  const redeemExpiresAt = issuedAt + terms.redeem_window_seconds * 1000;
  const about = { settlement_id: settlementId, quote_id: terms.quote_id, tx_hash: txHash };
  return {
    settlementId,
    generation,
    txHash,
    slot,
    finalized: status === 'finalized',
    issuedAt,
    redeemExpiresAt,
    settlementToken: signToken(
      'settlement',
      {
        env: deps.environment,
        settlement_id: settlementId,
        quote_id: terms.quote_id,
        service_id: terms.service_id,
        quote_amount: formatMicro(terms.quote_amount),
        issued_at: isoTime(issuedAt),
        redeem_expires_at: isoTime(redeemExpiresAt),
      },
      deps.signingKey,
    ),
    messages: {
      issued: event('settlement.issued', { ...about, ...paymentOf(terms, issuedAt) }, { traceparent }),
      finalized: event('settlement.finalized', { ...about, ...partiesOf(terms) }, { traceparent }),
    },
  };
};

type Recorded = { terms: Terms; landing: Landing; row: LandedRow | null };

/** Null: the settlement is not known here. */
const record = async (deps: Deps, batch: readonly Landed[]): Promise<(Recorded | null)[]> => {
  const { accepted, pool } = deps;
  const ids = batch.map(({ object_id }) => object_id);
  const elsewhere = ids.filter((id) => accepted.of(id) === undefined);
  const found = elsewhere.length === 0 ? [] : await termsOf(pool, elsewhere);
  const known = new Map(found.map((terms) => [terms.settlement_id, terms]));
  const landings = batch.flatMap((one) => {
    const terms = accepted.of(one.object_id) ?? known.get(one.object_id);
    return terms === undefined ? [] : [{ terms, landing: landingOf(deps, one, terms) }];
  });
  const rows =
    landings.length === 0
      ? []
      : await noteLanded(
          pool,
          landings.map(({ landing }) => landing),
        );
  const recorded = new Map(
    landings.map((one, index) => [one.landing.settlementId, { ...one, row: rows[index]! }]),
  );
  return ids.map((id) => recorded.get(id) ?? null);
};

const landed = async (
  deps: Deps,
  progress: Progress,
  recordOf: (one: Landed) => Promise<Recorded | null>,
): Promise<void> => {
  const { object_id: settlementId, status, tx_hash, slot } = progress;
  if (tx_hash === null || slot === null) throw new TypeError('a landed transaction has a hash and a slot');
  await failpoint('settlement.beforeIssue');
  const recorded = await recordOf({ ...progress, tx_hash, slot, traceparent: activeTraceparent() });
  await failpoint('settlement.afterIssue');
  if (recorded === null) return unknown(deps, settlementId);
  const { terms, landing, row } = recorded;
  if (row === null) {
    await watchForContradiction(deps, progress);
    // Perhaps a repeat of an event after which nobody was woken.
    deps.waiting.wake(settlementId);
    return;
  }
  deps.relay.dispatch(row.outbox);
  if (row.was === 'pending') {
    // Where this replica accepted it, its caller waits here.
    const isHere = deps.accepted.of(settlementId) !== undefined;
    deps.waiting.wake(settlementId, isHere ? row : undefined);
    count('settle.settlements', 1, { outcome: 'issued' });
    // Floating point holds micro-units exactly up to nine billion USDC; money itself is never computed from it.
    count('settle.settled_micro_usdc', Number(terms.quote_amount));
    count('settle.fees_micro_usdc', Number(terms.fee_amount));
    measure('settle.time_to_confirm', (landing.issuedAt - terms.created_at) / 1000);
  }
  if (status === 'finalized') deps.accepted.forget(settlementId);
};

const failed = async (deps: Deps, progress: Progress): Promise<void> => {
  const { object_id: settlementId, generation, tx_hash: txHash, failure } = progress;
  const row = await lookUpSettlement(deps.pool, settlementId);
  if (row === null) return unknown(deps, settlementId);
  const { code, message } = failure ?? { code: 'payment_failed' as const, message: 'the payment failed' };
  const about = { settlement_id: settlementId, quote_id: row.quote_id, ...partiesOf(row) };
  const reversed = event('settlement.reversed', { ...about, redeemed: row.redeemed_at !== null });
  const outbox = await noteFailed(
    deps.pool,
    settlementId,
    { generation, code, message },
    { failed: event('settlement.failed', { ...about, code }), reversed },
  );
  if (outbox.length === 0) await watchForContradiction(deps, progress);
  if (outbox.some(({ subject }) => subject === reversed.subject)) {
    count('settle.settlements', 1, { outcome: 'reversed' });
    count('settle.anomalies', 1, { kind: 'settlement_reversed' });
    const alarm = { settlement_id: settlementId, tx: txHash };
    deps.logger.error(alarm, 'a confirmed payment was reversed on chain for good');
  } else if (outbox.length > 0) {
    count('settle.settlements', 1, { outcome: 'failed' });
    count('settle.failures', 1, { error_code: code });
  }
  deps.accepted.forget(settlementId);
  deps.waiting.wake(settlementId);
  deps.relay.dispatch(outbox);
  // The last sight promised more than the chain held: look again, or the next attempt fails the same way.
  const payer = code === 'payment_failed' ? null : await findPayer(deps.pool, row.account_id, row.wallet_id);
  if (payer !== null) await refreshPayer(deps, payer);
};
