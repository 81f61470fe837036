import http, { type IncomingHttpHeaders } from 'node:http';
import https from 'node:https';
import { createClient } from '../../../sdk/src/main.ts';
import {
  createTokenVerifier,
  displayUsdc,
  isMetered,
  meteredBillOf,
  resourceOf,
  TRIAL_HEADER,
  unpayingOf,
} from '../../../sdk/src/paywall/adapter.ts';
import { DECLINE_HEADER } from '../calls/headers.ts';
import { createRouter, type Router, type RouteSettings, routeOf } from '../ground/routes.ts';
import type { Settings } from '../settings/settings.ts';

/**
 * Probes a running gate at its public address, as a buyer would. Nothing is paid, and the quotes do
 * not count in the vendor's conversion.
 */

/** What was probed. `fault` null: it is as it should be. */
type Finding = { probe: string; fault: string | null };

const TIMEOUT_MS = 15_000;

type Said = { quote_token?: unknown; details?: { reason?: unknown } };

const jsonOf = (text: string): Said => {
  try {
    return (JSON.parse(text) as Said | null) ?? {};
  } catch {
    return {};
  }
};

type Answer = { status: number; headers: IncomingHttpHeaders; body: Said };

const MOST_BYTES = 100_000;

/** Asks without a payment for what is not free. A fetch would not send the path as it is. */
const probe = (base: string, method: string, path: string): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const { protocol, hostname, port, pathname } = new URL(base);
    const { request } = protocol === 'https:' ? https : http;
    const sent = request(
      {
        hostname: hostname.replace(/^\[|\]$/g, ''),
        port,
        method,
        path: `${pathname.replace(/\/$/, '')}${path}`,
        headers: { [DECLINE_HEADER]: 'no', [TRIAL_HEADER]: 'yes' },
        timeout: TIMEOUT_MS,
      },
      (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (part: string) => {
          if (text.length < MOST_BYTES) text += part;
        });
        answer.once('error', reject).once('end', () => {
          resolve({ status: answer.statusCode!, headers: answer.headers, body: jsonOf(text) });
        });
      },
    );
    sent.once('error', reject).once('timeout', () => sent.destroy(new Error('no answer in time')));
    sent.end();
  });

/** A path that a match matches: `GET,POST /reports/:city` → `/reports/check`. */
const sampleOf = (match: string): { method: string; path: string } => {
  const [methods, pattern] = match.split(' ') as [string, string];
  const method = methods === '*' ? 'GET' : methods.split(',')[0]!;
  const parts = pattern
    .split('/')
    .map((part) => (part.startsWith(':') || part.startsWith('*') ? 'check' : part));
  return { method, path: parts.join('/') };
};

const causeOf = (error: unknown): string => {
  const { message, cause } = error as Error;
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
};

/** What a check asks, and what it compares the answers with. */
type Checking = {
  settings: Settings;
  verify: ReturnType<typeof createTokenVerifier>;
  router: Router;
};

const priceOf = ({ paid }: RouteSettings): string => String(isMetered(paid!) ? paid.max : paid!.price);

/** Why the use of a metered route can pay nothing, or null. */
const unpaidFault = (
  { paid }: RouteSettings,
  url: string,
  capture: { fee: { min: string } } | undefined,
): string | null => {
  if (capture === undefined || !isMetered(paid!)) return null;
  const said = unpayingOf(meteredBillOf(paid, null as never), BigInt(capture.fee.min));
  return said === null ? null : `${url}: ${said}`;
};

/** What is wrong with the price in a 402, or null. */
const priceFault = async (
  { settings: { paywall }, verify }: Checking,
  route: RouteSettings,
  url: string,
  said: Said,
): Promise<string | null> => {
  if (typeof said.quote_token !== 'string')
    return `${url} answered 402 without a quote of Quittance: something else asks for the payment`;
  const claims = await verify('quote', said.quote_token);
  if (claims.service_id !== paywall.serviceId)
    return `${url} asks for a payment to the service ${claims.service_id}, and SERVICE_ID is ${paywall.serviceId}`;
  const expected = priceOf(route);
  if (claims.quote_amount === expected) return unpaidFault(route, url, claims.capture);
  return `${url} costs ${displayUsdc(claims.quote_amount)}, and the settings say ${displayUsdc(expected)}: reload the gate (SIGHUP)`;
};

/** Checks the 402 of a priced route. */
const checkPriced = async (checking: Checking, route: RouteSettings): Promise<string | null> => {
  const { paywall } = checking.settings;
  const { method, path } = sampleOf(route.match);
  const url = `${paywall.publicUrl}${path}`;
  const { status, headers, body } = await probe(paywall.publicUrl, method, path);
  if (status !== 402) {
    const reason = typeof body.details?.reason === 'string' ? ` (${body.details.reason})` : '';
    return status < 300
      ? `${url} answered ${status} without a payment: it does not lead to this gate, or to one with other settings`
      : `${url} answered ${status}${reason} and no price; the log of the gate says more`;
  }
  if (!/\bno-store\b/.test(headers['cache-control'] ?? ''))
    return `${url}: a proxy has removed Cache-Control: no-store, so a cache could give one buyer's price to another`;
  const fault = await priceFault(checking, route, url, body);
  if (fault !== null) return fault;
  const { scope } = await checking.verify('quote', String(body.quote_token));
  return scope?.resource === resourceOf(url)
    ? null
    : `${url} has a quote for ${scope?.resource}: buyers refuse it. PUBLIC_URL of the running gate is another one, or a proxy changes the path`;
};

/** Other forms in which servers read a path as the same one. */
const spellingsOf = (path: string): string[] => {
  const [, first = 'x', rest = ''] = /^\/(.)?(.*)$/.exec(path)!;
  const code = first.charCodeAt(0).toString(16);
  return [
    `${path}/`,
    `/${path}`,
    `/.${path}`,
    `/x/..${path}`,
    `/x/%2e%2e${path}`,
    `/x%2f%2e%2e${path}`,
    `/x%5cy/%2e%2e${path}`,
    `${path}//..`,
    `${path};a`,
    `${path}.`,
    `${path}%20`,
    `${path}%00`,
    `/%${code}${rest}`,
    `/%25${code}${rest}`,
    `\\${path.slice(1)}`,
    path.toUpperCase(),
  ].filter((each) => each !== path);
};

/**
 * Checks that a request which is the same for some servers costs as much, or is refused.
 * @param wanted methods and paths
 */
const checkRefused = async (
  checking: Checking,
  route: RouteSettings,
  wanted: readonly (readonly [string, string])[],
): Promise<string | null> => {
  const { publicUrl } = checking.settings.paywall;
  for (const [method, path] of wanted) {
    const found = checking.router({ method, path, isPreflight: false });
    // The settings say what it is.
    if (found.kind === 'found' && found.route?.match !== route.match) continue;
    const url = `${method} ${publicUrl}${path}`;
    const { status, body } = await probe(publicUrl, method, path);
    if (status < 300)
      return `${url} answered ${status} without a payment: it does not lead to this gate, or to one with other settings`;
    const fault = status === 402 && method !== 'HEAD' ? await priceFault(checking, route, url, body) : null;
    if (fault !== null) return fault;
  }
  return null;
};

/** Methods that change the least where nothing refuses them. */
const OTHER_METHODS = ['HEAD', 'OPTIONS', 'QUERY', 'POST', 'PUT', 'PATCH'];

const found = async (probe: string, check: () => Promise<string | null>): Promise<Finding> => {
  try {
    return { probe, fault: await check() };
  } catch (error) {
    return { probe, fault: causeOf(error) };
  }
};

/** Probes a priced route. The rest is not asked if its own address does not lead to the gate. */
const findingsOf = async (checking: Checking, route: RouteSettings): Promise<Finding[]> => {
  const { method, path } = sampleOf(route.match);
  const priced = await found(`${route.match} asks for its price`, () => checkPriced(checking, route));
  if (priced.fault !== null) return [priced];
  const spellings = spellingsOf(path).map((each) => [method, each] as const);
  const methods = OTHER_METHODS.map((each) => [each, path] as const);
  return [
    priced,
    await found(`${route.match} has no cheaper spelling`, () => checkRefused(checking, route, spellings)),
    await found(`${route.match} has no cheaper method`, () => checkRefused(checking, route, methods)),
  ];
};

/** Probes every priced route. Null in `fault` for what is as it should be. */
export const checkGate = async (settings: Settings): Promise<Finding[]> => {
  const { baseUrl, serviceKey, environment } = settings.paywall;
  const client = createClient({ baseUrl, credential: serviceKey, maxRetries: 0 });
  const publishedKeys = async () => (await client.gateway.jwks({ environment })).keys;
  const checking = {
    settings,
    verify: createTokenVerifier(environment, publishedKeys),
    router: createRouter(settings.routes.map(routeOf), settings.passesUnmatched),
  };
  const findings = [
    await found(`the payment API at ${baseUrl} answers`, async () => {
      await publishedKeys();
      return null;
    }),
  ];
  for (const route of settings.routes.filter(({ paid }) => paid !== null))
    findings.push(...(await findingsOf(checking, route)));
  return findings;
};
