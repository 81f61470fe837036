import type { gateway } from '../../../shared/contract/gateway.ts';
import type { Handler } from '../../../shared/contract/service.ts';

/**
 * GET /v1/environments.
 * @param usdcMints environment → address of its USDC mint
 */
export const environments =
  ({
    usdcMints,
  }: {
    usdcMints: Readonly<Record<string, string>>;
  }): Handler<typeof gateway.operations.environments> =>
  async () => ({
    environments: Object.fromEntries(
      Object.entries(usdcMints).map(([name, usdc_mint]) => [name, { usdc_mint }]),
    ),
  });
