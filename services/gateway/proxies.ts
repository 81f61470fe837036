import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { z } from 'zod';
import { parseAddress } from './address.ts';

/** Where a request comes from. */
export type Origin = {
  /** The nearest hop that is not one of our proxies, in one spelling. */
  address: string;
  /** It came to us through one of our proxies, whose word about its address counts. */
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
 * Where a request comes from: its connection, or, as long as that is a proxy of ours, what this proxy and those before
 * it wrote down, read from the right. Everything left of the first foreign hop is that hop's own claim and not read.
 * Not Fastify's `trustProxy`: it takes an entry with a port, or of any text, for an address, and then believes the host
 * and protocol that a request names too. Nothing here uses those: our own address is PUBLIC_URL.
 */
export const originOf = ({ headers, socket }: IncomingMessage, proxies: BlockList): Origin => {
  const isOurs = (address: string) => proxies.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
  // A connection that has ended in the meantime has none; all of these are one caller.
  let address = parseAddress(socket.remoteAddress ?? '') ?? 'unknown';
  const viaProxy = isIP(address) !== 0 && isOurs(address);
  // Node joins several headers of the name in their order.
  const hops = String(headers['x-forwarded-for'] ?? '').split(',');
  while (isIP(address) !== 0 && isOurs(address) && hops.length > 0) {
    const text = hops.pop()!.trim();
    if (text === '') continue;
    const next = parseAddress(text);
    // Our proxy wrote no address: then it is the proxy that is counted, never a text that a caller may vary.
    if (next === null) break;
    address = next;
  }
  return { address, viaProxy };
};
