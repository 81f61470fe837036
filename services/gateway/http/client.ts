import { isIP } from 'node:net';
import type { Client } from '../../../shared/contract/client.ts';
import { groupsOf, parseAddress } from '../../../shared/lib/chain/address.ts';

/** The network of an address: IPv4 /24, IPv6 /48. A text that is no address stays as it is. */
export const networkOf = (text: string): string => {
  const address = parseAddress(text);
  if (address === null) return text;
  if (isIP(address) === 6) return `${groupsOf(address).slice(0, 3).join(':')}::/48`;
  return `${address.split('.').slice(0, 3).join('.')}.0/24`;
};

/** Programs by what their User-Agent contains. The first one counts: browsers name each other. */
const AGENTS: readonly [RegExp, string][] = [
  [/quittance-cli/i, 'Quittance command line'],
  [/quittance/i, 'Quittance SDK'],
  [/Edg\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/Firefox\//, 'Firefox'],
  [/Chrom(e|ium)\//, 'Chrome'],
  [/Safari\//, 'Safari'],
  [/^curl\//i, 'curl'],
  [/python/i, 'Python'],
  [/node|undici/i, 'Node'],
];

/** The family of the program that a User-Agent names. */
export const agentOf = (userAgent: string | undefined): string =>
  AGENTS.find(([pattern]) => pattern.test((userAgent ?? '').slice(0, 512)))?.[1] ?? 'unknown';

/** From where a call came, as security events show it. */
export const clientOf = (address: string, userAgent: string | undefined): Client => ({
  address: networkOf(address).slice(0, 64),
  agent: agentOf(userAgent),
});
