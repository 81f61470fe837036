import type { gateway } from '../../../shared/contract/gateway.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { OwnDeps } from '../deps.ts';

/** GET /v1/health/ready. */
export const ready =
  ({ readiness }: OwnDeps): Handler<typeof gateway.operations.ready> =>
  async () => ({ status: 'ready', environments: await readiness.check() });
