import type { Records } from '../../../shared/boot.ts';
import { conflict, notFound } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { formatMicro } from '../../../shared/lib/money/micro.ts';
import { count } from '../../../shared/lib/telemetry/metrics.ts';
import { justChanged } from '../delivering/consume.ts';
import { findAuthorization } from '../record/store/authorizations.ts';
import type { EndAuthorization } from './end-authorization.ts';
import type { RecordLostCapture } from './lost-capture.ts';

/** How long use that is reported meanwhile may make a void decide again. */
const DECIDE_MS = 3000;

/**
 * POST /v1/settlements/:settlement_id/void: ends an authorization without a payment. Use that is
 * reported meanwhile makes it decide again, as a capture does.
 */
export const voidAuthorization =
  ({
    pool,
    endAuthorization,
    recordLostCapture,
  }: Pick<Records, 'pool'> & {
    endAuthorization: EndAuthorization;
    recordLostCapture: RecordLostCapture;
  }): Handler<typeof settlement.operations.void> =>
  async ({ settlement_id, discard_usage = false }, { service_id }) => {
    const answer = (voidedAt: number, used: bigint) => ({
      settlement_id,
      status: 'voided' as const,
      voided_at: isoTime(voidedAt),
      used: formatMicro(used),
    });
    const until = performance.now() + DECIDE_MS;
    for (let decisions = 0; decisions === 0 || performance.now() < until; decisions += 1) {
      const row = await findAuthorization(pool, { settlement_id, service_id });
      if (row === null) throw notFound('authorization');
      if (row.status === 'voided') {
        if (decisions === 0) count('quittance_idempotent_replays_total', 1, { operation: 'void' });
        return answer(row.voided_at!, row.used);
      }
      if (row.status === 'failed') throw conflict('its capture failed, and nothing was paid');
      if (row.status !== 'authorized') throw conflict('it is captured, or being captured; refund it instead');
      if (await recordLostCapture(row)) continue;
      if (row.used > 0n && !discard_usage)
        throw conflict(
          `${row.used} were reported as used: capture them, or send discard_usage true to give them up`,
        );
      const voided = await endAuthorization.void(row);
      if (voided !== null) return answer(voided.voided_at, voided.used);
    }
    throw justChanged();
  };
