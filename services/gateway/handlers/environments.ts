import type { gateway } from '../../../shared/contract/gateway.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { OwnDeps } from '../deps.ts';

/** GET /v1/environments. */
export const environments =
  ({ usdcMints }: OwnDeps): Handler<typeof gateway.operations.environments> =>
  async () => ({
    environments: Object.fromEntries(
      Object.entries(usdcMints).map(([name, usdc_mint]) => [name, { usdc_mint }]),
    ),
  });
