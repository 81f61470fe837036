import type { FastifyRequest } from 'fastify';

/**
 * The name of a cookie for pages of the gateway's origins. A browser accepts the prefix `__Host-`
 * only from this host, over https and for all paths, so no neighbouring host can plant such a
 * cookie. Over http, which is localhost, there is no prefix.
 */
export const hostCookieName = ({ headers }: FastifyRequest, name: string): string =>
  headers.origin?.startsWith('http:') === true ? name : `__Host-${name}`;

/**
 * Whether a page of the gateway's origins makes this call. SameSite alone would allow other pages
 * of the same site.
 */
export const isOwnPage = ({ headers }: FastifyRequest, origins: readonly string[]): boolean =>
  headers.origin !== undefined && origins.includes(headers.origin);

/**
 * The value of the only cookie of this name. Null for several, because a neighbouring host may have
 * planted one.
 */
export const readCookie = ({ headers }: FastifyRequest, name: string): string | null => {
  const values = (headers.cookie ?? '')
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part.startsWith(`${name}=`));
  return values.length === 1 ? values[0]!.slice(name.length + 1) : null;
};

/** The Set-Cookie header of a cookie that no script can read and that no other site can send. */
export const cookieText = (name: string, value: string, path: string, maxAgeSeconds: number): string =>
  `${name}=${value}; Path=${path}; Max-Age=${maxAgeSeconds}; HttpOnly; Secure; SameSite=Strict`;
