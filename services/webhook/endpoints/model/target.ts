import ipaddr from 'ipaddr.js';

/**
 * Where events may be sent. A customer chooses the URL, so it is an attacker's: nothing inside our own networks may be
 * reached by it (docs/spec/security.md, Outgoing URLs).
 */

/** 2000::/3, all that was ever given out: NAT64, mapped, compatible and site-local addresses stand outside of it. */
const GLOBAL_V6 = ipaddr.parseCIDR('2000::/3');

/** Whether an address is somebody's on the public internet, and no way to another: tunnels lead to addresses of their own. */
export const isPublicAddress = (text: string): boolean => {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' || address.match(GLOBAL_V6);
};

/** The host of a URL when it is an address itself, without the brackets; null for a name. */
export const literalAddress = ({ hostname }: URL): string | null => {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1');
  return ipaddr.isValid(bare) ? bare : null;
};

/** Names of this machine or of a network of its own, whatever they resolve to. */
const PRIVATE_NAME = /(^|\.)(localhost|local|internal|intranet|lan|home\.arpa|corp|home)\.?$/;

/**
 * Why a URL is refused before anybody is asked where it leads, or null. The URL parser has made `0x7f.1`, `2130706433`
 * and full-width digits addresses by then.
 */
export const refusalOf = (url: URL): string | null => {
  if (url.protocol !== 'https:') return 'must be https';
  if (url.username !== '' || url.password !== '') return 'must not contain credentials';
  if (url.hash !== '') return 'must not have a fragment';
  const port = url.port === '' ? 443 : Number(url.port);
  // Below are mail, shells and the like, which would take a request for something else.
  if (port !== 443 && port < 1024) return 'must be on port 443, or 1024 and up';
  const literal = literalAddress(url);
  if (literal !== null) return isPublicAddress(literal) ? null : 'must lead to a public address';
  if (!url.hostname.includes('.') || PRIVATE_NAME.test(url.hostname))
    return 'must be a name of the public internet';
  return null;
};
