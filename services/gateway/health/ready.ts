import type { gateway } from '../../../shared/contract/gateway.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Readiness } from './readiness.ts';

/** GET /v1/health/ready. */
export const ready =
  ({ readiness }: { readiness: Pick<Readiness, 'check'> }): Handler<typeof gateway.operations.ready> =>
  async () => ({ status: 'ready', environments: await readiness.check() });
