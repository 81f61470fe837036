import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { z } from 'zod';
import { parseAddress } from '../../../shared/lib/chain/address.ts';

/** The origin of a request. */
export type Origin = {
  /** The address that the outermost trusted proxy has seen, in normal form. */
  address: string;
  /** Whether the request arrived through a trusted proxy. */
  viaProxy: boolean;
};

/**
 * How many proxies every request passes before the gateway. Ranges of addresses are not trusted
 * instead: a load balancer that replaces the caller's address by one of its own range would make
 * the caller's text the next entry to trust.
 */
export const HopCount = z.coerce.number().int().min(0).max(8).default(0);

/** Found once for each connection, which usually carries many requests. */
const peers = new WeakMap<Socket, string>();

/** The other end of a connection. */
const peerOf = (socket: Socket): string => {
  const known = peers.get(socket);
  if (known !== undefined) return known;
  // A connection that has ended in the meantime has no address. All such requests count as one
  // caller.
  const address = parseAddress(socket.remoteAddress ?? '') ?? 'unknown';
  peers.set(socket, address);
  return address;
};

/**
 * The origin of a request: its connection, or the entry of X-Forwarded-For that the outermost of
 * `hops` proxies wrote, counted from the right. Each proxy appends the address of its own peer, so
 * all entries to the left of that one are claims of the caller and are ignored. Fastify's
 * `trustProxy` is not used, because it accepts an entry with a port, or any other text, as an
 * address, and then also trusts the host and protocol of the request. Nothing here uses those: the
 * gateway's own address is PUBLIC_URL.
 */
export const originOf = (
  { headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>,
  hops: number,
): Origin => {
  let address = peerOf(socket);
  if (hops === 0) return { address, viaProxy: false };
  // Node joins several headers of one name in their order.
  const entries = String(headers['x-forwarded-for'] ?? '')
    .split(',')
    .map((text) => text.trim())
    .filter((text) => text !== '');
  for (const text of entries.slice(-hops).reverse()) {
    const next = parseAddress(text);
    // The proxy wrote no address, so the proxy itself is counted, not a text that a caller may
    // vary.
    if (next === null) break;
    address = next;
  }
  return { address, viaProxy: true };
};
