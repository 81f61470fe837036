import { base64Url, jsonBase64, objectOfBase64, objectOr, sortedJson, utf8 } from '../checks/encoding.ts';
import { resourceOf } from '../checks/resource.ts';
import type { Fetch } from '../transport.ts';
import { type PayInit, type PayOptions, payingFetch, type Receipt, receiptOf } from './main.ts';

/**
 * Buys the tools of MCP servers that cost money: in the form of x402, of MPP, and in ours. A call
 * of a tool becomes a request of `payingFetch`, so that its rules, records and errors are the same.
 */

type Fields = Record<string, unknown>;
/** A call of a tool, as clients of MCP take it. */
export type ToolCall = { name: string; arguments?: Fields; _meta?: Fields };
/** The part of a tool's result that a payment concerns. */
export type ToolResult = {
  isError?: boolean | undefined;
  structuredContent?: unknown;
  content?: unknown;
  _meta?: Fields | undefined;
};

type ToolPayOptions = PayOptions & {
  /**
   * The address of the MCP server: what the payments are for, and what `allow.origins` and the
   * key's origins are compared with. For a server without one any address that names it.
   */
  serverUrl: string;
  /** For the calls of the API. Default: the global one. */
  fetch?: Fetch;
};
/** The payment of one call: its key, its limit, its approval and its signal. */
export type ToolPayInit = Pick<PayInit, 'paymentKey' | 'maxAmount' | 'approve'> & { signal?: AbortSignal };
/**
 * A result, and what was paid for it. Null: nothing. `isUnpaid`: it is a price that this client
 * does not pay, for instance in another currency.
 */
export type PaidResult<Result> = { result: Result; receipt: Receipt | null; isUnpaid: boolean };

/** The names in `_meta`. */
const X402 = { payment: 'x402/payment', response: 'x402/payment-response' } as const;
const OWN = { payment: 'quittance/settlement', required: 'quittance/payment-required' } as const;
const MPP = {
  payment: 'org.paymentauth/credential',
  required: 'org.paymentauth/payment-required',
  response: 'org.paymentauth/receipt',
} as const;
/** Codes of JSON-RPC errors with challenges of MPP: payment required, and verification failed. */
const MPP_CODES = new Set<unknown>([-32042, -32043]);

/** Names a call inside of this process. No server gets it. */
const CALL_HEADER = 'x-tool-call';

/** PaymentRequired of x402 in a result, as data or as text. */
const x402In = ({ structuredContent, content }: ToolResult): Fields | null => {
  const [first] = Array.isArray(content) ? content : [];
  const text = objectOr(first)?.text;
  const parse = (): Fields | null => {
    try {
      return typeof text === 'string' ? objectOr(JSON.parse(text)) : null;
    } catch {
      return null;
    }
  };
  const isRequired = (value: Fields | null) =>
    typeof value?.x402Version === 'number' && Array.isArray(value.accepts);
  const found = [objectOr(structuredContent), parse()].find(isRequired);
  return found ?? null;
};

const quoted = (text: string): string => `"${text.replace(/[\\"]/g, (each) => `\\${each}`)}"`;
/** Characters that no header may have, in the form of the packages of MPP. */
const inHeader = (text: string): string =>
  text.replace(/[^\x20-\x7e]/g, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** A challenge of MPP as a header has it. MCP has its request as an object. Null: none. */
const challengeHeader = (challenge: unknown): string | null => {
  const { request, meta: _meta, ...parameters } = objectOr(challenge) ?? {};
  if (objectOr(request) === null) return null;
  try {
    const text = base64Url(utf8(sortedJson(request)));
    const all = Object.entries({ ...parameters, request: text }).filter(
      ([, value]) => typeof value === 'string',
    );
    return `Payment ${all.map(([name, value]) => `${name}=${inHeader(quoted(value as string))}`).join(', ')}`;
  } catch {
    // Nested more deeply than a call stack.
    return null;
  }
};

/** What MPP asks for: its challenges as headers, and why a payment was refused. */
type MppAsked = { challenges: string[]; problem: Fields | null };
const mppIn = (required: unknown): MppAsked => {
  const { challenges, problem } = objectOr(required) ?? {};
  const texts = (Array.isArray(challenges) ? challenges : []).map(challengeHeader);
  return { challenges: texts.filter((each) => each !== null), problem: objectOr(problem) };
};

/** The 402 of a result or an error that asks for a payment. Null: it does not. */
const billOf = (
  { x402, own, mpp }: { x402: Fields | null; own: Fields | null; mpp: MppAsked },
  result: ToolResult | null,
): Response | null => {
  const { challenges, problem } = mpp;
  if (x402 === null && own === null && challenges.length === 0) return null;
  const isV1 = x402?.x402Version === 1;
  return new Response(JSON.stringify({ ...problem, ...(isV1 ? x402 : {}), ...own, result }), {
    status: 402,
    headers: {
      ...(x402 === null || isV1 ? {} : { 'payment-required': jsonBase64(x402) }),
      ...(challenges.length === 0 ? {} : { 'www-authenticate': challenges.join(', ') }),
      ...(problem === null ? {} : { 'content-type': 'application/problem+json' }),
    },
  });
};

/** The answer that a result is. After a payment, a failure without a receipt is no delivery yet. */
const responseOf = (result: ToolResult, isPaid: boolean): Response => {
  const meta = objectOr(result._meta) ?? {};
  const own = objectOr(meta[OWN.required]);
  const mpp = mppIn(meta[MPP.required]);
  const bill = billOf({ x402: result.isError === true ? x402In(result) : null, own, mpp }, result);
  if (bill !== null) return bill;
  const [x402Receipt, mppReceipt] = [objectOr(meta[X402.response]), objectOr(meta[MPP.response])];
  const isOpen = isPaid && result.isError === true && x402Receipt === null && mppReceipt === null;
  return new Response(JSON.stringify(result), {
    status: isOpen ? 503 : 200,
    headers: {
      ...(x402Receipt === null
        ? {}
        : { 'payment-response': jsonBase64(x402Receipt), 'x-payment-response': jsonBase64(x402Receipt) }),
      ...(mppReceipt === null ? {} : { 'payment-receipt': base64Url(utf8(JSON.stringify(mppReceipt))) }),
    },
  });
};

/** The 402 of an error with challenges of MPP. Null: another error. */
const billOfError = (error: unknown): Response | null => {
  const { code, data } = (error ?? {}) as { code?: unknown; data?: unknown };
  return MPP_CODES.has(code) ? billOf({ x402: null, own: null, mpp: mppIn(data) }, null) : null;
};

/** A credential of MPP, whose request MCP has as an object. */
const credentialIn = (header: string): Fields | null => {
  const credential = objectOfBase64(header.replace(/^Payment /, ''));
  const challenge = objectOr(credential?.challenge);
  if (challenge === null || typeof challenge.request !== 'string') return null;
  return { ...credential, challenge: { ...challenge, request: objectOfBase64(challenge.request) } };
};

/** The payment of a request as a call has it. */
const paymentIn = (headers: Headers): Fields => {
  const x402 = headers.get('payment-signature') ?? headers.get('x-payment');
  if (x402 !== null) return { [X402.payment]: objectOfBase64(x402) };
  const mpp = headers.get('payment-authorization') ?? headers.get('authorization');
  if (mpp !== null) return { [MPP.payment]: credentialIn(mpp) };
  const [settlement_id, settlement_token] = ['x-settlement-id', 'x-settlement-token'].map((name) =>
    headers.get(name),
  );
  return settlement_id ? { [OWN.payment]: { settlement_id, settlement_token } } : {};
};

/**
 * Makes a function that calls the tools of one MCP server, and pays those that cost money.
 * `callTool` calls a tool, for instance `(call) => client.callTool(call)`. The same call with the
 * same key presents the same payment again, and pays once.
 *
 * @throws what `payingFetch` throws, and what `callTool` throws
 */
export const payingTools = <Result extends ToolResult>(
  callTool: (call: ToolCall) => Promise<Result>,
  { serverUrl, fetch: plain = (url, init) => fetch(url, init), ...options }: ToolPayOptions,
): ((call: ToolCall, init?: ToolPayInit) => Promise<PaidResult<Result>>) => {
  if (typeof callTool !== 'function') throw new TypeError('payingTools: the first argument must call a tool');
  if (!/^https?:\/\//i.test(serverUrl ?? '') || !URL.canParse(serverUrl))
    throw new TypeError('serverUrl: use an address with its scheme, like https://api.example.com/mcp');
  const server = resourceOf(serverUrl);
  const calls = new Map<string, { call: ToolCall; error?: unknown }>();

  const toolFetch: Fetch = async (url, init) => {
    const headers = new Headers(init?.headers);
    const entry = calls.get(headers.get(CALL_HEADER) ?? '');
    if (entry === undefined) return plain(url, init);
    const { call } = entry;
    const payment = paymentIn(headers);
    try {
      const result = await callTool({ ...call, _meta: { ...call._meta, ...payment } });
      return responseOf(result, Object.keys(payment).length > 0);
    } catch (error) {
      const bill = billOfError(error);
      if (bill === null) throw error;
      entry.error = error;
      return bill;
    }
  };
  const pay = payingFetch(toolFetch, options);

  return async (call, init = {}) => {
    const id = crypto.randomUUID();
    const entry: { call: ToolCall; error?: unknown } = { call };
    calls.set(id, entry);
    try {
      const { name, arguments: args = {} } = call;
      // A vendor that uses our SDK sells its tools under this address.
      const url = `${new URL(server).origin}/mcp/tools/${encodeURIComponent(name)}`;
      const response = await pay(url, {
        ...init,
        method: 'POST',
        headers: { [CALL_HEADER]: id },
        body: sortedJson({ server, name, arguments: args }),
      });
      const answer = (await response.json()) as Result & { result?: Result | null };
      if (response.status !== 402) return { result: answer, receipt: receiptOf(response), isUnpaid: false };
      // A price that this client does not pay is the caller's to read.
      if (answer.result) return { result: answer.result, receipt: null, isUnpaid: true };
      throw entry.error ?? new Error(`The tool ${name} asks for a payment that this client does not make.`);
    } finally {
      calls.delete(id);
    }
  };
};
