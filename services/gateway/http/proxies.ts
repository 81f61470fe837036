import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, type Socket } from 'node:net';
import { z } from 'zod';
import { parseAddress } from './address.ts';

/** The origin of a request. */
export type Origin = {
  /** The nearest hop that is not a trusted proxy, in normal form. */
  address: string;
  /** Whether the request arrived through a trusted proxy. */
  viaProxy: boolean;
};

/** Addresses and CIDR blocks, comma separated. For a zod config schema. */
export const ProxyList = z
  .string()
  .default('')
  .transform((text, context): BlockList => {
    const list = new BlockList();
    for (const part of text.split(',').map((each) => each.trim())) {
      if (part === '') continue;
      const [network = '', bits, ...rest] = part.split('/');
      const family = isIP(network) === 6 ? 'ipv6' : 'ipv4';
      try {
        if (rest.length > 0 || (bits !== undefined && !/^\d{1,3}$/.test(bits)))
          throw new Error('not a block');
        if (bits === undefined) list.addAddress(network, family);
        else list.addSubnet(network, Number(bits), family);
      } catch {
        context.addIssue({ code: 'custom', message: 'must be addresses or CIDR blocks, comma separated' });
        return z.NEVER;
      }
    }
    return list;
  });

const isTrusted = (address: string, proxies: BlockList): boolean =>
  isIP(address) !== 0 && proxies.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');

/** Found once for each connection, which usually carries many requests. */
const peers = new WeakMap<Socket, Origin>();

/** The other end of a connection. */
const peerOf = (socket: Socket, proxies: BlockList): Origin => {
  const known = peers.get(socket);
  if (known !== undefined) return known;
  // A connection that has ended in the meantime has no address. All such requests count as one
  // caller.
  const address = parseAddress(socket.remoteAddress ?? '') ?? 'unknown';
  const peer = { address, viaProxy: isTrusted(address, proxies) };
  peers.set(socket, peer);
  return peer;
};

/**
 * The origin of a request: its connection, or, while that is a trusted proxy, the entries that this
 * proxy and those before it wrote, read from the right. Entries to the left of the first foreign
 * hop are claims of that hop and are ignored. Fastify's `trustProxy` is not used, because it
 * accepts an entry with a port, or any other text, as an address, and then also trusts the host and
 * protocol of the request. Nothing here uses those: the gateway's own address is PUBLIC_URL.
 */
export const originOf = ({ headers, socket }: IncomingMessage, proxies: BlockList): Origin => {
  const peer = peerOf(socket, proxies);
  let { address } = peer;
  if (!peer.viaProxy) return peer;
  // Node joins several headers of one name in their order.
  const hops = String(headers['x-forwarded-for'] ?? '').split(',');
  while (isTrusted(address, proxies) && hops.length > 0) {
    const text = hops.pop()!.trim();
    if (text === '') continue;
    const next = parseAddress(text);
    // The trusted proxy wrote no address, so the proxy itself is counted, not a text that a caller
    // may vary.
    if (next === null) break;
    address = next;
  }
  return { address, viaProxy: true };
};
