import { ANSWER_HEADERS, boundedMap, PAYMENT_HEADERS } from '../../../sdk/src/paywall/adapter.ts';

/**
 * Which headers pass. Lists are flat, as Node reads and writes them: name, value, name, value. So
 * order, letters and repeated headers stay as they were sent.
 */
type RawHeaders = readonly string[];

/** Of one connection (RFC 9110, 7.6.1), and what older software takes for such. */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
]);

/**
 * Frameworks take these for another path or method, so that the gate would price another request
 * than the one that the upstream serves.
 */
const OF_ANOTHER_REQUEST = new Set([
  'x-forwarded-method',
  'x-forwarded-path',
  'x-forwarded-prefix',
  'x-forwarded-uri',
  'x-forwarded-url',
  'x-original-method',
  'x-original-path',
  'x-original-uri',
  'x-original-url',
  'x-rewrite-uri',
  'x-rewrite-url',
  'x-envoy-original-path',
  'x-matched-path',
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
]);

/** What proxies say of the caller. The gate says it itself. */
const isAboutCaller = (known: string): boolean =>
  known.startsWith('x-forwarded-') ||
  known === 'forwarded' ||
  known === 'x-real-ip' ||
  known === 'x-original-host';

/** Servers that map headers to variables take all but letters and digits for the same character. */
const nameOf = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '-');

const PAYMENT = new Set<string>(PAYMENT_HEADERS);
const OURS = 'quittance-';
const COOKIE = 'quittance_';
const MOST_NAMES = 1000;
const LONGEST_NAME = 64;

const NO_NAMES: ReadonlySet<string> = new Set();
/** What Connection says of itself, which names no header. */
const OF_ITSELF = new Set(['keep-alive', 'close', 'Keep-Alive', 'Close']);

/** The names that a Connection header reserves for this connection. */
const nominatedIn = (headers: RawHeaders): ReadonlySet<string> => {
  let names: Set<string> | undefined;
  for (let at = 0; at < headers.length; at += 2)
    if (
      headers[at]!.length === 10 &&
      headers[at]!.toLowerCase() === 'connection' &&
      !OF_ITSELF.has(headers[at + 1]!)
    ) {
      names ??= new Set();
      for (const name of headers[at + 1]!.split(',')) names.add(nameOf(name.trim()));
    }
  return names ?? NO_NAMES;
};

/** The credentials of an Authorization header without those of the scheme `Payment`. */
const withoutPayment = (value: string): string =>
  /\bpayment\b/i.test(value)
    ? value
        .split(',')
        .filter((each) => !/^\s*payment(\s|$)/i.test(each))
        .join(',')
        .trim()
    : value;

/** The cookies of a request without the payments that the paywall keeps in some. */
const withoutPayments = (value: string): string =>
  value.includes(COOKIE)
    ? value
        .split(';')
        .filter((each) => !each.trimStart().startsWith(COOKIE))
        .join(';')
        .trim()
    : value;

/** The same few names come with every message. */
const remembering = <T>(of: (name: string) => T) => {
  const seen = boundedMap<{ value: T }>(MOST_NAMES);
  return (name: string): T => {
    const found = seen.get(name);
    if (found !== undefined) return found.value;
    const value = of(name);
    if (name.length <= LONGEST_NAME) seen.set(name, { value });
    return value;
  };
};

type Kind = 'passes' | 'dropped' | 'authorization' | 'cookie' | 'host';

const kindOf = (known: string): Kind => {
  if (known === 'authorization' || known === 'cookie' || known === 'host') return known;
  const isDropped =
    HOP_BY_HOP.has(known) ||
    OF_ANOTHER_REQUEST.has(known) ||
    isAboutCaller(known) ||
    // The gate says itself how long the body is.
    known === 'expect' ||
    known === 'content-length';
  return isDropped || PAYMENT.has(known) || known.startsWith(OURS) ? 'dropped' : 'passes';
};

const classOf = remembering((name) => {
  const known = nameOf(name);
  return { known, kind: kindOf(known) };
});

/**
 * The headers of a request that the upstream gets, without those that the gate adds.
 * @param host the Host of the upstream. Null: none, as in trailers
 */
export const requestHeaders = (headers: RawHeaders, host: string | null): string[] => {
  const nominated = nominatedIn(headers);
  const passed: string[] = [];
  let isNamed = host === null;
  for (let at = 0; at < headers.length; at += 2) {
    const [name, value] = [headers[at]!, headers[at + 1]!];
    const { known, kind } = classOf(name);
    if (kind === 'dropped') continue;
    if (kind === 'host') {
      if (!isNamed) passed.push(name, host!);
      isNamed = true;
      continue;
    }
    if (nominated.size > 0 && nominated.has(known)) continue;
    if (kind === 'passes') {
      passed.push(name, value);
      continue;
    }
    const kept = kind === 'cookie' ? withoutPayments(value) : withoutPayment(value);
    if (kept !== '') passed.push(name, kept);
  }
  return isNamed ? passed : ['Host', host!, ...passed];
};

/** What a proxy says when it asks about a request. */
const OF_A_QUESTION = new Set(['x-forwarded-method', 'x-forwarded-uri']);
/** With `no` a caller asks for the price, also while free calls are left. */
export const DECLINE_HEADER = 'quittance-free';

const isUnremovable = remembering((name): boolean => {
  const known = nameOf(name);
  if (known.startsWith(OURS) && known !== DECLINE_HEADER) return true;
  const isCanonical = name.toLowerCase() === known;
  if (OF_ANOTHER_REQUEST.has(known)) return !(isCanonical && OF_A_QUESTION.has(known));
  return !isCanonical && kindOf(known) === 'dropped';
});

/**
 * True if a request has a header that the gate removes, and that the proxy which asks about it
 * would pass on to its upstream.
 */
export const hasUnremovable = (headers: RawHeaders): boolean =>
  headers.some((name, at) => at % 2 === 0 && isUnremovable(name));

/** A flat list in pairs, as Node takes trailers. */
const pairsOf = (headers: RawHeaders): [string, string][] =>
  Array.from({ length: headers.length / 2 }, (_, at) => [headers[at * 2]!, headers[at * 2 + 1]!]);

/** The trailers of a request that the upstream gets. A server may join them with the headers. */
export const requestTrailers = (trailers: RawHeaders): [string, string][] =>
  pairsOf(requestHeaders(trailers, null));

/**
 * Shared caches obey these. One of them would deliver paid content for free. Of those for nginx the
 * others steer no cache.
 */
const isOfCaches = (known: string): boolean =>
  known.endsWith('cache-control') ||
  ['expires', 'surrogate-control', 'edge-control', 'x-accel-expires'].includes(known);

/** True for a value that keeps an answer out of shared caches: one directive for all of it. */
const isForOneOnly = (value: string): boolean =>
  value.split(',').some((each) => ['private', 'no-store'].includes(each.trim().toLowerCase()));

const ANSWER = new Set<string>(ANSWER_HEADERS);
type AnswerKind = 'passes' | 'dropped' | 'cache' | 'cookie' | 'challenge';

const answerKindOf = remembering((name): { known: string; kind: AnswerKind } => {
  const known = nameOf(name);
  if (known === 'set-cookie') return { known, kind: 'cookie' };
  if (known === 'www-authenticate') return { known, kind: 'challenge' };
  if (isOfCaches(known)) return { known, kind: 'cache' };
  const isDropped = HOP_BY_HOP.has(known) || ANSWER.has(known) || known.startsWith(OURS);
  return { known, kind: isDropped ? 'dropped' : 'passes' };
});

/**
 * True for a header with which an upstream would speak for the gate: about a payment, or to a
 * shared cache about a paid answer.
 */
const isOfTheGate = (kind: AnswerKind, value: string, isPaid: boolean): boolean => {
  switch (kind) {
    case 'dropped':
      return true;
    case 'cache':
      return isPaid && !isForOneOnly(value);
    case 'cookie':
      return value.trimStart().startsWith(COOKIE);
    case 'challenge':
      return /(^|,)\s*payment(\s|$)/i.test(value);
    default:
      return false;
  }
};

/**
 * The headers of an answer that the caller gets, without those that only the gate may say.
 * @param isPaid what a shared cache could store is left out
 */
export const answerHeaders = (headers: RawHeaders, isPaid: boolean): string[] => {
  const nominated = nominatedIn(headers);
  const passed: string[] = [];
  for (let at = 0; at < headers.length; at += 2) {
    const [name, value] = [headers[at]!, headers[at + 1]!];
    const { known, kind } = answerKindOf(name);
    if (isOfTheGate(kind, value, isPaid) || nominated.has(known)) continue;
    passed.push(name, value);
  }
  return passed;
};

/** The trailers of an answer that the caller gets. */
export const answerTrailers = (trailers: RawHeaders): [string, string][] =>
  pairsOf(answerHeaders(trailers, false));

/** True if a request presents a payment of any protocol. */
export const presentsPayment = (headers: Readonly<Record<string, string | string[] | undefined>>): boolean =>
  headers['x-settlement-id'] !== undefined ||
  headers['payment-signature'] !== undefined ||
  headers['x-payment'] !== undefined ||
  headers['payment-authorization'] !== undefined ||
  /\bpayment\b/i.test(String(headers.authorization ?? '')) ||
  String(headers.cookie ?? '').includes(COOKIE);
