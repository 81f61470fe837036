import ipaddr from 'ipaddr.js';
import { isPrivateName } from '../../../shared/lib/domain.ts';

/**
 * Where events may be sent. A customer sets the URL, so it may come from an attacker. It must not
 * reach anything inside the platform's networks (docs/spec/security.md, Outgoing URLs).
 */

/**
 * 2000::/3, which contains every allocated public address. NAT64, mapped, compatible and site-local
 * addresses are outside of it.
 */
const GLOBAL_V6 = ipaddr.parseCIDR('2000::/3');

/** The host agent of Azure's machines. Its address is a public one that only they can reach. */
const HOST_AGENT = '168.63.129.16';

/**
 * Whether an address is on the public internet. Addresses of tunnels are not, because they lead to
 * others.
 */
export const isPublicAddress = (text: string): boolean => {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast' || address.toString() === HOST_AGENT) return false;
  return address.kind() === 'ipv4' || address.match(GLOBAL_V6);
};

/** The host of a URL without brackets when it is an address. Null for a name. */
export const literalAddress = ({ hostname }: URL): string | null => {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1');
  return ipaddr.isValid(bare) ? bare : null;
};

/**
 * Why a URL is refused before its name is resolved, or null. The URL parser has converted `0x7f.1`,
 * `2130706433` and full-width digits to addresses already.
 */
export const refusalOf = (url: URL): string | null => {
  if (url.protocol !== 'https:') return 'must be https';
  if (url.username !== '' || url.password !== '') return 'must not contain credentials';
  if (url.hash !== '') return 'must not have a fragment';
  const port = url.port === '' ? 443 : Number(url.port);
  // Lower ports belong to mail, shells and the like, which could misread the request.
  if (port !== 443 && port < 1024) return 'must be on port 443, or 1024 and up';
  const literal = literalAddress(url);
  if (literal !== null) return isPublicAddress(literal) ? null : 'must lead to a public address';
  if (isPrivateName(url.hostname)) return 'must be a name of the public internet';
  return null;
};
