import { boundedMap } from '../../sdk/src/bounded-map.ts';
import { PAYMENT_HEADERS } from '../../sdk/src/pay/dialects.ts';

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
 * What a caller must not say to the upstream. The gate sets the first ones itself. The rest
 * replaces path or method in some frameworks, so that the gate would price another request than the
 * one that the upstream serves.
 */
const OF_THE_GATE = new Set([
  'forwarded',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-forwarded-prefix',
  'x-original-url',
  'x-original-uri',
  'x-rewrite-url',
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
]);

/** Where a server maps headers to variables, `_` and `-` are the same letter. */
const nameOf = (name: string): string => name.toLowerCase().replaceAll('_', '-');

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
      for (const name of headers[at + 1]!.split(',')) names.add(name.trim().toLowerCase());
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

type Kind = 'passes' | 'dropped' | 'authorization' | 'cookie';

const kindOf = (known: string): Kind => {
  if (known === 'authorization' || known === 'cookie') return known;
  // The gate says itself how long the body is.
  const isDropped =
    HOP_BY_HOP.has(known) || OF_THE_GATE.has(known) || known === 'expect' || known === 'content-length';
  return isDropped || PAYMENT.has(known) || known.startsWith(OURS) ? 'dropped' : 'passes';
};

/** The same few names come with every request. */
const kinds = boundedMap<{ known: string; kind: Kind }>(MOST_NAMES);
const classOf = (name: string): { known: string; kind: Kind } => {
  const found = kinds.get(name);
  if (found !== undefined) return found;
  const known = nameOf(name);
  const fresh = { known, kind: kindOf(known) };
  if (name.length <= LONGEST_NAME) kinds.set(name, fresh);
  return fresh;
};

/** The headers of a request that the upstream gets, without those that the gate adds. */
export const requestHeaders = (headers: RawHeaders): string[] => {
  const nominated = nominatedIn(headers);
  const passed: string[] = [];
  for (let at = 0; at < headers.length; at += 2) {
    const [name, value] = [headers[at]!, headers[at + 1]!];
    const { known, kind } = classOf(name);
    if (kind === 'dropped') continue;
    // A caller who reserves Host for the connection must not take it from the upstream.
    if (nominated.size > 0 && nominated.has(known) && known !== 'host') continue;
    if (kind === 'passes') {
      passed.push(name, value);
      continue;
    }
    const kept = kind === 'cookie' ? withoutPayments(value) : withoutPayment(value);
    if (kept !== '') passed.push(name, kept);
  }
  return passed;
};

/** A flat list in pairs, as Node takes trailers. */
const pairsOf = (headers: RawHeaders): [string, string][] =>
  Array.from({ length: headers.length / 2 }, (_, at) => [headers[at * 2]!, headers[at * 2 + 1]!]);

/** The trailers of a request that the upstream gets. A server may join them with the headers. */
export const requestTrailers = (trailers: RawHeaders): [string, string][] =>
  pairsOf(requestHeaders(trailers));

/** Shared caches obey these. One of them would deliver paid content for free. */
const OF_CACHES = new Set(['cache-control', 'expires', 'cdn-cache-control', 'surrogate-control']);

/**
 * The headers of an answer that the caller gets.
 * @param isPaid what a shared cache could store is left out
 */
export const answerHeaders = (headers: RawHeaders, isPaid: boolean): string[] => {
  const nominated = nominatedIn(headers);
  const passed: string[] = [];
  for (let at = 0; at < headers.length; at += 2) {
    const [name, value] = [headers[at]!, headers[at + 1]!];
    const known = name.toLowerCase();
    if (HOP_BY_HOP.has(known) || nominated.has(known)) continue;
    if (isPaid && OF_CACHES.has(known) && !/\b(private|no-store)\b/i.test(value)) continue;
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
