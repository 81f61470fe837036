import type { Command } from 'commander';
import { isWholeKey } from '../../sdk/src/key-checksum.ts';
import { type Client, type Credential, createClient, type Fetch } from '../../sdk/src/main.ts';
import { NotSignedInError, UsageError } from './errors.ts';
import type { Io } from './io.ts';
import { configFolder, createSignIns, type Environment, type SignIns } from './sign-ins.ts';
import { VERSION } from './text/version.ts';

/** The gateway of `npm start`. */
export const DEFAULT_URL = 'http://127.0.0.1:3402';

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;
/** Whether an address leads to this machine. */
export const isLoopback = (address: string): boolean => LOOPBACK.test(URL.parse(address)?.hostname ?? '');

const KEY = /^(dk|vendor)_(test|live)_[A-Za-z0-9_-]+$/;

/** @throws UsageError if a credential would be readable on the way */
const baseUrlOf = (text: string): string => {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    throw new UsageError(`--url: "${text}" is not an address like https://api.example.com`);
  if (url.protocol === 'http:' && !LOOPBACK.test(url.hostname))
    throw new UsageError(
      '--url: plain http is allowed to this machine only',
      'Use the https address of the API.',
    );
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
};

/** The variables of keys, in the order in which they count, and the kind that each must have. */
const KEY_VARIABLES = [
  ['DELEGATE_KEY', 'delegate'],
  ['SERVICE_KEY', 'service'],
  // Of either kind. It was the only one before.
  ['QUITTANCE_KEY', null],
] as const;
type Key = { text: string; kind: 'delegate' | 'service'; environment: Environment; variable: string };

/** The key in a variable. Its text is in no error, because it may be another secret. */
export const keyIn = (variable: string, text: string, kind: Key['kind'] | null): Key => {
  const match = KEY.exec(text);
  if (match === null && KEY.test(text.trim()))
    throw new UsageError(
      `${variable} has a space or a line break at its beginning or end`,
      'Remove it; a file with a key often ends in one.',
    );
  if (match === null)
    throw new UsageError(`${variable} is not a key: it must begin with dk_ or vendor_ and its environment`);
  if (!isWholeKey(text))
    throw new UsageError(
      `${variable} is mistyped or incomplete: its last 6 characters, which are a checksum, do not match the others`,
      'Copy the whole key again.',
    );
  const found = match[1] === 'dk' ? ('delegate' as const) : ('service' as const);
  if (kind !== null && found !== kind)
    throw new UsageError(
      `${variable} is a ${found} key, and must be a ${kind} key`,
      `Put it into ${found === 'delegate' ? 'DELEGATE_KEY' : 'SERVICE_KEY'}.`,
    );
  return { text, kind: found, environment: match[2] as Environment, variable };
};

/**
 * The keys of the environment, by their kind. DELEGATE_KEY and SERVICE_KEY count before
 * QUITTANCE_KEY.
 */
const keysOf = (env: Io['env']): Partial<Record<Key['kind'], Key>> => {
  const keys: Partial<Record<Key['kind'], Key>> = {};
  for (const [variable, kind] of KEY_VARIABLES) {
    const text = env[variable] ?? '';
    if (text === '') continue;
    const key = keyIn(variable, text, kind);
    keys[key.kind] ??= key;
  }
  const { delegate, service } = keys;
  if (delegate !== undefined && service !== undefined && delegate.environment !== service.environment)
    throw new UsageError(
      `${delegate.variable} is a key of ${delegate.environment}, and ${service.variable} one of ${service.environment}`,
    );
  return keys;
};

const environmentOf = (wanted: string | undefined, key: Key | undefined): Environment => {
  if (wanted !== undefined && wanted !== 'test' && wanted !== 'live')
    throw new UsageError(`--environment: "${wanted}" is neither test nor live`);
  if (key !== undefined && wanted !== undefined && wanted !== key.environment)
    throw new UsageError(`${key.variable} is a key of ${key.environment}, and --environment is ${wanted}`);
  return key?.environment ?? wanted ?? 'test';
};

export type Context = {
  io: Io;
  url: string;
  environment: Environment;
  isJson: boolean;
  /** The keys of the environment. */
  keys: ReturnType<typeof keysOf>;
  signIns: SignIns;
  /** Of a credential, or without one. */
  clientOf: (credential?: Credential) => Client;
  /** Of the stored sign-in, whatever keys there are. */
  signedIn: () => Promise<Client>;
  /** Of the delegate key, or of the stored sign-in without one. */
  payer: () => Promise<Client>;
  /** Of the service key. */
  vendor: () => Client;
  /** fetch with Ctrl-C. */
  fetch: Fetch;
};

/**
 * The name of this program in the security events of its owner, and on the page that confirms its
 * sign-in. Vendors do not get it.
 */
const USER_AGENT = `quittance-cli/${VERSION}`;
const named =
  (fetch: Fetch): Fetch =>
  (address, init) => {
    const headers = new Headers(init.headers);
    headers.set('user-agent', USER_AGENT);
    return fetch(address, { ...init, headers });
  };

const SIGN_IN = 'Run `quittance login`.';

/**
 * What every command begins with.
 * @param found the address that a command has found, unless `--url` names another one
 */
export const contextOf = (io: Io, command: Command, found?: string): Context => {
  const given = command.optsWithGlobals<{ url?: string; environment?: string; json?: boolean }>();
  const url = baseUrlOf(given.url ?? found ?? (io.env.QUITTANCE_URL || DEFAULT_URL));
  const keys = keysOf(io.env);
  const environment = environmentOf(
    given.environment ?? (io.env.QUITTANCE_ENVIRONMENT || undefined),
    keys.delegate ?? keys.service,
  );
  const signIns = createSignIns(configFolder(io.env), url, environment);
  const fetch: Fetch = (address, init) => {
    const signals = [io.signal, ...(init.signal == null ? [] : [init.signal])];
    return globalThis.fetch(address, { ...init, signal: AbortSignal.any(signals) });
  };
  const clientOf = (credential?: Credential) =>
    createClient({
      baseUrl: url,
      fetch: signIns.fetch(named(fetch)),
      ...(credential === undefined ? {} : { credential }),
    });
  const signedIn = async () => {
    if ((await signIns.load()) === null)
      throw new NotSignedInError(`not signed in to ${environment} at ${url}`, SIGN_IN);
    return clientOf(signIns.credential);
  };
  return {
    io,
    url,
    environment,
    isJson: given.json === true,
    keys,
    signIns,
    clientOf,
    signedIn,
    payer: async () => (keys.delegate === undefined ? signedIn() : clientOf(keys.delegate.text)),
    vendor: () => {
      if (keys.service === undefined)
        throw new NotSignedInError(
          'this needs a service key',
          'Set SERVICE_KEY to a key that begins with vendor_. Create a service in the console, under Services.',
        );
      return clientOf(keys.service.text);
    },
    fetch,
  };
};

/** Prints a result: as JSON, or as the text of a person. */
export const print = ({ io, isJson }: Context, result: unknown, text: () => string): void =>
  io.out(isJson ? `${JSON.stringify(result, null, 2)}\n` : `${text()}\n`);

/**
 * The address of the console. On this machine it is at localhost, because passkeys and the cookie
 * of the sign-in belong to a name and not to an address.
 */
const consoleOf = (url: string): string => {
  const { protocol, hostname, port, pathname } = new URL(url);
  const host = LOOPBACK.test(hostname) ? 'localhost' : hostname;
  return `${protocol}//${host}${port === '' ? '' : `:${port}`}${pathname.replace(/\/$/, '')}/console`;
};

/** The address of a page of the console. */
export const pageOf = ({ url }: Pick<Context, 'url'>, path: string): string => `${consoleOf(url)}${path}`;

/** Prints the page of the console where a person does what the sign-in of a device may not. */
export const printPage = (context: Context, path: string, does: string): void => {
  const page = pageOf(context, path);
  print(context, { page }, () => `${does} on this page:\n\n  ${page}`);
};
