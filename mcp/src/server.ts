import { McpServer } from '@modelcontextprotocol/server';
import { createClient } from '../../sdk/src/client.ts';
import { payingFetch } from '../../sdk/src/pay/main.ts';
import { createAsking } from './asking.ts';
import { createReach } from './reach.ts';
import type { Settings } from './settings.ts';
import { registerBudget } from './tools/budget.ts';
import { registerFetchPaid } from './tools/fetch-paid.ts';
import { registerPayments } from './tools/payments.ts';
import { PriceError, registerPrice } from './tools/price.ts';
import { registerReceipt } from './tools/receipt.ts';
import { registerSettleStatus } from './tools/settle-status.ts';
import type { Tools } from './tools/tools.ts';

/** Every amount of the API is below it. Each call names its own maximum. */
const ANY_AMOUNT = 2n ** 63n - 1n;

const INSTRUCTIONS = `Pays for API calls in USDC with a key that has a budget. Use \`price\` before an expensive call and \`budget\` before many.
Amounts are strings of USDC micro-units: "1000000" is 1 USDC. After an error read money_moved and what_to_do. "unknown" never means "not paid".`;

const REGISTER = [
  registerFetchPaid,
  registerPrice,
  registerBudget,
  registerPayments,
  registerSettleStatus,
  registerReceipt,
];

/**
 * Makes the servers of one process, one for each request or connection. They share the payments in
 * progress, so that a repeated call presents the same payment.
 */
export const createServers = (
  settings: Pick<Settings, 'baseUrl' | 'key' | 'askAboveMicro' | 'reach'>,
  version: string,
) => {
  const { baseUrl, key } = settings;
  const { fetch, close } = createReach(settings);
  const any = { baseUrl, delegateKey: key, maxAmount: ANY_AMOUNT };
  const tools: Tools = {
    client: createClient({ baseUrl, credential: key }),
    pay: payingFetch(fetch, any),
    // With a store of its own, so that it presents no payment of `pay`.
    ask: payingFetch(fetch, {
      ...any,
      approve: (price) => {
        throw new PriceError(price);
      },
    }),
    asking: createAsking(settings.askAboveMicro),
  };
  const create = (): McpServer => {
    const server = new McpServer(
      { name: 'quittance', title: 'Quittance', version },
      {
        capabilities: { tools: {} },
        instructions: INSTRUCTIONS,
        requestState: { verify: tools.asking.verify },
      },
    );
    for (const register of REGISTER) register(server, tools);
    return server;
  };
  return { create, close };
};
