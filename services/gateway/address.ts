import { isIPv6 } from 'node:net';

/** The eight 16-bit groups of an IPv6 address. */
const groupsOf = (address: string): string[] => {
  const [head = '', tail] = address.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const gap = tail === undefined ? 0 : 8 - left.length - right.length;
  return [...left, ...Array<string>(Math.max(0, gap)).fill('0'), ...right];
};

/**
 * Whom an address stands for in a limit: an IPv4 address for itself, also when it arrives mapped into IPv6;
 * an IPv6 address for its /64, since a single customer holds all 2^64 of those.
 */
export const addressGroup = (address: string): string => {
  const bare = address.split('%')[0]!.toLowerCase();
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(bare);
  if (mapped !== null) return mapped[1]!;
  if (!isIPv6(bare)) return bare;
  const prefix = groupsOf(bare).slice(0, 4);
  return `${prefix.map((group) => group.replace(/^0+(?=.)/, '')).join(':')}::/64`;
};
