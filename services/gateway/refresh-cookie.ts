import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../../shared/contract/errors.ts';
import { identity } from '../../shared/contract/index.ts';
import type { HttpOperation } from '../../shared/contract/service.ts';
import { cookieText, hostCookieName, isOwnPage, readCookie } from './cookies.ts';

/**
 * The refresh token of a page in a cookie that no script can read (docs/spec/decisions.md,
 * Sign-in): HttpOnly, Secure, SameSite=Strict, sent to the refresh path alone. Besides SameSite,
 * which lets other pages of the same site through, the Origin must be one of ours. Services know
 * nothing of it: for them the token is in the body.
 *
 * A neighbouring host can plant a cookie of that path, and with it the sign-in of another account. So a second cookie, which
 * no neighbour can plant, holds the token's hash, and the token counts only beside it.
 */
type Fields = Record<string, unknown>;

const FIELD = 'refresh_token';
const PATH = identity.operations.refresh.http.path;
/** As long as a sign-in can last; when it ends sooner, identity says so. */
const MAX_AGE_SECONDS = 30 * 24 * 3600;

const tokenName = (environment: string): string => `quittance_refresh_${environment}`;
const proofName = (request: FastifyRequest, environment: string): string =>
  hostCookieName(request, `quittance_refresh_proof_${environment}`);
const proofOf = (token: string): string => createHash('sha256').update(token).digest('base64url');

const keep = (request: FastifyRequest, reply: FastifyReply, environment: string, token: string): void => {
  const maxAge = token === '' ? 0 : MAX_AGE_SECONDS;
  const proof = token === '' ? '' : proofOf(token);
  void reply.header('set-cookie', [
    cookieText(tokenName(environment), token, PATH, maxAge),
    cookieText(proofName(request, environment), proof, '/', maxAge),
  ]);
};

/** The token of the cookie; null where there is none, or none that this host has put there. */
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
 * The body as the service takes it, with the cookie's token in it where the call means that one.
 * @throws ServiceError forbidden for a foreign page, unauthorized without a cookie
 */
export const withCookie = (
  operation: HttpOperation,
  request: FastifyRequest,
  body: Fields,
  origins: readonly string[],
): Fields => {
  if (!wantsCookie(operation, body)) return body;
  if (!isOwnPage(request, origins))
    throw new ServiceError('forbidden', 'the refresh cookie is for pages of our own origins');
  if (operation.refreshCookie === 'give') return body;
  const environment = body.environment === 'live' ? 'live' : 'test';
  const token = tokenOf(request, environment);
  if (token === null) throw new ServiceError('unauthorized', 'there is no refresh token; sign in');
  return { ...body, [FIELD]: token };
};

/** The answer as the page gets it: the token in the cookie instead of the body where the call asked for that. */
export const intoCookie = (
  operation: HttpOperation,
  given: Fields,
  environment: string,
  answer: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): unknown => {
  if (operation.refreshCookie === 'clear') keep(request, reply, environment, '');
  if (!wantsCookie(operation, given)) return answer;
  const { [FIELD]: token, ...rest } = answer as Fields;
  keep(request, reply, environment, String(token));
  return rest;
};
