import type { FastifyRequest } from 'fastify';

/**
 * Cookies of pages of our own origins. A browser takes one with the prefix `__Host-` from our host alone, over https and
 * for all paths: no neighbouring host can plant it. Over http, which is localhost, there is no prefix.
 */
export const hostCookieName = ({ headers }: FastifyRequest, name: string): string =>
  headers.origin?.startsWith('http:') === true ? name : `__Host-${name}`;

/** Whether a page of one of our own origins makes this call: SameSite lets other pages of the same site through. */
export const isOwnPage = ({ headers }: FastifyRequest, origins: readonly string[]): boolean =>
  headers.origin !== undefined && origins.includes(headers.origin);

/** The value of the one cookie of this name; several may mean that a neighbouring host planted one. */
export const readCookie = ({ headers }: FastifyRequest, name: string): string | null => {
  const values = (headers.cookie ?? '')
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part.startsWith(`${name}=`));
  return values.length === 1 ? values[0]!.slice(name.length + 1) : null;
};

/** The header of a cookie that no script reads and no other site is sent with. */
export const cookieText = (name: string, value: string, path: string, maxAgeSeconds: number): string =>
  `${name}=${value}; Path=${path}; Max-Age=${maxAgeSeconds}; HttpOnly; Secure; SameSite=Strict`;
