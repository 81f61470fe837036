import path from 'node:path';
import { parseArgs } from 'node:util';
import { nearest } from '../../../sdk/src/paywall/adapter.ts';
import type { Hosts } from '../ground/request-fault.ts';
import type { RouteSettings } from '../ground/routes.ts';
import { SettingsError } from '../ground/yaml-file.ts';
import { GateFile } from './config.ts';
import { openApiRoutes } from './openapi.ts';
import { readGateFile } from './read-file.ts';
import { type Route, routeSettingsOf } from './route-settings.ts';
import { routesFault } from './routes-fault.ts';

export type Address = { host: string; port: number };

/** What a gate is started with. */
export type Settings = {
  /** Null: the gate forwards nothing, and answers the questions of another proxy. */
  upstream: URL | null;
  listen: Address;
  operations: Address;
  paywall: {
    baseUrl: string;
    serviceKey: string;
    serviceId: string;
    environment: 'test' | 'live';
    publicUrl: string;
  };
  routes: readonly RouteSettings[];
  passesUnmatched: boolean;
  hosts: Hosts;
  dialects: readonly ('x402' | 'mpp')[];
  offerSecret: string | null;
  upstreamSecret: string | null;
  /** Null: the memory of this process. */
  storeUrl: string | null;
  /** How many proxies before the gate set `X-Forwarded-*`. */
  proxies: number;
  timeouts: { connectMs: number; answerMs: number; idleMs: number; bodyMs: number; drainMs: number };
  /** How many connections of callers are open at the most. */
  connections: number;
  hashBytes: number;
  /** How much of all bodies is held in memory. */
  heldBytes: number;
  storedBytes: number;
  readsBodies: boolean;
};

export const USAGE = `Usage: quittance-gate [gate.yaml] [options]
       quittance-gate check <gate.yaml> [options]

A reverse proxy that charges for an HTTP API per request.

  --upstream http://127.0.0.1:9000   the API
  --authorize                        no upstream: answers nginx, Caddy, HAProxy and Apache
  --price 'GET /report=0.05'         a route and its price in USDC, any number of times
  --metered 'POST /chat max=$1 …'    a route that is paid by use, with the names of gate.yaml
  --free 'GET /health'               a route that passes unpaid
  --openapi openapi.yaml             prices of an OpenAPI file with x-payment-info
  --refuse-unmatched                 other requests get 404; by default they pass unpaid
  --listen 0.0.0.0:8402              default 127.0.0.1:8402
  --operations 0.0.0.0:9402          /healthz, /readyz and /metrics, default 127.0.0.1:9402
  --schema                           prints the JSON Schema of gate.yaml

  QUITTANCE_URL    the payment API
  SERVICE_KEY      vendor_test_… or vendor_live_…
  SERVICE_ID       the id of the service
  PUBLIC_URL       the address that buyers type, default that of --listen
  STORE_URL        redis://… or postgres://…, for several gates and for restarts
  OFFER_SECRET     at least 32 random characters, for the dialects x402 and mpp
  UPSTREAM_SECRET  at least 32 random characters: signs what the upstream is told of a payment
`;

type Environment = Readonly<Record<string, string | undefined>>;

const OPTIONS = {
  upstream: { type: 'string' },
  authorize: { type: 'boolean' },
  price: { type: 'string', multiple: true },
  metered: { type: 'string', multiple: true },
  free: { type: 'string', multiple: true },
  openapi: { type: 'string' },
  'refuse-unmatched': { type: 'boolean' },
  listen: { type: 'string' },
  operations: { type: 'string' },
  schema: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** What a command line asks for. */
export type Command =
  | { kind: 'usage' }
  | { kind: 'schema' }
  | { kind: 'run' | 'check'; file: string | null; options: GateFile };

const parsed = (args: readonly string[]) => {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new SettingsError(optionFault(args) ?? (error as Error).message);
  }
};

/** What is wrong with the first unknown option. Null: the options are all known. */
const optionFault = (args: readonly string[]): string | null => {
  const unknown = args
    .map((each) => /^--([^=]+)/.exec(each)?.[1])
    .find((name) => name !== undefined && !Object.hasOwn(OPTIONS, name));
  if (unknown === undefined) return null;
  const meant = nearest(unknown, Object.keys(OPTIONS));
  return `--${unknown} is no option${meant === undefined ? '; --help lists them' : `; did you mean --${meant}?`}`;
};

const pricedIn = (text: string): { match: string; price: string } => {
  const at = text.lastIndexOf('=');
  if (at < 1) throw new SettingsError(`--price: '${text}' has no price: use 'GET /report=0.05'`);
  return { match: text.slice(0, at).trim(), price: text.slice(at + 1).trim() };
};

const freeIn = (match: string) => ({ match, free: 'true' });

/** `POST /chat max=$1 unit_price=$0.00001 units_header=X-Tokens`. */
const meteredIn = (text: string): { match: string } => {
  const [methods, path, ...rest] = text.trim().split(/\s+/);
  const named = rest.map((each): [string, string] => {
    const at = each.indexOf('=');
    if (at < 1) throw new SettingsError(`--metered: '${each}' is no setting: use max=$1`);
    return [each.slice(0, at), each.slice(at + 1)];
  });
  const route = { ...Object.fromEntries(named), match: `${methods} ${path}` };
  if (!('max' in route)) throw new SettingsError(`--metered: '${text}' has no max, which is its ceiling`);
  return route;
};

/**
 * Reads a command line. Its options are checked as the file is.
 * @throws SettingsError
 */
export const readCommand = (args: readonly string[]): Command => {
  const { values, positionals } = parsed(args);
  if (values.help === true) return { kind: 'usage' };
  if (values.schema === true) return { kind: 'schema' };
  const isCheck = positionals[0] === 'check';
  const files = isCheck ? positionals.slice(1) : positionals;
  if (files.length > 1) throw new SettingsError(`name one file, not ${files.join(' and ')}`);
  const { price = [], metered = [], free = [] } = values;
  const ofOption = { price: price.map(pricedIn), metered: metered.map(meteredIn), free: free.map(freeIn) };
  const routes = Object.values(ofOption).flat();
  const checked = GateFile.safeParse({
    ...(values.upstream !== undefined && { upstream: values.upstream }),
    ...(values.openapi !== undefined && { openapi: values.openapi }),
    ...(values.authorize === true && { mode: 'authorize' }),
    ...(values.listen !== undefined && { listen: values.listen }),
    ...(values.operations !== undefined && { operations: values.operations }),
    ...(values['refuse-unmatched'] === true && { unmatched: 'refuse' }),
    ...(routes.length > 0 && { routes }),
  });
  if (!checked.success) {
    const options = Object.entries(ofOption).flatMap(([name, { length }]) =>
      Array<string>(length).fill(name),
    );
    const said = checked.error.issues.map(({ path, message }) => {
      const [first, at, setting] = path;
      if (first !== 'routes') return `--${String(first)}: ${message}`;
      const option = options[Number(at)]!;
      return option === 'metered' && setting !== undefined
        ? `--metered: ${String(setting)}: ${message}`
        : `--${option}: ${message}`;
    });
    throw new SettingsError(said.join('\n'));
  }
  return { kind: isCheck ? 'check' : 'run', file: files[0] ?? null, options: checked.data };
};

const LEAST_SECRET = 32;
const secretOf = (name: string, value: string | undefined): string | null => {
  if (value === undefined || value === '') return null;
  if (value.length < LEAST_SECRET)
    throw new SettingsError(`${name}: use at least ${LEAST_SECRET} random characters`);
  return value;
};

const storeOf = (value: string | undefined): string | null => {
  if (value === undefined || value === '') return null;
  if (!/^(rediss?|postgres(ql)?):\/\//.test(value))
    throw new SettingsError('STORE_URL: use redis://…, rediss://… or postgres://…');
  return value;
};

const needed = (what: string, value: string | undefined): string => {
  if (value === undefined || value === '') throw new SettingsError(`${what} is missing`);
  return value;
};

const urlText = ({ host, port }: Address): string =>
  `http://${host.includes(':') ? `[${host}]` : host === '0.0.0.0' ? '127.0.0.1' : host}:${port}`;

/** The public host is served under its name, with any port. */
const hostsOf = (publicUrl: string, further: readonly string[] = []): Hosts => {
  // The paywall refuses an address that is none.
  const { host, hostname } = URL.parse(publicUrl) ?? { host: '', hostname: '' };
  return { own: host, served: [hostname, ...further] };
};

const upstreamOf = ({ mode, upstream }: GateFile): URL | null => {
  if (mode !== 'authorize') return new URL(needed('upstream (--upstream)', upstream));
  if (upstream !== undefined) throw new SettingsError('mode authorize has no upstream: the proxy forwards');
  return null;
};

/**
 * The settings of file, command line and environment. The command line counts before the file, and
 * the file before the environment. Secrets are in the environment only.
 * @throws SettingsError
 */
const settingsOf = (
  { file, options }: { file: GateFile; options: GateFile },
  env: Environment,
  readPrices: (publicUrl: string) => readonly Route[],
): Settings => {
  const given = { ...file, ...options };
  const listen = given.listen ?? { host: '127.0.0.1', port: 8402 };
  const publicUrl = given.public_url ?? env.PUBLIC_URL ?? urlText(listen);
  const routes = [...(options.routes ?? []), ...(file.routes ?? []), ...readPrices(publicUrl)];
  const dialects = given.dialects ?? [];
  const offerSecret = secretOf('OFFER_SECRET', env.OFFER_SECRET);
  if (dialects.length > 0 && offerSecret === null)
    throw new SettingsError(`OFFER_SECRET is missing: ${dialects.join(' and ')} sign their offers with it`);
  const asking = { isAsked: given.mode === 'authorize', trustsProxies: Boolean(given.trust_proxy) };
  const fault = routesFault(routes, asking);
  if (fault !== null) throw new SettingsError(fault);
  const serviceKey = needed('SERVICE_KEY', env.SERVICE_KEY);
  const {
    connect = 5000,
    answer = 60_000,
    idle = 300_000,
    body = 30_000,
    drain = 30_000,
  } = given.timeouts ?? {};
  return {
    upstream: upstreamOf(given),
    listen,
    operations: given.operations ?? { host: '127.0.0.1', port: 9402 },
    paywall: {
      baseUrl: needed('QUITTANCE_URL', given.quittance_url ?? env.QUITTANCE_URL),
      serviceKey,
      serviceId: needed('SERVICE_ID', given.service_id ?? env.SERVICE_ID),
      environment: serviceKey.startsWith('vendor_live_') ? 'live' : 'test',
      publicUrl,
    },
    routes: routes.map(routeSettingsOf),
    passesUnmatched: given.unmatched !== 'refuse',
    hosts: hostsOf(publicUrl, given.hosts),
    dialects,
    offerSecret,
    upstreamSecret: secretOf('UPSTREAM_SECRET', env.UPSTREAM_SECRET),
    storeUrl: storeOf(env.STORE_URL),
    proxies: given.trust_proxy ?? 0,
    timeouts: { connectMs: connect, answerMs: answer, idleMs: idle, bodyMs: body, drainMs: drain },
    connections: given.connections ?? 10_000,
    hashBytes: given.hash_bytes ?? 1_048_576,
    heldBytes: given.held_bytes ?? 67_108_864,
    storedBytes: given.stored_bytes ?? 65_536,
    readsBodies: given.reads_bodies === 'true',
  };
};

/** @throws SettingsError, also for a file that cannot be read */
export const readSettings = (
  { file, options }: Extract<Command, { kind: 'run' | 'check' }>,
  env: Environment,
  readText: (name: string) => string,
): Settings => {
  const read = (name: string): string => {
    try {
      return readText(name);
    } catch (error) {
      throw new SettingsError(`${name} cannot be read: ${(error as Error).message}`);
    }
  };
  const given = file === null ? {} : readGateFile(file, read(file));
  // A file names another one beside it.
  const beside = given.openapi === undefined ? undefined : path.join(path.dirname(file!), given.openapi);
  const prices = options.openapi ?? beside;
  const isPassing = { ...given, ...options }.unmatched !== 'refuse';
  return settingsOf({ file: given, options }, env, (publicUrl) =>
    prices === undefined ? [] : openApiRoutes(prices, read(prices), { publicUrl, isPassing }),
  );
};
