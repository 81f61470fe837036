import type { CallToolResult, ServerContext } from '@modelcontextprotocol/server';

/**
 * MCP tools that cost money, in the form of x402 (`_meta["x402/payment"]`) and in ours
 * (`_meta["quittance/settlement"]`). A call becomes a request to a paywall of @quittance/sdk, which
 * quotes, verifies, redeems, and delivers once for each payment.
 */

/** The part of a paywall of `@quittance/sdk/vendor` that a tool needs. */
export type PaidToolPaywall = {
  protect: (
    route: { price: string | ((request: Request) => string | Promise<string>) },
    handler: (request: Request) => Response | Promise<Response>,
  ) => (request: Request) => Promise<Response>;
};
export type PaidToolOptions<Args> = {
  /** The name under which the tool is registered. It is part of what the buyer pays for. */
  name: string;
  /** `'$0.05'`, `'0.05 USDC'` or micro-units, `'50000'`, or a function of the arguments. */
  price: string | ((args: Args) => string | Promise<string>);
};
/** A callback for `McpServer.registerTool`. */
export type PaidTool<Args> = (args: Args, context: ServerContext) => Promise<CallToolResult>;

const PAYMENT = 'x402/payment';
const PAYMENT_RESPONSE = 'x402/payment-response';
const SETTLEMENT = 'quittance/settlement';
const PAYMENT_REQUIRED = 'quittance/payment-required';
const RECEIPT = 'quittance/receipt';

type Fields = Record<string, unknown>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const inBase64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64');
const fromBase64 = (text: string | null): Fields | null => {
  if (text === null) return null;
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64').toString());
    return isFields(value) ? value : null;
  } catch {
    return null;
  }
};

/** JSON with sorted names, because a repeat of a call is recognised by its arguments. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_name, each: unknown) =>
    isFields(each) ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1))) : each,
  );

/** The payment of a call as the headers of a request. */
const paymentHeaders = (meta: Fields): Record<string, string> => {
  const payment = meta[PAYMENT];
  if (isFields(payment))
    return { [payment.x402Version === 1 ? 'x-payment' : 'payment-signature']: inBase64(payment) };
  const { settlement_id, settlement_token } = isFields(meta[SETTLEMENT]) ? meta[SETTLEMENT] : {};
  const isHeader = (value: unknown): value is string =>
    typeof value === 'string' && /^[\x21-\x7e]+$/.test(value);
  return isHeader(settlement_id) && isHeader(settlement_token)
    ? { 'x-settlement-id': settlement_id, 'x-settlement-token': settlement_token }
    : {};
};

const requestOf = (name: string, args: unknown, meta: Fields): Request =>
  // The host is ignored: the paywall signs its own `publicUrl`.
  new Request(`http://tools.invalid/mcp/tools/${encodeURIComponent(name)}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...paymentHeaders(meta) },
    body: canonical(args ?? {}),
  });

/** The unpaid form: the price in place of a result. */
const unpaid = (name: string, response: Response, body: Fields): CallToolResult => {
  const found = fromBase64(response.headers.get('payment-required'));
  const required = found ?? { x402Version: 2, error: String(body.error), accepts: [] };
  const resource = { ...(isFields(required.resource) ? required.resource : {}), url: `mcp://tool/${name}` };
  const shown = { ...required, resource };
  return {
    isError: true,
    structuredContent: shown,
    content: [{ type: 'text', text: JSON.stringify(shown) }],
    _meta: { [PAYMENT_REQUIRED]: body },
  };
};

/** The paywall's own refusal: an outcome that is open, or an invalid request. */
const refused = (response: Response, body: Fields): CallToolResult => {
  const seconds = response.headers.get('retry-after');
  const next =
    response.status === 503
      ? `Call the tool again with the same payment${seconds === null ? '' : ` in ${seconds} s`}. Do not pay again.`
      : 'Correct the call.';
  return { isError: true, content: [{ type: 'text', text: JSON.stringify({ ...body, what_to_do: next }) }] };
};

const resultOf = async (name: string, response: Response, meta: Fields): Promise<CallToolResult> => {
  const body = (await response.json()) as Fields;
  if (response.status === 402) return unpaid(name, response, body);
  // The handler's own statuses. The paywall has none of them.
  if (response.status !== 200 && response.status !== 500) return refused(response, body);
  const result = body as CallToolResult;
  const receipt = fromBase64(
    response.headers.get('payment-response') ?? response.headers.get('x-payment-response'),
  );
  const settlement = isFields(meta[SETTLEMENT]) ? { settlement_id: meta[SETTLEMENT].settlement_id } : null;
  return {
    ...result,
    _meta: {
      ...result._meta,
      ...(receipt === null ? {} : { [PAYMENT_RESPONSE]: receipt }),
      ...(receipt !== null || settlement === null ? {} : { [RECEIPT]: settlement }),
    },
  };
};

/**
 * Makes the callback of a tool that costs money. An unpaid call gets the price: `isError`, with
 * PaymentRequired of x402 in `structuredContent` and as text, and our quote in
 * `_meta["quittance/payment-required"]`. A paid call runs `handler` once. The same call with the
 * same payment gets the stored result. If the handler throws or returns `isError`, the same call
 * with the same payment runs it again, for 10 minutes.
 *
 * `server.registerTool('report', { inputSchema }, paidTool(paywall, { name: 'report', price:
 * '50000' }, handler))`. Give the tool no `outputSchema`, because the unpaid form does not fit it.
 */
export const paidTool = <Args>(
  paywall: PaidToolPaywall,
  { name, price }: PaidToolOptions<Args>,
  handler: (args: Args, context: ServerContext) => CallToolResult | Promise<CallToolResult>,
): PaidTool<Args> => {
  const calls = new WeakMap<Request, { args: Args; context: ServerContext }>();
  const route = {
    price: typeof price === 'function' ? (request: Request) => price(calls.get(request)!.args) : price,
  };
  const sell = paywall.protect(route, async (request) => {
    const { args, context } = calls.get(request)!;
    const result = await handler(args, context);
    return Response.json(result, { status: result.isError === true ? 500 : 200 });
  });
  return async (args, context) => {
    const meta = (context.mcpReq._meta ?? {}) as Fields;
    const request = requestOf(name, args, meta);
    calls.set(request, { args, context });
    return resultOf(name, await sell(request), meta);
  };
};
