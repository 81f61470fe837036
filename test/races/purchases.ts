import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { paidTool } from '../../mcp/src/paid-tool.ts';
import { ApiError } from '../../sdk/src/main.ts';
import { payingFetch } from '../../sdk/src/pay/main.ts';
import { payingTools, type ToolCall, type ToolResult } from '../../sdk/src/pay/tools.ts';
import { createPaywall, memoryStore } from '../../sdk/src/paywall/main.ts';
import { atOnce, tally } from '../support/servers/stack.ts';
import { BALANCE, type Fixture, PRICE, RACERS } from './fixture.ts';
import { paidExactly, type Race, unless } from './race.ts';
import { type Outside, outsideVendors } from './vendors.ts';

/**
 * Purchases of one key by every dialect at once, with the client of the SDK: of our paywall, of
 * vendors of x402 and MPP, and of the tools of an MCP server in each of its forms.
 */

const SHOP = 'https://shop.example.com';
/** What the limit leaves. */
const PAYABLE = 10;
const EXPECTED = { delivered: PAYABLE, limit_exceeded: RACERS - PAYABLE };
const SPENT_WITHIN_MS = 30_000;
const DECIDED_WITHIN_MS = 45_000;

/** The dialects, each with as many purchases as the others. */
const DIALECTS = ['quittance', 'x402', 'mpp', 'tool'] as const;
type DialectName = (typeof DIALECTS)[number];

/** A shop behind our paywall: its routes, and its tools. */
const ownShop = ({ vendor, gatewayUrl }: Fixture, counted: (dialect: string) => void) => {
  const paywall = createPaywall({
    ...{ baseUrl: gatewayUrl, serviceKey: vendor.apiKey, serviceId: vendor.serviceId },
    ...{ environment: 'test', publicUrl: SHOP, store: memoryStore(), log: () => undefined },
  });
  const price = PRICE.toString();
  return {
    route: paywall.protect({ price }, () => {
      counted('quittance');
      return Response.json({ sold: true });
    }),
    tool: ({ name, _meta }: ToolCall): Promise<ToolResult> => {
      const sell = paidTool(paywall, { name, price }, () => {
        counted('tool');
        return { content: [] };
      });
      return sell({}, { mcpReq: { _meta } } as never) as Promise<ToolResult>;
    },
  };
};

/** The tools of vendors that do not use Quittance: every second one of x402, the others of MPP. */
const outsideTool = async (
  { name, _meta }: ToolCall,
  { x402, mpp }: Outside,
  id: number,
): Promise<ToolResult> => {
  const credential = _meta?.['org.paymentauth/credential'] as
    | { payload: { transaction: string } }
    | undefined;
  const payment = (_meta?.['x402/payment'] as typeof credential) ?? credential;
  if (payment !== undefined) {
    const transaction = await x402.include(payment.payload.transaction);
    const [receipt, value] =
      credential === undefined
        ? (['x402/payment-response', { success: true, transaction }] as const)
        : (['org.paymentauth/receipt', { status: 'success', reference: transaction }] as const);
    return { content: [], _meta: { [receipt]: value } };
  }
  if (id % 2 === 0)
    return { isError: true, content: [], structuredContent: { x402Version: 2, accepts: [x402.price(id)] } };
  const challenges = [{ ...mpp.parameters(name), request: mpp.price(id) }];
  throw Object.assign(new Error('Payment Required'), { code: -32042, data: { challenges } });
};

/** Buys one thing by a dialect, with a key. */
const buyerOf = (fixture: Fixture, outside: Outside, delegateKey: string) => {
  const delivered: string[] = [];
  const counted = (dialect: string) => delivered.push(dialect);
  const own = ownShop(fixture, counted);
  const routes: Record<string, (request: Request, id: number) => Promise<Response>> = {
    quittance: (request) => own.route(request),
    x402: outside.x402.route,
    mpp: outside.mpp.route,
  };
  const options = { baseUrl: fixture.gatewayUrl, delegateKey, maxAmount: PRICE };
  const pay = payingFetch(async (url, init) => {
    if (!url.startsWith(SHOP)) return fetch(url, init);
    const [, dialect, id] = new URL(url).pathname.split('/');
    const answer = await routes[dialect!]!(new Request(url, init), Number(id));
    if (answer.ok && dialect !== 'quittance') counted(dialect!);
    return answer;
  }, options);
  const tools = (id: number) =>
    payingTools<ToolResult>(
      async (call) => {
        if (id % 3 === 0) return own.tool(call);
        const result = await outsideTool(call, outside, id);
        if (result.isError !== true) counted('tool');
        return result;
      },
      { ...options, serverUrl: `${SHOP}/mcp` },
    );
  /** Repeats the same purchase until it is decided. */
  const buy = async (dialect: DialectName, id: number): Promise<string> => {
    const key = { paymentKey: `${dialect}-${id}` };
    const callTool = tools(id);
    const isBought = async (): Promise<boolean> => {
      if (dialect !== 'tool') return (await pay(`${SHOP}/${dialect}/${id}`, key)).status === 200;
      const { result, isUnpaid } = await callTool({ name: `report-${id}` }, key);
      return result.isError !== true && !isUnpaid;
    };
    for (const until = Date.now() + DECIDED_WITHIN_MS; Date.now() < until; await sleep(50)) {
      try {
        if (await isBought()) return 'delivered';
      } catch (error) {
        if (!(error instanceof ApiError)) return (error as Error).name;
        if (!error.retryable) return error.code;
      }
    }
    return 'undecided';
  };
  return { buy, delivered };
};

const purchasesOnALimit: Race = async (fixture) => {
  const limit = PRICE * BigInt(PAYABLE + 1);
  const [buyer, { feePayer, payees, include }] = await Promise.all([fixture.buyerWith(), fixture.outside()]);
  const limits = { daily: `${limit}`, total: `${limit}` };
  const delegate = await fixture.delegateOf(buyer, limits, { external: { pay_to: payees, origins: null } });
  const outside = outsideVendors({ include, payees, feePayer, price: PRICE, mint: fixture.chain.mint });
  const { buy, delivered } = buyerOf(fixture, outside, delegate.token);
  const first = await buy('quittance', RACERS);
  const outcomes = await atOnce(RACERS, async (id) => {
    const dialect = DIALECTS[id % DIALECTS.length]!;
    const outcome = await buy(dialect, id);
    fixture.count(`${dialect} ${outcome}`);
    return outcome;
  });
  const used = async () => {
    const [row] = await fixture.rows<{ used: string }>(
      "select total_held || ' ' || total_spent || ' ' || day_spent as used from settlement.delegates where delegate_id = $1",
      [delegate.id],
    );
    return row?.used;
  };
  const deadline = Date.now() + SPENT_WITHIN_MS;
  while (!(await used())?.startsWith('0 ') && Date.now() < deadline) await sleep(100);
  const found = tally(outcomes);
  const left = await fixture.chain.balance(buyer.wallet.publicKey);
  const beyond = BALANCE - left - limit;
  if (beyond > 0n) fixture.count('micro-units beyond the limit', Number(beyond));
  return [
    ...unless(first === 'delivered', `the first purchase: ${first}`),
    ...unless(isDeepStrictEqual(found, EXPECTED), JSON.stringify(found)),
    ...unless(delivered.length === PAYABLE + 1, `deliveries: ${JSON.stringify(tally(delivered))}`),
    ...unless((await used()) === `0 ${limit} ${limit}`, `the delegate used ${await used()} of ${limit}`),
    ...(await paidExactly(fixture, buyer, PAYABLE + 1)),
  ];
};

export const purchaseRaces: Record<string, Race> = {
  'rule 4: 64 purchases over all dialects of a delegate whose limit leaves 10': purchasesOnALimit,
};
