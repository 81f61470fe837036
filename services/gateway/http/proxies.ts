import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
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

/**
 * The origin of a request: its connection, or, while that is a trusted proxy, the entries that this
 * proxy and those before it wrote, read from the right. Entries to the left of the first foreign
 * hop are claims of that hop and are ignored. Fastify's `trustProxy` is not used, because it
 * accepts an entry with a port, or any other text, as an address, and then also trusts the host and
 * protocol of the request. Nothing here uses those: the gateway's own address is PUBLIC_URL.
 */
export const originOf = ({ headers, socket }: IncomingMessage, proxies: BlockList): Origin => {
  const isTrusted = (address: string) => proxies.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
  // A connection that has ended in the meantime has no address. All such requests count as one
  // caller.
  let address = parseAddress(socket.remoteAddress ?? '') ?? 'unknown';
  const viaProxy = isIP(address) !== 0 && isTrusted(address);
  // Node joins several headers of one name in their order.
  const hops = String(headers['x-forwarded-for'] ?? '').split(',');
  while (isIP(address) !== 0 && isTrusted(address) && hops.length > 0) {
    const text = hops.pop()!.trim();
    if (text === '') continue;
    const next = parseAddress(text);
    // The trusted proxy wrote no address, so the proxy itself is counted, not a text that a caller
    // may vary.
    if (next === null) break;
    address = next;
  }
  return { address, viaProxy };
};
