import type { Program, ServiceName } from '../../../shared/contract/service.ts';
import type { EnvironmentKeys } from './keys.ts';
import { networkOf } from './networks.ts';
import type { HourlyCaps } from './settings.ts';
import type { StackEnvironment } from './stack-file.ts';

const host = '127.0.0.1';

/** Quotes, offers of other protocols and the prices of services have the same fee. */
const fees = { FEE_BPS: '50', FEE_MIN_MICRO: '10000' };

/** An environment of the stack with everything that configures its services. */
export type RunningEnvironment = StackEnvironment & {
  name: string;
  keys: EnvironmentKeys;
  genesisHash: string;
  /** The chain with the scenarios, which the services use; null where amounts play none. */
  scenariosUrl: string | null;
  /** How a service connects to the bus. */
  nats: { url: string; seedOf: (program: Program) => string };
  /** The database URL with the service's role. */
  /** POSTGRES_URL, and that of its replica if it has one. */
  databaseSettings: (service: ServiceName) => Record<string, string>;
};

export type SharedSettings = {
  gatewayUrl: string;
  redisUrl: string;
  smtpUrl: string;
  /** The page of the mail catcher. */
  caughtMailUrl?: string | undefined;
  limitsFile: string;
  logLevel: string;
  /** The authority of servers with TLS. */
  caFile?: string | undefined;
  hourlyCaps?: HourlyCaps;
  nameServers?: string | undefined;
};

/** Configuration of the gateway, the one process that serves all environments. */
export function gatewayEnvironment(
  port: number,
  environments: readonly Pick<RunningEnvironment, 'name' | 'keys' | 'usdc_mint' | 'nats'>[],
  shared: Omit<SharedSettings, 'smtpUrl'> & Partial<SharedSettings>,
): Record<string, string> {
  const connections = environments.map(({ name, nats }) => ({
    name,
    nats_url: nats.url,
    nats_nkey_seed: nats.seedOf('gateway'),
  }));
  return {
    HTTP_HOST: host,
    HTTP_PORT: String(port),
    LOG_LEVEL: shared.logLevel,
    ...(shared.caFile && { TLS_CA_FILE: shared.caFile }),
    PUBLIC_URL: shared.gatewayUrl,
    BROWSER_ORIGINS: `${shared.gatewayUrl},${localOrigin(shared.gatewayUrl)}`,
    ENVIRONMENTS: JSON.stringify(connections),
    REDIS_URL: shared.redisUrl,
    LIMITS_FILE: shared.limitsFile,
    PUBLIC_KEYS: publicKeys(environments),
    USDC_MINTS: JSON.stringify(
      Object.fromEntries(environments.map(({ name, usdc_mint }) => [name, usdc_mint])),
    ),
    X402_NETWORKS: JSON.stringify(
      Object.fromEntries(environments.map(({ name }) => [name, networkOf(name).caip2])),
    ),
    ...(shared.caughtMailUrl && { CAUGHT_MAIL_URL: shared.caughtMailUrl }),
  };
}

/** Configuration of a service of one environment. A service gets only the secrets that it uses. */
export function serviceEnvironment(
  service: ServiceName,
  port: number,
  environment: RunningEnvironment,
  shared: SharedSettings & { rpcUrls: readonly string[] },
): Record<string, string> {
  const { keys, nats } = environment;
  const signing = (use: keyof EnvironmentKeys['signing']): string => {
    const { kid, seed } = keys.signing[use];
    return `${kid}:${seed}`;
  };
  const selling = {
    PUBLIC_KEYS: publicKeys([environment]),
    USDC_MINT: environment.usdc_mint,
    CURSOR_KEY: keys.cursorKey,
    PUBLIC_URL: shared.gatewayUrl,
    ...fees,
  };
  const own: Record<typeof service, Record<string, string>> = {
    quote: { SIGNING_KEYS: signing('quote'), ...selling },
    settlement: {
      SIGNING_KEYS: signing('settlement'),
      FEE_WALLET: environment.fee_wallet,
      X402_NETWORK: networkOf(environment.name).caip2,
      ...selling,
      ...shared.hourlyCaps,
    },
    wallet: { CURSOR_KEY: keys.cursorKey },
    // Only the test environment has a call that funds wallets, because test USDC is minted freely.
    funding: {
      DEV_FUND: String(environment.name === 'test'),
      CURSOR_KEY: keys.cursorKey,
      ...onramps(environment),
    },
    identity: {
      SIGNING_KEYS: signing('session'),
      PUBLIC_KEYS: publicKeys([environment]),
      SMTP_URL: shared.smtpUrl,
      ...(shared.nameServers && { DOMAIN_NAME_SERVERS: shared.nameServers }),
      MAIL_FROM: 'Quittance <no-reply@quittance.example>',
      SIGN_IN_URL: `${localOrigin(shared.gatewayUrl)}/console/sign-in/link`,
      REVEAL_URL: `${localOrigin(shared.gatewayUrl)}/console/reveal`,
      CONSOLE_URL: `${localOrigin(shared.gatewayUrl)}/console`,
      PASSKEY_RP_ID: 'localhost',
      PASSKEY_ORIGINS: localOrigin(shared.gatewayUrl),
      IDENTITY_SECRET: keys.identitySecret,
      ...fees,
      CURSOR_KEY: keys.cursorKey,
    },
    'chain-submitter': submitterEnvironment(environment, shared),
    // Webhook receivers on this machine: plain http and local addresses, which are refused
    // elsewhere.
    webhook: {
      SECRETS_KEY: keys.webhookSecretsKey,
      CURSOR_KEY: keys.cursorKey,
      ALLOW_PRIVATE_TARGETS: 'true',
    },
  };
  return {
    ENVIRONMENT: environment.name,
    HTTP_HOST: host,
    HTTP_PORT: String(port),
    LOG_LEVEL: shared.logLevel,
    ...(shared.caFile && { TLS_CA_FILE: shared.caFile }),
    NATS_URL: nats.url,
    NATS_NKEY_SEED: nats.seedOf(service),
    ...environment.databaseSettings(service),
    ...own[service],
  };
}

function submitterEnvironment(
  environment: RunningEnvironment,
  shared: SharedSettings & { rpcUrls: readonly string[] },
): Record<string, string> {
  const { keys } = environment;
  return {
    SOLANA_RPC_URLS: shared.rpcUrls.join(','),
    GENESIS_HASH: environment.genesisHash,
    USDC_MINT: environment.usdc_mint,
    FEE_PAYER_KEYS: `1:${keys.feePayer.secretKey}`,
    DELEGATE_AUTHORITY_KEYS: keys.delegateAuthorities
      .map(({ number, secretKey }) => `${number}:${secretKey}`)
      .join(','),
    FEE_WALLET: environment.fee_wallet,
    // Live money cannot be minted: the live environment has no such key.
    ...(environment.name === 'test' ? { FUNDING_AUTHORITY_KEY: keys.mintAuthority.secretKey } : {}),
    PUBLIC_KEYS: publicKeys([environment]),
    ...shared.hourlyCaps,
  };
}

/** Browsers allow passkeys on `localhost` without a certificate, but not on an IP address. */
export function localOrigin(gatewayUrl: string): string {
  return `http://localhost:${new URL(gatewayUrl).port}`;
}

/** Funding's settings for the sandboxes. Only URLs and keys differ from the real providers. */
function onramps({ keys, moonpay_url, coinbase_url }: RunningEnvironment): Record<string, string> {
  const { moonpay, coinbase } = keys.onramps;
  return {
    MOONPAY: JSON.stringify({
      widget_url: `${moonpay_url}/`,
      api_url: moonpay_url,
      publishable_key: moonpay.publishableKey,
      secret_key: moonpay.secretKey,
      webhook_key: moonpay.webhookKey,
    }),
    COINBASE: JSON.stringify({
      api_url: `${coinbase_url}/platform`,
      status_url: `${coinbase_url}/onramp`,
      key_id: coinbase.keyId,
      key_secret: coinbase.keySecret,
      webhook_secret: coinbase.webhookSecret,
      user_ref_prefix: 'sandbox-',
    }),
  };
}

function publicKeys(environments: readonly { keys: EnvironmentKeys }[]): string {
  const all = environments.flatMap(({ keys }) => Object.values(keys.signing));
  return JSON.stringify(all.map(({ kid, publicKey }) => ({ kid, x: publicKey })));
}
