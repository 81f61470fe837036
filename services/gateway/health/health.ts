import type { gateway } from '../../../shared/contract/gateway.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { type Clock, isoTime } from '../../../shared/lib/clock.ts';
import { build } from '../../../shared/lib/telemetry/version.ts';

/** GET /v1/health. */
export const health =
  ({ clock }: { clock: Clock }): Handler<typeof gateway.operations.health> =>
  async () => ({ status: 'ok', time: isoTime(clock()), ...build });
