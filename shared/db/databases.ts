import { SERVICE_NAMES, type ServiceName } from '../contract/service.ts';
import { type Issue, loadSettings } from '../lib/config.ts';
import { Refusal } from '../lib/refusal.ts';
import { databaseUrlWithTls } from '../lib/transport.ts';
import { schemaName } from './names.ts';

/**
 * Which database each service has (docs/adr/0085-a-postgres-per-service.md). All services may share
 * one, and each may have its own on another server: no table refers to a table of another service.
 * A service knows only its own (POSTGRES_URL). A program for all of them asks this file.
 */
export type Databases = Readonly<Record<ServiceName, string>>;

/** All services share one database. */
export const oneDatabase = (url: string): Databases => each(() => url);

const each = (urlOf: (service: ServiceName) => string): Databases =>
  Object.fromEntries(SERVICE_NAMES.map((service) => [service, urlOf(service)])) as Record<
    ServiceName,
    string
  >;

/** Another URL for each service, such as that of another user. */
export const mapDatabases = (
  databases: Databases,
  change: (url: string, service: ServiceName) => string,
): Databases => each((service) => change(databases[service], service));

/** A database, with the services that it belongs to. */
export type SharedDatabase = { url: string; services: ServiceName[] };

/** Each database once. */
export const distinctDatabases = (databases: Databases): SharedDatabase[] => {
  const found = new Map<string, ServiceName[]>();
  for (const service of SERVICE_NAMES)
    found.set(databases[service], [...(found.get(databases[service]) ?? []), service]);
  return [...found].map(([url, services]) => ({ url, services }));
};

/** The setting of operators' programs: the URL of an owner or a superuser. */
export const ADMIN_SETTING = 'POSTGRES_ADMIN_URL';

/** `POSTGRES_ADMIN_URL_CHAIN_SUBMITTER`, of a service with a database of its own. */
export const ownSetting = (setting: string, service: ServiceName): string =>
  `${setting}_${schemaName(service).toUpperCase()}`;

const isDatabaseUrl = (url: string): boolean =>
  URL.canParse(url) && /^postgres(ql)?:$/.test(new URL(url).protocol);

const nameIn = (url: string): string => new URL(url).pathname;

const issuesOf = (
  given: Readonly<Record<string, string>>,
  setting: string,
  urlOf: (service: ServiceName) => string | undefined,
): Issue[] => {
  const own = SERVICE_NAMES.map((service) => ownSetting(setting, service));
  // A setting with a typing error would leave the service on the database of the others.
  const unknown = Object.keys(given).filter((name) => name.startsWith(`${setting}_`) && !own.includes(name));
  if (unknown.length > 0)
    return unknown.map((path) => ({
      path,
      message: `no service has this setting; those are ${own.join(', ')}`,
    }));
  const missing = SERVICE_NAMES.filter((service) => urlOf(service) === undefined);
  if (missing.length === SERVICE_NAMES.length)
    return [{ path: setting, message: `is missing: postgres://… of the database of all services` }];
  if (missing.length > 0)
    return missing.map((service) => ({
      path: ownSetting(setting, service),
      message: `is missing: set it, or ${setting} for all services without a database of their own`,
    }));
  const wrong = [setting, ...own].filter((name) => given[name] !== undefined && !isDatabaseUrl(given[name]));
  if (wrong.length > 0) return wrong.map((path) => ({ path, message: 'must be postgres://…' }));
  const first = urlOf(SERVICE_NAMES[0]!)!;
  const other = SERVICE_NAMES.find((service) => nameIn(urlOf(service)!) !== nameIn(first));
  if (other === undefined) return [];
  // The name is that of the environment: a restore and the services' roles depend on it.
  const message = `all databases of an environment have the same name: ${nameIn(first)} or ${nameIn(urlOf(other)!)}`;
  return [{ path: setting, message }];
};

const read = (env: NodeJS.ProcessEnv, setting: string): { value?: Databases; issues: Issue[] } => {
  // An empty variable is one that is not set, as in a file of variables.
  const given = Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => Boolean(entry[1])),
  );
  const urlOf = (service: ServiceName) => given[ownSetting(setting, service)] ?? given[setting];
  const issues = issuesOf(given, setting, urlOf);
  if (issues.length > 0) return { issues };
  return { issues, value: each((service) => databaseUrlWithTls(urlOf(service)!, given.TLS_CA_FILE)) };
};

/** Whether the setting, or that of any service, is there. */
export const hasDatabases = (env: NodeJS.ProcessEnv, setting = ADMIN_SETTING): boolean =>
  [setting, ...SERVICE_NAMES.map((service) => ownSetting(setting, service))].some((name) =>
    Boolean(env[name]),
  );

/**
 * The database of each service: `POSTGRES_ADMIN_URL_<SERVICE>` if it is set, else
 * `POSTGRES_ADMIN_URL`. Connections verify the servers if TLS_CA_FILE is set.
 * @throws Refusal that names the setting which is missing or wrong
 */
export const databasesIn = (env: NodeJS.ProcessEnv, setting = ADMIN_SETTING): Databases => {
  const { value, issues } = read(env, setting);
  if (value !== undefined) return value;
  throw new Refusal(issues.map(({ path, message }) => `${path}: ${message}`).join('\n'));
};

/** The same for a job of the image, which ends as at any other wrong setting. */
export const loadDatabases = (): Databases => loadSettings((env) => read(env, ADMIN_SETTING));

/** The settings from which `databasesIn` reads these databases. */
export const settingsOf = (databases: Databases): Record<string, string> => {
  const [first, ...others] = distinctDatabases(databases);
  if (others.length === 0) return { [ADMIN_SETTING]: first!.url };
  return Object.fromEntries(
    SERVICE_NAMES.map((service) => [ownSetting(ADMIN_SETTING, service), databases[service]]),
  );
};
