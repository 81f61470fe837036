import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { hasBody } from './request-body.ts';

/** The hosts that a gate serves. An upstream may have others, which no route is about. */
export type Hosts = {
  /** Of the public address, with its port. */
  own: string;
  /** Names without ports. `*.` is any name below, and `*` alone any host. */
  served: readonly string[];
};

/** Why a request is refused before its route is looked for. The reason is for answer and log. */
export type RequestFault = {
  kind: 'refused';
  status: 400 | 421;
  reason: 'header' | 'body' | 'host';
  route: null;
};
const fault = (status: 400 | 421, reason: RequestFault['reason']): RequestFault => ({
  kind: 'refused',
  status,
  reason,
  route: null,
});
/** A header that is sent twice, or that may not pass. */
export const HEADER_FAULT = fault(400, 'header');

/**
 * Of several such headers Node uses the first and drops the rest silently. An upstream may use the
 * last.
 */
const SINGLE_HEADERS = new Set(['host', 'authorization', 'content-type']);

const isSentTwice = ({ rawHeaders }: IncomingMessage): boolean => {
  const found = new Set<string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!.toLowerCase();
    if (!SINGLE_HEADERS.has(name)) continue;
    if (found.has(name)) return true;
    found.add(name);
  }
  return false;
};

/** A body of theirs has no meaning (RFC 9110, 9.3), so servers leave it unread. */
const WITHOUT_BODY = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);

const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i;

const isServed = (name: string, served: readonly string[]): boolean =>
  served.some((each) =>
    each.startsWith('*') ? each === '*' || name.endsWith(each.slice(1)) : each === name,
  );

/** Load balancers and developers call a gate by its address, which is no host of the upstream. */
const isAddress = (name: string): boolean =>
  name === 'localhost' || isIP(name.replaceAll(/[[\]]/g, '')) !== 0;

/**
 * The Host that the upstream gets. A target with a host counts before the header (RFC 9112, 3.2.2).
 * @returns a fault if the gate does not serve it
 */
export const hostOf = ({ url, headers }: IncomingMessage, { own, served }: Hosts): string | RequestFault => {
  const asked = /^https?:\/\/([^/?#]*)/i.exec(url!)?.[1] ?? headers.host ?? '';
  if (asked === '') return own;
  const [, named] = HOST.exec(asked) ?? [];
  if (named === undefined) return fault(400, 'host');
  const name = named.toLowerCase().replace(/\.$/, '');
  if (isServed(name, served)) return asked;
  return isAddress(name) ? own : fault(421, 'host');
};

/** Why a request is refused that an upstream could read as another one, or null. */
export const faultOf = (request: IncomingMessage, hosts: Hosts): RequestFault | null => {
  if (isSentTwice(request)) return HEADER_FAULT;
  if (WITHOUT_BODY.has(request.method!) && hasBody(request)) return fault(400, 'body');
  const host = hostOf(request, hosts);
  return typeof host === 'string' ? null : host;
};
