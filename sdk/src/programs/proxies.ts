/** The proxy of the environment, by which alone some networks reach the API. */

type Env = Readonly<Record<string, string | undefined>>;

const VARIABLES = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'];

/** The variable that names a proxy. Null: there is none. */
export const proxyVariable = (env: Env): string | null =>
  VARIABLES.find((name) => (env[name] ?? '') !== '') ?? null;

/**
 * What NO_PROXY names, and this machine: a proxy could not reach it. A single star means all, also
 * with others beside it.
 */
export const directHosts = (env: Env): string => {
  const named = env.NO_PROXY ?? env.no_proxy ?? '';
  return named.trim() === '*' ? '*' : [named, 'localhost', '127.0.0.1', '[::1]'].filter(Boolean).join(',');
};

/** The options of an agent of undici that follows the environment. */
export const proxyOptions = (env: Env): { httpProxy?: string; httpsProxy?: string; noProxy: string } => {
  const [httpProxy, httpsProxy] = ['http_proxy', 'https_proxy'].map(
    (name) => env[name] || env[name.toUpperCase()] || undefined,
  );
  return {
    ...(httpProxy !== undefined && { httpProxy }),
    ...(httpsProxy !== undefined && { httpsProxy }),
    noProxy: directHosts(env),
  };
};

/** What a program needs of undici, which this package does not depend on. */
type Undici<D> = {
  EnvHttpProxyAgent: new (options: ReturnType<typeof proxyOptions>) => D;
  setGlobalDispatcher: (dispatcher: D) => void;
};

/**
 * Makes every fetch of this process use the proxy of the environment. Node has this only from a
 * newer version on.
 * @param load imports undici. Without a proxy nothing is loaded
 */
export const useProxies = async <D>(env: Env, load: () => Promise<Undici<D>>): Promise<void> => {
  if (proxyVariable(env) === null) return;
  const { EnvHttpProxyAgent, setGlobalDispatcher } = await load();
  setGlobalDispatcher(new EnvHttpProxyAgent(proxyOptions(env)));
};
