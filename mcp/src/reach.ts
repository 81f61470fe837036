import { lookup as resolveName } from 'node:dns';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { Agent, buildConnector, fetch as undiciFetch } from 'undici';
import type { Fetch } from '../../sdk/src/transport.ts';
import type { Settings } from './settings.ts';

/**
 * Which addresses the tools may call. The URL comes from a model, which may follow the text of an
 * attacker, and this process may be inside a private network. So only public addresses and the
 * payment API are reachable by default. The address is checked when the connection is made, so a
 * redirect, a name that resolves differently the second time, and an address in any notation are
 * checked too.
 */

/** The address is not one that the tools may call. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';
  constructor(host: string) {
    super(
      `${host} is an address of this machine or of a private network. ` +
        'The person who runs this server can list its host and port in QUITTANCE_ALLOW_PRIVATE.',
    );
  }
}

/** 2000::/3, which contains every allocated public address of IPv6. */
const GLOBAL_V6 = ipaddr.parseCIDR('2000::/3');

/** The host agent of Azure's machines. Its address is a public one that only they can reach. */
const HOST_AGENT = '168.63.129.16';

/** True for a public address. An address in IPv6 that maps one of IPv4 counts as that. */
export const isPublic = (text: string): boolean => {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.process(text);
  if (address.toString() === HOST_AGENT) return false;
  return address.range() === 'unicast' && (address.kind() === 'ipv4' || address.match(GLOBAL_V6));
};

/** Resolves a name to public addresses only. */
const publicLookup: LookupFunction = (hostname, options, callback) => {
  resolveName(hostname, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return callback(error, '', 4);
    const [first] = addresses;
    // All of them, because the connection may use any.
    if (first === undefined || !addresses.every(({ address }) => isPublic(address)))
      return callback(new UnreachableError(hostname), '', 4);
    if (options.all === true) return callback(null, addresses);
    return callback(null, first.address, first.family);
  });
};

const portOf = ({ port, protocol }: buildConnector.Options): string =>
  port !== '' ? port : protocol === 'https:' ? '443' : '80';

const createConnector = (reach: Settings['reach']): buildConnector.connector => {
  const toAny = buildConnector({});
  const toPublic = buildConnector({ lookup: publicLookup });
  return (options, callback) => {
    const isListed = Array.isArray(reach) && reach.includes(`${options.hostname}:${portOf(options)}`);
    if (reach === 'private' || isListed) return toAny(options, callback);
    const host = options.hostname.replace(/^\[(.*)\]$/, '$1');
    // A literal address is not looked up.
    if (ipaddr.isValid(host) && !isPublic(host)) return callback(new UnreachableError(host), null);
    return toPublic(options, callback);
  };
};

/**
 * A fetch for addresses that a model names. The payment API itself, whose address the settings
 * name, is reachable wherever it is. It never redirects, so no redirect leads on from there.
 */
export const createReach = ({
  baseUrl,
  reach,
}: Pick<Settings, 'baseUrl' | 'reach'>): { fetch: Fetch; close: () => Promise<void> } => {
  const dispatcher = new Agent({ connect: createConnector(reach) });
  const api = new URL(baseUrl).origin;
  const guarded: Fetch = async (url, init) => {
    if (new URL(url).origin === api) return fetch(url, { ...init, redirect: 'manual' });
    try {
      const options = { ...init, dispatcher } as unknown as Parameters<typeof undiciFetch>[1];
      return (await undiciFetch(url, options)) as unknown as Response;
    } catch (error) {
      const cause = (error as { cause?: unknown }).cause;
      throw cause instanceof UnreachableError ? cause : error;
    }
  };
  return { fetch: guarded, close: () => dispatcher.destroy() };
};
