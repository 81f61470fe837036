import { z } from 'zod';
import { Environment, SolanaAddress } from '../../shared/contract/primitives.ts';
import { commonConfig, JsonText, NkeySeed, OriginList } from '../../shared/lib/config.ts';
import { PublicKeyList } from '../../shared/lib/tokens/keys.ts';
import { HopCount } from './http/proxies.ts';
import { LimitsFile } from './limits/limits-file.ts';

const EnvironmentConnection = z.strictObject({
  name: Environment,
  nats_url: z.string().min(1),
  nats_nkey_seed: NkeySeed,
});

const Environments = JsonText.pipe(z.array(EnvironmentConnection).min(1)).refine(
  (list) => new Set(list.map(({ name }) => name)).size === list.length,
  'names must differ',
);

const ContactList = z
  .string()
  .default('')
  .transform((text) => text.split(',').map((part) => part.trim()))
  .transform((contacts) => contacts.filter((contact) => contact !== ''))
  .refine(
    (contacts) => contacts.every((contact) => URL.canParse(contact) && /^(mailto|https):\S+$/.test(contact)),
    'must be mailto: or https: addresses, comma separated',
  );

export const config = z.object({
  ...commonConfig,
  /** The address at which clients reach this gateway, as the OpenAPI document shows it. */
  PUBLIC_URL: z.url(),
  /**
   * Origins of the pages that may keep a refresh token in the cookie; by default that of
   * PUBLIC_URL.
   */
  BROWSER_ORIGINS: OriginList.optional(),
  /**
   * Origins of other pages whose scripts may call the API, or `*` for all of them; by default none.
   */
  CORS_ORIGINS: z.union([z.literal('*'), OriginList]).optional(),
  /**
   * Where vulnerabilities are reported, `mailto:` or `https:`, comma separated, the preferred one
   * first. They make /.well-known/security.txt (RFC 9116).
   */
  SECURITY_CONTACTS: ContactList,
  /** The page about reports of vulnerabilities, as SECURITY.md is one. */
  SECURITY_POLICY_URL: z.url({ protocol: /^https$/ }).optional(),
  ENVIRONMENTS: Environments,
  REDIS_URL: z.string().min(1),
  PUBLIC_KEYS: PublicKeyList,
  /** JSON, environment → address of its USDC mint. The console compares transactions with it. */
  USDC_MINTS: JsonText.pipe(z.partialRecord(Environment, SolanaAddress)),
  /**
   * JSON, environment → CAIP-2 id of its network. Clients compare a vendor's offer of x402 with it.
   */
  X402_NETWORKS: JsonText.pipe(
    z.partialRecord(Environment, z.string().regex(/^solana:[1-9A-HJ-NP-Za-km-z]{32}$/)),
  ),
  /** The page of a mail catcher, to which the console links, on a machine that delivers no mail. */
  CAUGHT_MAIL_URL: z.url({ protocol: /^https?$/ }).optional(),
  LIMITS_FILE: LimitsFile,
  /**
   * How many proxies every request passes before it arrives here. That many entries of
   * X-Forwarded-For are trusted, from the right.
   */
  TRUSTED_HOPS: HopCount,
  /**
   * `adopt` where the trusted proxies begin the traces themselves and drop the traceparent of the
   * caller. Most proxies pass it on. A caller could then select what is sampled, and write into
   * other traces.
   */
  TRACEPARENT_OF_PROXIES: z.enum(['link', 'adopt']).default('link'),
  /**
   * How long readiness answers 503 before the port closes, so that a load balancer stops sending
   * calls first.
   */
  DRAIN_SECONDS: z.coerce.number().min(0).max(15).default(1),
});
export type Config = z.infer<typeof config>;
