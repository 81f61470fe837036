import { lookup as resolveName } from 'node:dns';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { Agent, buildConnector, fetch as undiciFetch } from 'undici';
import type { Fetch } from '../../sdk/src/transport.ts';
import type { Settings } from './settings.ts';

/**
 * Which addresses the tools may call. The URL comes from a model, which may follow the text of an
 * attacker, and this process may be inside a private network. So only public addresses are
 * reachable by default. The address is checked when the connection is made, so a redirect, a name
 * that resolves differently the second time, and an address in any notation are checked too.
 */

/** The address is not one that the tools may call. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';
  constructor(host: string) {
    super(
      `${host} is an address of this machine or of a private network. ` +
        'Set QUITTANCE_ALLOW_PRIVATE=1 in the environment of this server to allow it.',
    );
  }
}

/** 2000::/3, which contains every allocated public address of IPv6. */
const GLOBAL_V6 = ipaddr.parseCIDR('2000::/3');

/** The host agent of Azure's machines. Its address is a public one that only they can reach. */
const HOST_AGENT = '168.63.129.16';

/** True if an address may be called. An address in IPv6 that maps one of IPv4 counts as that. */
export const isReachable = (text: string, reach: Settings['reach']): boolean => {
  if (!ipaddr.isValid(text)) return false;
  if (reach === 'private') return true;
  const address = ipaddr.process(text);
  const range = address.range();
  if (address.toString() === HOST_AGENT) return false;
  if (reach === 'loopback' && range === 'loopback') return true;
  return range === 'unicast' && (address.kind() === 'ipv4' || address.match(GLOBAL_V6));
};

/** Resolves a name to reachable addresses only. */
const guardedLookup =
  (reach: Settings['reach']): LookupFunction =>
  (hostname, options, callback) => {
    resolveName(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, '', 4);
      const [first] = addresses;
      // All of them, because the connection may use any.
      if (first === undefined || !addresses.every(({ address }) => isReachable(address, reach)))
        return callback(new UnreachableError(hostname), '', 4);
      if (options.all === true) return callback(null, addresses);
      return callback(null, first.address, first.family);
    });
  };

const createConnector = (reach: Settings['reach']): buildConnector.connector => {
  const connect = buildConnector({ lookup: guardedLookup(reach) });
  return (options, callback) => {
    const host = options.hostname.replace(/^\[(.*)\]$/, '$1');
    // A literal address is not looked up.
    if (ipaddr.isValid(host) && !isReachable(host, reach)) return callback(new UnreachableError(host), null);
    return connect(options, callback);
  };
};

/**
 * A fetch for addresses that a model names. Calls of the payment API itself, whose address the
 * settings name, are not restricted.
 */
export const createReach = ({
  baseUrl,
  reach,
}: Pick<Settings, 'baseUrl' | 'reach'>): { fetch: Fetch; close: () => Promise<void> } => {
  const dispatcher = new Agent({ connect: createConnector(reach) });
  const api = new URL(baseUrl).origin;
  const guarded: Fetch = async (url, init) => {
    if (new URL(url).origin === api) return fetch(url, init);
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
