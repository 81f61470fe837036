import { hexHash, objectOfBase64, utf8 } from '../../checks/encoding.ts';
import { REFUSED_HEADER } from '../../pay/base/dialects.ts';
import { type PageOrder, paymentPageOf, RETURN_PARAMETER } from '../../payment-page.ts';
import type { Dialect } from '../base/dialect.ts';
import { type Incoming, isNavigation } from '../base/incoming.ts';
import type { Admission, Admit } from './admission.ts';
import { pageOf, waitingPage } from './page-html.ts';

/**
 * A 402 for people (docs/adr/0074). A browser that opens a paid address gets a page that leads to
 * the payment page of the API. That page returns to the address with the payment in a parameter.
 * The payment then moves into a cookie, and the browser to the address without it, so that it stays
 * in no history, no bookmark and no referrer.
 */

/** The longest cookie that browsers keep has 4096 characters, with its name and attributes. */
const LONGEST_PAYMENT = 3600;
const PAYMENT = /^[sxq]~[A-Za-z0-9._~-]+$/;
/** The end of the records of the paywall: after it, a payment has no stored answer. */
const COOKIE_SECONDS = 600;
/** Other characters of a path could end the attribute of the cookie. */
const PLAIN_PATH = /^\/[A-Za-z0-9\-._~%/]*$/;

/** The parameters of a target, as sent. */
const split = (target: string): { path: string; parts: string[] } => {
  const [before] = target.split('#', 1) as [string];
  const at = before.indexOf('?');
  return at < 0
    ? { path: before, parts: [] }
    : { path: before.slice(0, at), parts: before.slice(at + 1).split('&') };
};

/** The payment with which the payment page has returned, and the target without it. */
const returnedIn = (target: string): { payment: string | null; target: string } | null => {
  const { path, parts } = split(target);
  const isOurs = (part: string): boolean => part.split('=', 1)[0] === RETURN_PARAMETER;
  const found = parts.find(isOurs);
  if (found === undefined) return null;
  const rest = parts.filter((part) => !isOurs(part)).join('&');
  const payment = found.slice(RETURN_PARAMETER.length + 1);
  return {
    payment: payment.length <= LONGEST_PAYMENT && PAYMENT.test(payment) ? payment : null,
    target: rest === '' ? path : `${path}?${rest}`,
  };
};

/** Each address has its own cookie, because a payment pays for one address with its query. */
const cookieNameOf = async (target: string): Promise<string> =>
  `quittance_${(await hexHash(utf8(target))).slice(0, 16)}`;

const cookieOf = (incoming: Incoming, name: string): string | null => {
  const found = (incoming.header('cookie') ?? '')
    .split(';')
    .map((each) => each.trim())
    .find((each) => each.startsWith(`${name}=`));
  const value = found?.slice(name.length + 1);
  return value !== undefined && PAYMENT.test(value) ? value : null;
};

/** The headers by which a program presents the same payment. */
const headersOf = (payment: string): Record<string, string> => {
  const [kind, first = '', second = ''] = payment.split('~');
  switch (kind) {
    case 's':
      return { 'x-settlement-id': first, 'x-settlement-token': second };
    case 'x':
      return { 'payment-signature': first };
    default:
      return { [REFUSED_HEADER]: first };
  }
};

/** The request with the headers of a payment. */
const paying = (incoming: Incoming, payment: string): Incoming => {
  const headers = headersOf(payment);
  return { ...incoming, header: (name) => headers[name] ?? incoming.header(name) };
};

/** An answer of the paywall itself, or null: of the handler, also a stored one. */
const ownAnswer = (admission: Admission): Response | null =>
  admission.kind === 'answer' && !admission.response.headers.has('x-payment-replayed')
    ? admission.response
    : null;

type OfferBody = {
  quote_token?: unknown;
  display_amount?: unknown;
  capture?: unknown;
  details?: { reason?: unknown };
};

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** What the payment page needs: the signed quote, the offer to wallets, and the way back. */
const orderOf = (
  quote: string,
  { headers }: Response,
  { back, reason }: { back: string; reason: string | null },
): PageOrder => {
  const required = objectOfBase64(headers.get('payment-required') ?? '');
  const offers = Array.isArray(required?.accepts) ? (required.accepts as unknown[]) : [];
  return {
    quote,
    back,
    ...(offers.length > 0 && { offer: offers[0] }),
    ...(reason !== null && { reason }),
  };
};

type PagesOptions = { baseUrl: string; publicUrl: string };

const cookieAttributes = (publicUrl: string, target: string): string => {
  const { protocol, pathname } = new URL(publicUrl);
  const path = `${pathname.replace(/\/$/, '')}${split(target).path}`;
  const secure = protocol === 'https:' ? '; Secure' : '';
  // Lax, because the browser comes from the payment page, which is another site.
  return `Path=${PLAIN_PATH.test(path) ? path : '/'}; HttpOnly; SameSite=Lax${secure}`;
};

const html = (said: Response, body: string, more: Record<string, string> = {}): Response => {
  const headers = new Headers(said.headers);
  for (const [name, value] of Object.entries({
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy':
      "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
    vary: 'accept, cookie, sec-fetch-mode, sec-fetch-dest',
    ...more,
  }))
    headers.set(name, value);
  return new Response(body, { status: said.status, headers });
};

const redirect = (location: string, cookie: string | null): Response =>
  new Response(null, {
    status: 303,
    headers: {
      location,
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      ...(cookie !== null && { 'set-cookie': cookie }),
    },
  });

/** The page of a 402 with offers. Null: the answer has no quote, so there is nothing to pay. */
const pageFor = async (
  said: Response,
  { baseUrl, publicUrl }: PagesOptions,
  { target, reason, ended }: { target: string; reason: string | null; ended: string | null },
): Promise<Response | null> => {
  if (said.status !== 402) return null;
  const asked = (await said.clone().json()) as OfferBody;
  const quote = textOf(asked.quote_token);
  // A person pays a price, and not a ceiling of what a program will use.
  if (quote === null || asked.capture !== undefined) return null;
  const order = orderOf(quote, said, { back: `${publicUrl}${target}`, reason });
  const body = pageOf({
    address: paymentPageOf(baseUrl, order),
    price: textOf(asked.display_amount) ?? '',
    reason,
  });
  return html(said, body, ended === null ? {} : { 'set-cookie': ended });
};

const reasonIn = async (said: Response): Promise<string | null> =>
  textOf(((await said.clone().json()) as OfferBody).details?.reason);

/** The answer to a browser that has returned from the payment page. */
const keep = async (
  { payment, target }: { payment: string | null; target: string },
  publicUrl: string,
): Promise<Response> => {
  const attributes = cookieAttributes(publicUrl, target);
  const cookie =
    payment === null
      ? null
      : `${await cookieNameOf(target)}=${payment}; ${attributes}; Max-Age=${COOKIE_SECONDS}`;
  return redirect(`${publicUrl}${target}`, cookie);
};

/** A dialect that browsers of people meet. All other requests get the same 402 as without it. */
export const onlyInBrowsers = (dialect: Dialect): Dialect => ({
  ...dialect,
  offer: async (bill, incoming, refused) =>
    isNavigation(incoming) ? dialect.offer(bill, incoming, refused) : {},
  read: async (incoming, bill) => (isNavigation(incoming) ? dialect.read(incoming, bill) : null),
});

/** Answers browsers of people with pages. All other requests are admitted unchanged. */
export const withPages =
  (admit: Admit, options: PagesOptions): Admit =>
  async (incoming, request, route) => {
    if (!isNavigation(incoming)) return admit(incoming, request, route);
    const returned = returnedIn(incoming.target);
    if (returned !== null) return { kind: 'answer', response: await keep(returned, options.publicUrl) };
    const { target } = incoming;
    const name = await cookieNameOf(target);
    const payment = cookieOf(incoming, name);
    const admission = await admit(payment === null ? incoming : paying(incoming, payment), request, route);
    const said = ownAnswer(admission);
    if (said === null || (said.status !== 402 && said.status !== 503)) return admission;
    if (said.status === 503) {
      const seconds = Number(said.headers.get('retry-after') ?? 5);
      return { kind: 'answer', response: html(said, waitingPage(seconds, payment !== null)) };
    }
    const about = {
      target,
      reason: payment === null || payment.startsWith('q~') ? null : await reasonIn(said),
      ended: payment === null ? null : `${name}=; ${cookieAttributes(options.publicUrl, target)}; Max-Age=0`,
    };
    const page = await pageFor(said, options, about);
    if (page !== null) return { kind: 'answer', response: page };
    // The refusal has no new quote, and the browser cannot ask for one without its cookie.
    const again = payment === null ? null : ownAnswer(await admit(incoming, request, route));
    const offered = again === null ? null : await pageFor(again, options, about);
    return offered === null ? admission : { kind: 'answer', response: offered };
  };
