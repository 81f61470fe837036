import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../../../shared/contract/errors.ts';
import { identity } from '../../../shared/contract/index.ts';
import type { HttpOperation } from '../../../shared/contract/service.ts';
import { cookieText, hostCookieName, isOwnPage, readCookie } from './cookies.ts';

/**
 * The refresh token of a page in a cookie that no script can read (docs/spec/decisions.md,
 * Sign-in): HttpOnly, Secure, SameSite=Strict, sent to the refresh path only. SameSite allows other
 * pages of the same site, so the Origin must also be one of the gateway's. Services do not see the
 * cookie: for them the token is a field of the body.
 *
 * A neighbouring host can plant a cookie for that path, and with it the sign-in of another account.
 * So a second cookie, which no neighbour can plant, holds the hash of the token. The token is
 * accepted only with that proof.
 */
type Fields = Record<string, unknown>;

const FIELD = 'refresh_token';
const PATH = identity.operations.refresh.http.path;
/** The longest lifetime of a session. Identity refuses the token of one that ends earlier. */
const MAX_AGE_SECONDS = 30 * 24 * 3600;

const tokenName = (environment: string): string => `quittance_refresh_${environment}`;
const proofName = (request: FastifyRequest, environment: string): string =>
  hostCookieName(request, `quittance_refresh_proof_${environment}`);
const proofOf = (token: string): string => createHash('sha256').update(token).digest('base64url');

const setCookies = (
  request: FastifyRequest,
  reply: FastifyReply,
  environment: string,
  token: string,
): void => {
  const maxAgeSeconds = token === '' ? 0 : MAX_AGE_SECONDS;
  const proof = token === '' ? '' : proofOf(token);
  void reply.header('set-cookie', [
    cookieText(tokenName(environment), token, PATH, maxAgeSeconds),
    cookieText(proofName(request, environment), proof, '/', maxAgeSeconds),
  ]);
};

/** The token of the cookie. Null without one, and for one that this host has not set. */
const tokenOf = (request: FastifyRequest, environment: string): string | null => {
  const token = readCookie(request, tokenName(environment));
  return token !== null && readCookie(request, proofName(request, environment)) === proofOf(token)
    ? token
    : null;
};

const wantsCookie = ({ refreshCookie }: HttpOperation, body: Fields): boolean =>
  (refreshCookie === 'give' && body.refresh_in === 'cookie') ||
  (refreshCookie === 'exchange' && body[FIELD] === undefined);

/**
 * The body as the service expects it, with the token of the cookie where the call uses it.
 * @throws ServiceError forbidden for a foreign page, unauthorized without a cookie
 */
export const withRefreshToken = (
  operation: HttpOperation,
  request: FastifyRequest,
  body: Fields,
  origins: readonly string[],
): Fields => {
  if (!wantsCookie(operation, body)) return body;
  if (!isOwnPage(request, origins))
    throw new ServiceError(
      'forbidden',
      'the refresh cookie is only for pages of the origins of this gateway; send the refresh token in the body',
    );
  if (operation.refreshCookie === 'give') return body;
  const environment = body.environment === 'live' ? 'live' : 'test';
  const token = tokenOf(request, environment);
  if (token === null)
    throw new ServiceError('unauthorized', 'there is no valid refresh token; sign in again');
  return { ...body, [FIELD]: token };
};

/**
 * The answer as the page gets it: the token moves from the body into the cookie if the call wants
 * that.
 */
export const moveTokenIntoCookie = (
  operation: HttpOperation,
  sent: Fields,
  environment: string,
  answer: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): unknown => {
  if (operation.refreshCookie === 'clear') setCookies(request, reply, environment, '');
  if (!wantsCookie(operation, sent)) return answer;
  const { [FIELD]: token, ...rest } = answer as Fields;
  setCookies(request, reply, environment, String(token));
  return rest;
};
