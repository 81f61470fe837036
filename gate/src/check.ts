import { createClient } from '../../sdk/src/client.ts';
import { displayUsdc } from '../../sdk/src/generated/usdc.ts';
import { resourceOf } from '../../sdk/src/resource.ts';
import { createTokenVerifier } from '../../sdk/src/tokens.ts';
import { isMetered } from '../../sdk/src/vendor/metered-route.ts';
import { DECLINE_HEADER } from './headers.ts';
import type { RouteSettings } from './routes.ts';
import type { Settings } from './settings.ts';

/**
 * Probes a running gate at its public address, as a buyer would. Nothing is paid.
 */

/** What was probed. `fault` null: it is as it should be. */
type Finding = { probe: string; fault: string | null };

const TIMEOUT_MS = 15_000;

/** Asks without a payment for what is not free. */
const probe = (url: string, method: string): Promise<Response> =>
  fetch(url, {
    method,
    redirect: 'manual',
    headers: { [DECLINE_HEADER]: 'no' },
    signal: AbortSignal.timeout(TIMEOUT_MS),
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

type Said = { quote_token?: unknown; details?: { reason?: unknown } };

const jsonOf = async (answer: Response): Promise<Said> => {
  try {
    return (await answer.json()) as Said;
  } catch {
    return {};
  }
};

const causeOf = (error: unknown): string => {
  const { message, cause } = error as Error;
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
};

/** Checks the 402 of a priced route. */
const checkPriced = async (
  { paywall }: Settings,
  { match, paid }: RouteSettings,
  verify: ReturnType<typeof createTokenVerifier>,
): Promise<string | null> => {
  const { method, path } = sampleOf(match);
  const url = `${paywall.publicUrl}${path}`;
  const answer = await probe(url, method);
  const said = await jsonOf(answer);
  if (answer.status !== 402) {
    const reason = typeof said.details?.reason === 'string' ? ` (${said.details.reason})` : '';
    return answer.ok
      ? `${url} answered ${answer.status} without a payment: it does not lead to this gate, or to one with other settings`
      : `${url} answered ${answer.status}${reason} and no price; the log of the gate says more`;
  }
  if (typeof said.quote_token !== 'string')
    return `${url} answered 402 without a quote of Quittance: something else asks for the payment`;
  if (!/\bno-store\b/.test(answer.headers.get('cache-control') ?? ''))
    return `${url}: a proxy has removed Cache-Control: no-store, so a cache could give one buyer's price to another`;
  const claims = await verify('quote', said.quote_token);
  if (claims.service_id !== paywall.serviceId)
    return `${url} asks for a payment to the service ${claims.service_id}, and SERVICE_ID is ${paywall.serviceId}`;
  if (claims.scope?.resource !== resourceOf(url))
    return `${url} has a quote for ${claims.scope?.resource}: buyers refuse it. PUBLIC_URL of the running gate is another one, or a proxy changes the path`;
  const expected = String(isMetered(paid!) ? paid.max : paid!.price);
  return claims.quote_amount === expected
    ? null
    : `${url} costs ${displayUsdc(claims.quote_amount)}, and the settings say ${displayUsdc(expected)}: reload the gate (SIGHUP)`;
};

/** Checks that other spellings of a path cost as much. */
const checkSpellings = async ({ paywall }: Settings, { match }: RouteSettings): Promise<string | null> => {
  const { method, path } = sampleOf(match);
  for (const spelling of [`${path}/`, `/${path}`, path.toUpperCase()]) {
    if (spelling === path) continue;
    const url = `${paywall.publicUrl}${spelling}`;
    const answer = await probe(url, method);
    await answer.body?.cancel();
    if (answer.ok) return `${url} answered ${answer.status} without a payment: name it in the routes`;
  }
  return null;
};

const found = async (probe: string, check: () => Promise<string | null>): Promise<Finding> => {
  try {
    return { probe, fault: await check() };
  } catch (error) {
    return { probe, fault: causeOf(error) };
  }
};

/** Probes every priced route. Null in `fault` for what is as it should be. */
export const checkGate = async (settings: Settings): Promise<Finding[]> => {
  const { baseUrl, serviceKey, environment } = settings.paywall;
  const client = createClient({ baseUrl, credential: serviceKey, maxRetries: 0 });
  const verify = createTokenVerifier(
    environment,
    async () => (await client.gateway.jwks({ environment })).keys,
  );
  const findings = [
    await found(`the payment API at ${baseUrl} answers`, async () => {
      await client.gateway.jwks({ environment });
      return null;
    }),
  ];
  for (const route of settings.routes.filter(({ paid }) => paid !== null)) {
    findings.push(
      await found(`${route.match} asks for its price`, () => checkPriced(settings, route, verify)),
    );
    findings.push(await found(`${route.match} has no free spelling`, () => checkSpellings(settings, route)));
  }
  return findings;
};
