import { randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { BrowserNonce, LINK_MINUTES } from '../../shared/contract/identity.sign-in.ts';
import type { HttpOperation } from '../../shared/contract/service.ts';
import { cookieText, hostCookieName, isOwnPage, readCookie } from './cookies.ts';

/**
 * The nonce of a browser that asks for a sign-in link (docs/adr/0038-sign-in-links.md).
 * Services know nothing of the cookie: for them the nonce is in the body.
 */
const NAME = 'quittance_browser';
const FIELD = 'browser_nonce';
type Fields = Record<string, unknown>;

/** The body as the service takes it, with the nonce of the page's browser in it. */
export const withBrowser = (
  { browserCookie }: HttpOperation,
  request: FastifyRequest,
  reply: FastifyReply,
  body: Fields,
  origins: readonly string[],
): Fields => {
  if (browserCookie === undefined || !isOwnPage(request, origins)) return body;
  const name = hostCookieName(request, NAME);
  const known = BrowserNonce.safeParse(readCookie(request, name)).data;
  if (browserCookie === 'show') return known === undefined ? body : { ...body, [FIELD]: known };
  // The one that it has is kept: a second link must not make the first a stranger's.
  const nonce = known ?? randomBytes(32).toString('base64url');
  void reply.header('set-cookie', cookieText(name, nonce, '/', LINK_MINUTES * 60));
  return { ...body, [FIELD]: nonce };
};
