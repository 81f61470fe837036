import { ServiceError } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { verifyToken } from '../../../shared/lib/compact-token.ts';
import { count, record } from '../../../shared/lib/metrics.ts';
import type { Deps } from '../deps.ts';
import { findSettlement, redeemOnce, type SettlementRow } from '../store/settlements.ts';

/** Epoch milliseconds; the window begins with the issue. */
const issuedAt = ({ redeem_expires_at, redeem_window_seconds }: SettlementRow): number =>
  redeem_expires_at! - redeem_window_seconds * 1000;

/** POST /v1/settlements/:settlement_id/redeem: the gate that opens once. */
export const redeem =
  (deps: Deps): Handler<typeof settlement.operations.redeem> =>
  async ({ settlement_id, settlement_token, redeem_id }, caller) => {
    const claims = verifyToken('settlement', settlement_token, {
      env: deps.environment,
      keys: deps.publicKeys,
    });
    const viewer = { as: 'service', service_id: caller.service_id } as const;
    const fits = claims.settlement_id === settlement_id && claims.service_id === caller.service_id;

    const won = fits
      ? await redeemOnce(deps.pool, {
          settlementId: settlement_id,
          serviceId: caller.service_id,
          redeemId: redeem_id ?? null,
        })
      : null;
    if (won !== null) deps.relay.dispatch(won.outbox);
    const row = won ?? (await findSettlement(deps.pool, viewer, settlement_id));
    if (row === null) throw new ServiceError('not_found', 'no such settlement');
    if (!fits) throw new ServiceError('validation_error', 'settlement_token: belongs to another settlement');
    if (row.status === 'redeemed') {
      if (won === null) count('settle.idempotent_replays', 1, { operation: 'redeem' });
      else record('settle.redeem_latency', (won.redeemed_at! - issuedAt(won)) / 1000);
      return {
        settlement_id,
        status: 'redeemed',
        redeemed_at: isoTime(row.redeemed_at!),
        redeem_id: row.redeem_id,
        replayed: won === null,
      };
    }
    if (row.status === 'expired' || (row.status === 'issued' && row.elapsed)) {
      throw new ServiceError('settlement_expired', 'the redeem window has elapsed');
    }
    const gone = row.status === 'issued' && row.chain_status !== 'pending';
    throw new ServiceError('conflict', gone ? REFUNDED : REFUSED[row.status]);
  };

const REFUNDED = 'the whole net amount is refunded, or a refund of it is under way';
const REFUSED = {
  pending: 'the payment is not confirmed yet',
  issued: 'the payment is being confirmed again after a fork of the chain: redeem again in a moment',
  failed: 'the payment failed',
};
