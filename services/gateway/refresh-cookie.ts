import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../../shared/contract/errors.ts';
import { identity } from '../../shared/contract/index.ts';
import type { HttpOperation } from '../../shared/contract/service.ts';

/**
 * The refresh token of a page in a cookie that no script can read (decisions.md, Sign-in): HttpOnly, Secure,
 * SameSite=Strict, sent to the refresh path alone. Besides SameSite, which lets other pages of the same site through,
 * the Origin must be one of ours. Services know nothing of it: for them the token is in the body.
 */
type Fields = Record<string, unknown>;

const FIELD = 'refresh_token';
const PATH = identity.operations.refresh.http.path;
/** As long as a sign-in can last; when it ends sooner, identity says so. */
const MAX_AGE_SECONDS = 30 * 24 * 3600;

const cookieName = (environment: string): string => `quittance_refresh_${environment}`;
const cookie = (environment: string, value: string, maxAge: number): string =>
  `${cookieName(environment)}=${value}; Path=${PATH}; Max-Age=${maxAge}; HttpOnly; Secure; SameSite=Strict`;

/** @throws ServiceError forbidden for a page that is not ours, and for what is no page and says no origin. */
const requireOwnPage = ({ headers }: FastifyRequest, origins: readonly string[]): void => {
  if (headers.origin !== undefined && origins.includes(headers.origin)) return;
  throw new ServiceError('forbidden', 'the refresh cookie is for pages of our own origins');
};

/** The value of the one cookie of this name; several may mean that a neighbouring host planted one. */
const readCookie = ({ headers }: FastifyRequest, name: string): string | null => {
  const values = (headers.cookie ?? '')
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part.startsWith(`${name}=`));
  return values.length === 1 ? values[0]!.slice(name.length + 1) : null;
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
  requireOwnPage(request, origins);
  if (operation.refreshCookie === 'give') return body;
  const environment = body.environment === 'live' ? 'live' : 'test';
  const token = readCookie(request, cookieName(environment));
  if (token === null) throw new ServiceError('unauthorized', 'there is no refresh token; sign in');
  return { ...body, [FIELD]: token };
};

/** The answer as the page gets it: the token in the cookie instead of the body where the call asked for that. */
export const intoCookie = (
  operation: HttpOperation,
  given: Fields,
  environment: string,
  answer: unknown,
  reply: FastifyReply,
): unknown => {
  if (operation.refreshCookie === 'clear') void reply.header('set-cookie', cookie(environment, '', 0));
  if (!wantsCookie(operation, given)) return answer;
  const { [FIELD]: token, ...rest } = answer as Fields;
  void reply.header('set-cookie', cookie(environment, String(token), MAX_AGE_SECONDS));
  return rest;
};
