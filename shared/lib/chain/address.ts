import { isIP, SocketAddress } from 'node:net';

/** An IPv4 address mapped into IPv6, in the form that Node normalizes all others to. */
const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/;

/**
 * An address in its normal form: mapped IPv4 as IPv4, IPv6 short and without its zone. Some proxies
 * write a port into X-Forwarded-For. It is dropped, because every connection would be another
 * caller.
 * @returns null for a text that is no address
 */
export const parseAddress = (text: string): string | null => {
  const bare = /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
  const family = isIP(bare);
  if (family !== 6) return family === 4 ? bare : null;
  const { address } = new SocketAddress({ address: bare, family: 'ipv6' });
  return MAPPED.exec(address)?.[1] ?? address;
};

/** The eight 16-bit groups of a short IPv6 address. */
export const groupsOf = (address: string): string[] => {
  const [head = '', tail] = address.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const gap = tail === undefined ? 0 : 8 - left.length - right.length;
  return [...left, ...Array<string>(gap).fill('0'), ...right];
};

/**
 * The group in which a limit counts an address: an IPv4 address alone, an IPv6 address with its
 * /64, because one customer holds all 2^64 addresses of it. A text that is no address is its own
 * group.
 */
export const addressGroup = (text: string): string => {
  const address = parseAddress(text);
  if (address === null) return text;
  return isIP(address) === 4 ? address : `${groupsOf(address).slice(0, 4).join(':')}::/64`;
};
