import type { gateway } from '../../../shared/contract/gateway.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import type { OwnDeps } from '../deps.ts';

/** GET /v1/health. */
export const health =
  ({ clock }: OwnDeps): Handler<typeof gateway.operations.health> =>
  async () => ({ status: 'ok', time: isoTime(clock()) });
