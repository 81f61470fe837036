import type { z } from 'zod';
import type { WorkloadName } from './workloads.ts';

/**
 * The source of each setting of services/<name>/config.ts in a cluster. A new setting must be
 * entered here. A setting that is not a secret is in a ConfigMap that many may read.
 *
 * - `secret`: the Secret with the service's name, under the setting's name
 * - `settings`: the ConfigMap of that name, which an overlay fills from its settings.env
 * - `public-keys`: the ConfigMap that is created together with the Secrets
 *   (tools/cluster-secrets.ts)
 * - `value`: the same in every cluster
 * - null: the default applies
 */
type Source =
  | { from: 'secret' | 'settings' | 'public-keys' }
  | { value: string | ((service: WorkloadName) => string) }
  | null;

const secret = { from: 'secret' } as const;
const settings = { from: 'settings' } as const;
const publicKeys = { from: 'public-keys' } as const;

export const HTTP_PORT = 3000;
export const METRICS_PORT = 9464;
export const LIMITS_FOLDER = '/etc/quittance';

export const SOURCES: Record<string, Source> = {
  // ---------- every process ----------
  HTTP_HOST: null,
  HTTP_PORT: { value: String(HTTP_PORT) },
  LOG_LEVEL: settings,
  LOG_FORMAT: null,
  /** Set by the overlay that mounts the certificates of the authority (docs/kubernetes.md, TLS). */
  TLS_CA_FILE: settings,
  OTEL_SERVICE_NAME: null,
  OTEL_METRICS_EXPORTER: { value: 'prometheus' },
  OTEL_TRACES_EXPORTER: null,
  OTEL_EXPORTER_OTLP_ENDPOINT: settings,
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: null,
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: null,

  // ---------- every service of an environment ----------
  ENVIRONMENT: settings,
  CELL: settings,
  NATS_URL: settings,
  NATS_NKEY_SEED: secret,
  POSTGRES_URL: secret,
  POSTGRES_REPLICA_URL: secret,
  POSTGRES_POOL: settings,
  CURSOR_KEY: secret,
  SIGNING_KEYS: secret,
  PUBLIC_KEYS: publicKeys,
  USDC_MINT: settings,
  FEE_WALLET: publicKeys,

  // ---------- gateway, quote, settlement ----------
  PUBLIC_URL: settings,

  // ---------- gateway ----------
  SECURITY_CONTACTS: settings,
  SECURITY_POLICY_URL: settings,
  // A cluster delivers its mails.
  CAUGHT_MAIL_URL: null,
  BROWSER_ORIGINS: settings,
  CORS_ORIGINS: settings,
  /** Contains the gateway's seed on every environment's bus. */
  ENVIRONMENTS: secret,
  REDIS_URL: secret,
  LIMITS_FILE: { value: `${LIMITS_FOLDER}/limits.json` },
  USDC_MINTS: settings,
  TRUSTED_HOPS: settings,
  TRACEPARENT_OF_PROXIES: settings,
  /**
   * Answers close their connections meanwhile. A connection that a client has not used for that
   * long is closed without an answer, so a short drain would lose the calls that arrive at that
   * moment.
   */
  DRAIN_SECONDS: { value: '10' },

  // ---------- quote, settlement, wallet ----------
  FEE_BPS: settings,
  FEE_MIN_MICRO: settings,
  X402_NETWORK: settings,
  X402_NETWORKS: settings,
  SOL_PRICE_MICRO: settings,
  X402_FEE_BPS: settings,
  X402_FEE_MIN_MICRO: settings,
  TAB_MAX_AMOUNT_MICRO: settings,
  TAB_MAX_NEW_PAYER_MICRO: settings,
  TAB_MAX_VENDOR_MICRO: settings,
  X402_FIRST_CREDIT_MICRO: settings,
  X402_CREDIT_PER_PAID: settings,
  X402_CREDIT_MICRO: settings,
  OPEN_PHONE_PAYMENTS_OF_LINK: settings,
  OPEN_PHONE_PAYMENTS: settings,
  SETTLE_WAIT_MS: settings,
  CHAIN_WAIT_MS: settings,
  WATCH_EVERY_MS: settings,

  // ---------- settlement and chain-submitter: one accepts what the other signs ----------
  WALLET_HOURLY_CAP_MICRO: settings,
  ENVIRONMENT_HOURLY_CAP_MICRO: settings,
  HOURLY_CAPS_OF_WALLETS: settings,

  // ---------- funding: MOONPAY and COINBASE contain the providers' keys ----------
  DEV_FUND: settings,
  MOONPAY: secret,
  COINBASE: secret,

  // ---------- identity ----------
  IDENTITY_SECRET: secret,
  /** Contains the password of the mail server. */
  SMTP_URL: secret,
  MAIL_FROM: settings,
  SIGN_IN_URL: settings,
  REVEAL_URL: settings,
  CONSOLE_URL: settings,
  PASSKEY_RP_ID: settings,
  PASSKEY_RP_NAME: settings,
  PASSKEY_ORIGINS: settings,
  ACCOUNT_ERASURE_DAYS: settings,
  /** The cluster's name servers. */
  DOMAIN_NAME_SERVERS: null,

  // ---------- webhook ----------
  SECRETS_KEY: secret,
  /**
   * Only for a laptop: in a cluster it would open the internal network to everyone who can register
   * an endpoint.
   */
  ALLOW_PRIVATE_TARGETS: null,
  DELIVERY_TIMEOUT_MS: settings,

  // ---------- chain-submitter ----------
  /** A provider's URL is its access key. */
  SOLANA_RPC_URLS: secret,
  GENESIS_HASH: settings,
  FEE_PAYER_KEYS: secret,
  FEE_PAYERS_IN_USE: settings,
  DELEGATE_AUTHORITY_KEYS: secret,
  FUNDING_AUTHORITY_KEY: secret,
  PKCS11_MODULE: settings,
  PKCS11_PIN_FILE: settings,
  COMPUTE_BUDGET: settings,
  INCOMING_HOURLY_CAP_MICRO: settings,
  SETTLE_FEES_LAMPORTS_PER_DAY: settings,
  INCOMING_FEES_LAMPORTS_PER_DAY: settings,
  INCOMING_FAILURES_PER_DAY: settings,
  INCOMING_PROGRAMS: settings,
  INCOMING_FIRST_FAILURES_PER_DAY: settings,
  SETTLE_RENT_LAMPORTS_PER_DAY: settings,
  USER_FEES_LAMPORTS_PER_DAY: settings,
  USER_RENT_LAMPORTS_PER_DAY: settings,
  REVOKE_FEES_LAMPORTS_PER_DAY: settings,
  COSIGNATURES_PER_DAY: settings,
  REVOKES_PER_DAY: settings,
  POLL_MS: settings,
};

/** The SDK of OpenTelemetry reads these variables (shared/lib/telemetry/telemetry.ts). */
const EXPORTER = [
  { name: 'OTEL_EXPORTER_PROMETHEUS_HOST', value: '0.0.0.0' },
  { name: 'OTEL_EXPORTER_PROMETHEUS_PORT', value: String(METRICS_PORT) },
];

export type EnvVar = {
  name: string;
  value?: string;
  valueFrom?:
    | { secretKeyRef: { name: string; key: string; optional?: true } }
    | { configMapKeyRef: { name: string; key: string; optional?: true } };
};

/** The schema of services/<name>/config.ts. */
export const configOf = async (service: WorkloadName): Promise<z.ZodObject> =>
  ((await import(`../../services/${service}/config.ts`)) as { config: z.ZodObject }).config;

/** The environment of a service's container: exactly the settings of its config.ts. */
export const environmentOf = (service: WorkloadName, config: z.ZodObject): EnvVar[] => [
  ...Object.entries(config.shape as Record<string, z.ZodType>).flatMap(([name, schema]): EnvVar[] => {
    const source = SOURCES[name];
    if (source === undefined)
      throw new Error(`${service}: ${name} has no source. Enter one in tools/k8s/settings.ts.`);
    if (source === null) return [];
    if ('value' in source)
      return [{ name, value: typeof source.value === 'string' ? source.value : source.value(service) }];
    const may = schema.safeParse(undefined).success ? { optional: true as const } : {};
    const key = { key: name, ...may };
    return [
      {
        name,
        valueFrom:
          source.from === 'secret'
            ? { secretKeyRef: { name: service, ...key } }
            : { configMapKeyRef: { name: source.from, ...key } },
      },
    ];
  }),
  ...EXPORTER,
];
