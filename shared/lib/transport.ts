import { readFileSync } from 'node:fs';
import { rootCertificates } from 'node:tls';

/**
 * Connections to NATS, Postgres, Redis and SMTP. The URL of a server says whether a connection is
 * encrypted. An encrypted connection always verifies the certificate and the name of the server.
 */

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** How the URL of each setting says that the connection is encrypted. */
const ENCRYPTED = {
  NATS_URL: { is: ({ protocol }: URL) => protocol === 'tls:', form: 'tls://' },
  REDIS_URL: { is: ({ protocol }: URL) => protocol === 'rediss:', form: 'rediss://' },
  POSTGRES_URL: {
    is: ({ searchParams }: URL) => searchParams.get('sslmode') === 'verify-full',
    form: '?sslmode=verify-full',
  },
};
type Setting = keyof typeof ENCRYPTED;

/** Whether a connection stays within the machine. One without a host counts as if it did not. */
export const isOnThisMachine = (url: string): boolean =>
  URL.canParse(url) && LOOPBACK.test(new URL(url).hostname);

const isSafe = (setting: Setting, url: string): boolean =>
  isOnThisMachine(url) || (URL.canParse(url) && ENCRYPTED[setting].is(new URL(url)));

type Connection = { name?: unknown; nats_url?: unknown };

/** The URLs of a parsed configuration that carry live money or its credentials. */
const liveUrls = (config: Record<string, unknown>): { path: string; setting: Setting; url: unknown }[] => {
  const own = (settings: readonly Setting[]) =>
    settings.map((setting) => ({ path: setting, setting, url: config[setting] }));
  if (config.ENVIRONMENT === 'live') return own(['NATS_URL', 'POSTGRES_URL', 'REDIS_URL']);
  const environments = Array.isArray(config.ENVIRONMENTS) ? (config.ENVIRONMENTS as Connection[]) : [];
  const live = environments.filter(({ name }) => name === 'live');
  if (live.length === 0) return [];
  return [
    ...live.map(({ nats_url: url }) => ({
      path: 'ENVIRONMENTS.live.nats_url',
      setting: 'NATS_URL' as const,
      url,
    })),
    ...own(['REDIS_URL']),
  ];
};

/**
 * The connections of a live environment that are not encrypted. A password or an answer that
 * crosses a network in the clear is an account, or a payment. A connection within the machine may
 * be plain.
 */
export const plainConnections = (config: Record<string, unknown>): { path: string; message: string }[] =>
  liveUrls(config).flatMap(({ path, setting, url }) =>
    typeof url !== 'string' || isSafe(setting, url)
      ? []
      : [{ path, message: `must be encrypted in live (${ENCRYPTED[setting].form}), or on this machine` }],
  );

/** The options of a TLS client: the authority that a file names, otherwise those of Node. */
type TlsOptions = { ca?: string };

/**
 * The options for a server of ours, by its URL; undefined for a plain connection.
 * @param caFile the certificates of the authority of our servers (PEM). No other is believed then.
 */
export const tlsOf = (setting: Setting, url: string, caFile: string | undefined): TlsOptions | undefined => {
  if (!URL.canParse(url) || !ENCRYPTED[setting].is(new URL(url))) return undefined;
  return caFile === undefined ? {} : { ca: readFileSync(caFile, 'utf8') };
};

/** The options for a server that may be ours or somebody else's: ours is one authority more. */
export const tlsWithOwn = (caFile: string | undefined): { ca?: string[] } =>
  caFile === undefined ? {} : { ca: [...rootCertificates, readFileSync(caFile, 'utf8')] };

/**
 * The URL of the owner of a database for a job: encrypted if the authority of our servers is named.
 * The URLs that an operator of databases makes have no parameters of TLS. Parameters that are there
 * stay.
 */
export const databaseUrlWithTls = (url: string, caFile: string | undefined): string => {
  const parsed = new URL(url);
  if (caFile === undefined || parsed.searchParams.has('sslmode')) return url;
  parsed.searchParams.set('sslmode', 'verify-full');
  parsed.searchParams.set('sslrootcert', caFile);
  return parsed.href;
};

/**
 * A database URL without its parameters of TLS, and the options that they mean: slonik knows fewer
 * of them than libpq, and ignores `sslrootcert`.
 */
export const splitDatabaseUrl = (url: string): { url: string; tls: TlsOptions | undefined } => {
  if (!URL.canParse(url)) return { url, tls: undefined };
  const parsed = new URL(url);
  const tls = tlsOf('POSTGRES_URL', url, parsed.searchParams.get('sslrootcert') ?? undefined);
  if (tls === undefined) return { url, tls };
  parsed.searchParams.delete('sslmode');
  parsed.searchParams.delete('sslrootcert');
  return { url: parsed.href, tls };
};
