import { z } from 'zod';
import { SolanaAddress } from '../../shared/contract/primitives.ts';
import { serviceConfig } from '../../shared/lib/config.ts';
import { PublicKeyList } from '../../shared/lib/keys.ts';
import { NumberedSecretKeys, newestFirst, SecretKey } from './signer.ts';

const MicroCap = (fallback: bigint) =>
  z.coerce
    .bigint()
    .min(1n)
    .max(2n ** 62n)
    .default(fallback);

export const config = z
  .object({
    ...serviceConfig,
    /** Comma separated. Live needs two: a proof of expiry asks each of them. */
    SOLANA_RPC_URLS: z
      .string()
      .transform((text) => text.split(',').map((url) => url.trim()))
      .pipe(z.array(z.url({ protocol: /^https?$/ })).min(1)),
    GENESIS_HASH: SolanaAddress,
    USDC_MINT: SolanaAddress,
    /** The first pays; the others co-sign what was prepared with them (docs/operations.md, Fee payer). */
    FEE_PAYER_KEYS: NumberedSecretKeys,
    /** The highest number serves new onboardings. */
    DELEGATE_AUTHORITY_KEYS: NumberedSecretKeys.transform(newestFirst),
    /** Owner of the token account that fees go to. */
    FEE_WALLET: SolanaAddress,
    /** Mint authority of test USDC; without it nothing is funded. */
    FUNDING_AUTHORITY_KEY: SecretKey.optional(),
    PUBLIC_KEYS: PublicKeyList,
    /** `units:microLamports`; absent: no compute budget instruction. */
    COMPUTE_BUDGET: z
      .string()
      .regex(/^[1-9][0-9]{0,6}:[0-9]{1,12}$/, 'must be units:microLamports')
      .transform((text) => {
        const [units, microLamports] = text.split(':') as [string, string];
        return { units: Number(units), microLamports: BigInt(microLamports) };
      })
      .optional(),
    WALLET_HOURLY_CAP_MICRO: MicroCap(1_000_000_000_000n),
    ENVIRONMENT_HOURLY_CAP_MICRO: MicroCap(100_000_000_000_000n),
    /** About 2,400 token accounts a day. */
    DAILY_LAMPORT_BUDGET: MicroCap(5_000_000_000n),
    /**
     * Least pause between two looks at transactions in flight, so the greatest rate of getSignatureStatuses: 50 a second,
     * however many payments. The pause grows by itself with the time that the chain takes, and on a chain that confirms at once,
     * which is no network's, it is shorter (pace.ts).
     */
    POLL_MS: z.coerce.number().int().min(10).max(5000).default(20),
  })
  .superRefine((value, context) => {
    // A fee payer that is an authority too could be made to move tokens by whoever may make it pay a fee.
    const numbered = [...value.FEE_PAYER_KEYS, ...value.DELEGATE_AUTHORITY_KEYS];
    const addresses = [...numbered.map(({ signer }) => signer), value.FUNDING_AUTHORITY_KEY].flatMap((key) =>
      key === undefined ? [] : [key.publicKey],
    );
    if (new Set(addresses).size !== addresses.length)
      context.addIssue({ code: 'custom', path: ['FEE_PAYER_KEYS'], message: 'the keys must be different' });
  });
