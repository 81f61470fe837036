/** Addresses of proxies and of the machine itself, behind which any number of callers can be. */
const PRIVATE =
  /^(?:10|127|192\.168|169\.254|172\.(?:1[6-9]|2\d|3[01])|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\./;
const LOCAL = /^(?:::1?$|f[cd]|fe[89ab])/i;

const IPV4 = /^(?:::ffff:)?((\d{1,3}\.\d{1,3}\.\d{1,3})\.\d{1,3})$/i;

/**
 * The network of a caller, in which its addresses count together: an IPv4 address with its /24, an
 * IPv6 one with its /48, because whoever has one address can often have the others.
 * @returns null if the address is unknown, or one of a private network
 */
export const networkOf = (address: string | null | undefined): string | null => {
  if (address === null || address === undefined) return null;
  const [, whole, network] = IPV4.exec(address) ?? [];
  if (whole !== undefined) return PRIVATE.test(whole) ? null : network!;
  if (!address.includes(':') || LOCAL.test(address)) return null;
  const [head] = address.split('::', 1) as [string];
  const groups = [...head.split(':'), '0', '0'].slice(0, 3);
  return groups.map((each) => Number.parseInt(each, 16).toString(16)).join(':');
};
