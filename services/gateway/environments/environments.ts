import type { gateway } from '../../../shared/contract/gateway.ts';
import type { Handler } from '../../../shared/contract/service.ts';

type Deps = {
  /** Environment → address of its USDC mint. */
  usdcMints: Readonly<Record<string, string>>;
  /** Environment → CAIP-2 id of its network. */
  x402Networks: Readonly<Record<string, string>>;
  /** The page with all mails, where none is delivered. */
  caughtMailUrl: string | undefined;
};

/** GET /v1/environments. */
export const environments =
  ({ usdcMints, x402Networks, caughtMailUrl }: Deps): Handler<typeof gateway.operations.environments> =>
  async () => ({
    environments: Object.fromEntries(
      Object.entries(usdcMints).map(([name, usdc_mint]) => [
        name,
        { usdc_mint, x402_network: x402Networks[name] ?? null },
      ]),
    ),
    caught_mail_url: caughtMailUrl ?? null,
  });
