import { z } from 'zod';

const text = z.string().min(1);
const Keys = z.object({
  moonpay: z.object({ publishableKey: text, secretKey: text, webhookKey: text }),
  coinbase: z.object({ keyId: text, publicKey: text, webhookSecret: text }),
});
export type SandboxKeys = z.infer<typeof Keys>;

const Config = z.object({
  ONRAMPS_PORT: z.coerce.number().int().min(0).max(65535),
  /**
   * The host name in a container network, on which the server then listens. By default only this
   * machine can reach it.
   */
  ONRAMPS_HOST: z
    .string()
    .regex(/^[a-z]+$/)
    .optional(),
  ONRAMPS_DATA_DIR: text,
  /** The base URL of webhooks: `<base>/<provider>/<environment>/webhook`. */
  ONRAMPS_WEBHOOKS: z.url(),
  ONRAMPS_ENVIRONMENT: text,
  ONRAMPS_RPC_URL: z.url(),
  ONRAMPS_MINT: text,
  /** The keypair of the treasury, 64 bytes in base58. */
  ONRAMPS_TREASURY_KEY: text,
  ONRAMPS_KEYS: z
    .string()
    .transform((json): unknown => JSON.parse(json))
    .pipe(Keys),
});
export type SandboxConfig = z.infer<typeof Config>;

/** @throws with the names of the missing or invalid variables. */
export const readConfig = (env: NodeJS.ProcessEnv): SandboxConfig => {
  const result = Config.safeParse(env);
  if (result.success) return result.data;
  throw new Error(`missing or invalid: ${result.error.issues.map(({ path }) => path.join('.')).join(', ')}`);
};
