import { isIP, SocketAddress } from 'node:net';

/** An IPv4 address mapped into IPv6, as Node writes every form of it. */
const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/;

/**
 * An address in its one spelling: mapped IPv4 as IPv4, IPv6 short and without its zone. A port is dropped, which some
 * proxies write into X-Forwarded-For: with it every connection would be a caller of its own. Null for what is no address.
 */
export const parseAddress = (text: string): string | null => {
  const bare = /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
  const family = isIP(bare);
  if (family !== 6) return family === 4 ? bare : null;
  const { address } = new SocketAddress({ address: bare, family: 'ipv6' });
  return MAPPED.exec(address)?.[1] ?? address;
};

/** The eight 16-bit groups of a short IPv6 address. */
const groupsOf = (address: string): string[] => {
  const [head = '', tail] = address.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const gap = tail === undefined ? 0 : 8 - left.length - right.length;
  return [...left, ...Array<string>(gap).fill('0'), ...right];
};

/**
 * Whom an address stands for in a limit: an IPv4 address for itself, an IPv6 address for its /64, since a single
 * customer holds all 2^64 of those. What is no address stands for itself.
 */
export const addressGroup = (text: string): string => {
  const address = parseAddress(text);
  if (address === null) return text;
  return isIP(address) === 4 ? address : `${groupsOf(address).slice(0, 4).join(':')}::/64`;
};
