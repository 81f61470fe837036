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

/** The names that a Connection header reserves for this connection. */
const nominatedIn = (headers: RawHeaders): ReadonlySet<string> => {
  const names = new Set<string>();
  for (let at = 0; at < headers.length; at += 2)
    if (headers[at]!.length === 10 && headers[at]!.toLowerCase() === 'connection')
      for (const name of headers[at + 1]!.split(',')) names.add(name.trim().toLowerCase());
  return names;
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

/** The headers of a request that the upstream gets, without those that the gate adds. */
export const requestHeaders = (headers: RawHeaders): string[] => {
  const nominated = nominatedIn(headers);
  const passed: string[] = [];
  for (let at = 0; at < headers.length; at += 2) {
    const [name, value] = [headers[at]!, headers[at + 1]!];
    const known = nameOf(name);
    if (HOP_BY_HOP.has(known) || OF_THE_GATE.has(known)) continue;
    // A caller who reserves Host for the connection must not take it from the upstream.
    if (nominated.has(known) && known !== 'host') continue;
    // The gate says itself how long the body is.
    if (known === 'expect' || known === 'content-length' || PAYMENT.has(known) || known.startsWith(OURS))
      continue;
    const kept =
      known === 'authorization' ? withoutPayment(value) : known === 'cookie' ? withoutPayments(value) : value;
    if (kept !== '' || value === '') passed.push(name, kept);
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
  /\bpayment\b/i.test(String(headers.authorization ?? '')) ||
  String(headers.cookie ?? '').includes(COOKIE);
