import { z } from 'zod';
import { AddressList, OriginList, SecretList, serviceConfig } from '../../shared/lib/config.ts';
import { feeConfig } from '../../shared/lib/money/fee-settings.ts';
import { SigningKeys } from '../../shared/lib/tokens/keys.ts';

export const config = z
  .object({
    ...serviceConfig,
    /** `<env>.session.<n>` keys; the first signs. */
    SIGNING_KEYS: SigningKeys,
    /** Derive the tokens of links and sessions. Removing one invalidates its tokens. */
    IDENTITY_SECRET: SecretList,
    CURSOR_KEY: SecretList,
    /** A price must exceed the fee of its quotes. */
    ...feeConfig,
    /** `smtp://` or `smtps://`, with user and password where the server requires them. */
    SMTP_URL: z.url({ protocol: /^smtps?$/ }),
    /** An address, or `Name <address>`. */
    MAIL_FROM: z.string().regex(/^[^\p{Cc}]+@[^\p{Cc}]+$/u, 'must be an address'),
    /** The page that a sign-in link opens; the token is appended as its fragment. */
    SIGN_IN_URL: z.url({ protocol: /^https?$/ }).regex(/^[^#]+$/, 'must have no fragment'),
    /** The page that a reveal link opens. The token is its fragment, the key's owner its query. */
    REVEAL_URL: z.url({ protocol: /^https?$/ }).regex(/^[^#?]+$/, 'must have no query and no fragment'),
    /** The console, whose pages `/device` and `/approvals/<id>` are shown to people. */
    CONSOLE_URL: z
      .url({ protocol: /^https?$/ })
      .regex(/^[^#?]+[^#?/]$/, 'must have no query, fragment and last slash'),
    /** The domain that passkeys are bound to. A change invalidates every registered passkey. */
    PASSKEY_RP_ID: z.string().regex(/^([a-z0-9-]+\.)*[a-z0-9-]+$/, 'must be a domain'),
    PASSKEY_RP_NAME: z.string().min(1).max(64).default('Quittance'),
    /** Origins of the pages that may use passkeys, comma separated: `https://console.example`. */
    PASSKEY_ORIGINS: OriginList,
    /**
     * The name servers that are asked for the proofs of domains, comma separated, each an address
     * with an optional port. Default: those of this machine.
     */
    DOMAIN_NAME_SERVERS: AddressList.optional(),
    /** How long after its closure an account's personal data are erased. Mails expire earlier. */
    ACCOUNT_ERASURE_DAYS: z.coerce.number().int().min(7).max(365).default(30),
  })
  .refine(({ ENVIRONMENT, SIGNING_KEYS }) => SIGNING_KEYS[0]?.kid.startsWith(`${ENVIRONMENT}.session.`), {
    path: ['SIGNING_KEYS'],
    message: 'must begin with a session key of this environment',
  });
export type Config = z.infer<typeof config>;
