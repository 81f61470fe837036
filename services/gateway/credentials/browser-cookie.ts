import { randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { BrowserNonce, KNOWN_BROWSER_DAYS } from '../../../shared/contract/identity/sign-in.ts';
import type { HttpOperation } from '../../../shared/contract/service.ts';
import { cookieText, hostCookieName, isOwnPage, readCookie } from './cookies.ts';

/**
 * The nonce of a browser that asks for a sign-in link.
 * Services do not see the cookie: for them the nonce is a field of the body.
 */
const NAME = 'quittance_browser';
const FIELD = 'browser_nonce';
type Fields = Record<string, unknown>;

/** The body as the service expects it, with the nonce of the page's browser. */
export const withBrowserNonce = (
  { browserCookie }: HttpOperation,
  request: FastifyRequest,
  reply: FastifyReply,
  body: Fields,
  origins: readonly string[],
): Fields => {
  if (browserCookie === undefined || !isOwnPage(request, origins)) return body;
  const name = hostCookieName(request, NAME);
  const existing = BrowserNonce.safeParse(readCookie(request, name)).data;
  if (browserCookie === 'show') return existing === undefined ? body : { ...body, [FIELD]: existing };
  // An existing nonce stays: a second link must not make the first one another browser's, and a
  // browser that has signed in is recognised by it.
  const nonce = existing ?? randomBytes(32).toString('base64url');
  void reply.header('set-cookie', cookieText(name, nonce, '/', KNOWN_BROWSER_DAYS * 86_400));
  return { ...body, [FIELD]: nonce };
};
