import { lookup as resolveName } from 'node:dns';
import { lookup as resolveAll } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { Agent, buildConnector, type Dispatcher, EnvHttpProxyAgent, fetch as undiciFetch } from 'undici';
import { proxyOptions, proxyVariable } from '../../sdk/src/programs/proxies.ts';
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

const portOf = ({ port, protocol }: { port: string; protocol: string }): string =>
  port !== '' ? port : protocol === 'https:' ? '443' : '80';

const withoutBrackets = (host: string): string => host.replace(/^\[(.*)\]$/, '$1');

const isListed = (reach: Settings['reach'], host: string, port: string): boolean =>
  reach === 'private' || (Array.isArray(reach) && reach.includes(`${host}:${port}`));

const createConnector = (reach: Settings['reach']): buildConnector.connector => {
  const toAny = buildConnector({});
  const toPublic = buildConnector({ lookup: publicLookup });
  return (options, callback) => {
    if (isListed(reach, options.hostname, portOf(options))) return toAny(options, callback);
    const host = withoutBrackets(options.hostname);
    // A literal address is not looked up.
    if (ipaddr.isValid(host) && !isPublic(host)) return callback(new UnreachableError(host), null);
    return toPublic(options, callback);
  };
};

/**
 * Whether a proxy may be asked for a host. The proxy resolves the name, so it is compared by what
 * this machine knows of it. A name that only the proxy can resolve is left to the proxy's rules.
 */
const mayBeProxied = async (host: string): Promise<boolean> => {
  if (ipaddr.isValid(host)) return isPublic(host);
  const addresses = await resolveAll(host, { all: true }).catch(() => []);
  return addresses.every(({ address }) => isPublic(address));
};

/** Checks the host of each request, also of one that a redirect leads to. */
const checkingHosts =
  (reach: Settings['reach']): Dispatcher.DispatcherComposeInterceptor =>
  (dispatch) =>
  (options, handler) => {
    const url = new URL(String(options.origin));
    if (isListed(reach, url.hostname, portOf(url))) return dispatch(options, handler);
    const host = withoutBrackets(url.hostname);
    mayBeProxied(host)
      .then((isAllowed) => {
        if (!isAllowed) throw new UnreachableError(host);
        dispatch(options, handler);
      })
      .catch((error: Error) => handler.onResponseError?.(null as never, error));
    return true;
  };

/** What makes connections: directly, or through the proxy of the environment. */
const dispatcherFor = (reach: Settings['reach'], env: NodeJS.ProcessEnv): Dispatcher => {
  const connect = createConnector(reach);
  if (proxyVariable(env) === null) return new Agent({ connect });
  // Hosts of NO_PROXY are connected to, and checked, as without a proxy.
  return new EnvHttpProxyAgent({ connect, ...proxyOptions(env) }).compose(checkingHosts(reach));
};

/**
 * A fetch for addresses that a model names. The payment API itself, whose address the settings
 * name, is reachable wherever it is. It never redirects, so no redirect leads on from there.
 */
export const createReach = (
  { baseUrl, reach }: Pick<Settings, 'baseUrl' | 'reach'>,
  env: NodeJS.ProcessEnv = process.env,
): { fetch: Fetch; close: () => Promise<void> } => {
  const dispatcher = dispatcherFor(reach, env);
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
