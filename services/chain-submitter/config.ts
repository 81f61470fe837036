import { z } from 'zod';
import { SolanaAddress } from '../../shared/contract/primitives.ts';
import { hourlyCapsConfig, MicroCap } from '../../shared/db/hourly-caps.ts';
import { serviceConfig } from '../../shared/lib/config.ts';
import { LANES } from '../../shared/lib/lane.ts';
import { solPriceConfig } from '../../shared/lib/money/fee-settings.ts';
import { PublicKeyList } from '../../shared/lib/tokens/keys.ts';
import { WALLET_PROGRAMS, type WalletProgram } from './ledger/model/programs.ts';
import type { Limits } from './limits/fee-budgets.ts';
import { TOKEN_ACCOUNT_LAMPORTS } from './limits/lamports.ts';
import { addressOf, NumberedSecretKeys, newestFirst, SecretKey } from './signing/key-settings.ts';

/** At least ten times what one transaction may need, because one account may use a tenth of it. */
const LamportBudget = (fallback: bigint, needed: bigint) =>
  z.coerce
    .bigint()
    .min(10n * needed)
    .max(2n ** 62n)
    .default(fallback);
/** Of a transaction with the highest priority fee, and of one that refunds it. */
const MOST_FEES = 100_000n;
const FeeBudget = (fallback: bigint) => LamportBudget(fallback, MOST_FEES);
const RentBudget = (fallback: bigint) => LamportBudget(fallback, TOKEN_ACCOUNT_LAMPORTS);

const AbsolutePath = z.string().startsWith('/', 'must be an absolute path');

/** A settle that creates a token account needs about 45,000 units. */
const AUTO = 'auto:80000:250000';

export const config = z
  .object({
    ...serviceConfig,
    /** Comma separated. Live needs two, so that no payment's outcome depends on one provider. */
    SOLANA_RPC_URLS: z
      .string()
      .transform((text) => text.split(',').map((url) => url.trim()))
      .pipe(z.array(z.url({ protocol: /^https?$/ })).min(1)),
    GENESIS_HASH: SolanaAddress,
    USDC_MINT: SolanaAddress,
    /**
     * The first pay, FEE_PAYERS_IN_USE of them. The others co-sign what was prepared with them
     * (docs/operations.md, Fee payer).
     */
    FEE_PAYER_KEYS: NumberedSecretKeys,
    /** More than one where the fee payer is what bounds the rate (docs/scale.md). */
    FEE_PAYERS_IN_USE: z.coerce.number().int().min(1).max(LANES).default(1),
    /** The highest number serves new onboardings. */
    DELEGATE_AUTHORITY_KEYS: NumberedSecretKeys.transform(newestFirst),
    /** Owner of the token account that fees go to. */
    FEE_WALLET: SolanaAddress,
    /** Mint authority of test USDC; without it nothing is funded. */
    FUNDING_AUTHORITY_KEY: SecretKey.optional(),
    /**
     * The shared library of the PKCS#11 token whose keys are configured as `pkcs11:` URIs
     * (docs/signing-keys.md). A URI can name another one.
     */
    PKCS11_MODULE: AbsolutePath.optional(),
    /** A file that contains the PIN of the token. It is read at each login. */
    PKCS11_PIN_FILE: AbsolutePath.optional(),
    PUBLIC_KEYS: PublicKeyList,
    /**
     * `units:microLamports`: this price per unit. `auto:units:microLamports`: the price follows
     * recent fees and is never higher; `auto` alone is `auto:80000:250000`, at most 20,000 lamports
     * a settle. Absent: no compute budget instruction.
     */
    COMPUTE_BUDGET: z
      .string()
      .regex(
        /^(auto|(auto:)?[1-9][0-9]{0,6}:[0-9]{1,12})$/,
        'must be auto, auto:units:microLamports or units:microLamports',
      )
      .transform((text) => {
        const [microLamports, units] = (text === 'auto' ? AUTO : text).split(':').toReversed() as [
          string,
          string,
        ];
        return {
          units: Number(units),
          microLamports: BigInt(microLamports),
          follows: text.startsWith('auto'),
        };
      })
      .optional(),
    ...hourlyCapsConfig,
    /**
     * Micro-units that all clients of x402 and MPP may pay in a UTC hour. A vendor account has a
     * tenth of it. Settlement does not need it: a payment over it is refused at once.
     */
    INCOMING_HOURLY_CAP_MICRO: MicroCap(50_000_000_000n),
    /**
     * Lamports a UTC day that the fee payer may spend (docs/economics.md). No account uses more
     * than a tenth of each; what the fees of a vendor's final settles are worth does not count in
     * its tenth. Fees of settles: five million payments, each with the co-signature of a refund.
     */
    SETTLE_FEES_LAMPORTS_PER_DAY: FeeBudget(100_000_000_000n),
    ...solPriceConfig,
    /**
     * Fees of payments of x402 and MPP clients: a million with the usual priority fee, each with
     * the co-signature of a refund. Apart from settles, because a buyer can make such a payment
     * fail on the chain.
     */
    INCOMING_FEES_LAMPORTS_PER_DAY: FeeBudget(20_000_000_000n),
    /** Token accounts that quotes promise: about 2,400. */
    SETTLE_RENT_LAMPORTS_PER_DAY: RentBudget(5_000_000_000n),
    /**
     * Fees of user-signed transactions, provisioned wallets and test funds: 100,000 transactions.
     */
    USER_FEES_LAMPORTS_PER_DAY: FeeBudget(1_000_000_000n),
    /** Token accounts of users' wallets: about 2,400. */
    USER_RENT_LAMPORTS_PER_DAY: RentBudget(5_000_000_000n),
    /** 100,000 revocations. */
    REVOKE_FEES_LAMPORTS_PER_DAY: FeeBudget(1_000_000_000n),
    /**
     * Transactions that an account may have co-signed in a UTC day; `npm run ops -- budgets set`
     * raises them for one.
     */
    COSIGNATURES_PER_DAY: z.coerce.number().int().min(1).max(1_000_000).default(50),
    /**
     * Payments of x402 and MPP clients to one vendor account that may fail on the chain in a UTC
     * day, before only sources that have paid may pay it. Each costs the fee payer at most 30,000
     * lamports.
     */
    INCOMING_FAILURES_PER_DAY: z.coerce.number().int().min(1).max(1_000_000).default(1000),
    /**
     * Those of MPP while the account has received none in the last day, and one more for each that
     * it has received. Nothing accrues for such a payment that fails.
     */
    INCOMING_FIRST_FAILURES_PER_DAY: z.coerce.number().int().min(1).max(1_000_000).default(20),
    /**
     * Programs of wallets that payments of x402 and MPP clients may use beside the usual ones:
     * guards of Lighthouse, and the smart wallets of Squads and Swig (docs/x402.md).
     */
    INCOMING_PROGRAMS: z
      .string()
      .default('lighthouse,squads,swig')
      .transform((text) => text.split(',').flatMap((name) => name.trim() || []))
      .pipe(z.array(z.enum(Object.keys(WALLET_PROGRAMS) as [WalletProgram, ...WalletProgram[]])))
      .transform((names) => new Set<string>(names.flatMap((name) => WALLET_PROGRAMS[name]))),
    REVOKES_PER_DAY: z.coerce.number().int().min(1).max(1_000_000).default(10),
    /**
     * The shortest pause between two polls of in-flight transactions. It bounds the rate of
     * getSignatureStatuses to 50 a second, however many payments are open. The pause grows with the
     * chain's confirmation time. On a chain that confirms immediately, which is no public network,
     * it is shorter (broadcast/poll-interval.ts).
     */
    POLL_MS: z.coerce.number().int().min(10).max(5000).default(20),
  })
  .superRefine((value, context) => {
    const { ENVIRONMENT, SOLANA_RPC_URLS: urls } = value;
    const refuse = (message: string) =>
      context.addIssue({ code: 'custom', path: ['SOLANA_RPC_URLS'], message });
    if (new Set(urls).size !== urls.length) refuse('the providers must be different');
    if (ENVIRONMENT === 'live' && urls.length < 2) refuse('live needs two providers');
    if (value.FEE_PAYER_KEYS.length < value.FEE_PAYERS_IN_USE)
      context.addIssue({
        code: 'custom',
        path: ['FEE_PAYERS_IN_USE'],
        message: 'must be at most the number of FEE_PAYER_KEYS',
      });
    // A fee payer that is also an authority would move tokens in any transaction whose fee it pays.
    const numbered = [...value.FEE_PAYER_KEYS, ...value.DELEGATE_AUTHORITY_KEYS];
    // The addresses of the other keys are compared when their tokens are open.
    const addresses = [...numbered.map(({ key }) => key), value.FUNDING_AUTHORITY_KEY].flatMap((key) =>
      key === undefined ? [] : (addressOf(key) ?? []),
    );
    if (new Set(addresses).size !== addresses.length)
      context.addIssue({ code: 'custom', path: ['FEE_PAYER_KEYS'], message: 'the keys must be different' });
  });

export type Config = z.infer<typeof config>;

/** The daily budgets as they are configured. */
export const limitsOf = (values: Config): Limits => ({
  fees_settle: values.SETTLE_FEES_LAMPORTS_PER_DAY,
  fees_incoming: values.INCOMING_FEES_LAMPORTS_PER_DAY,
  rent_settle: values.SETTLE_RENT_LAMPORTS_PER_DAY,
  fees_user: values.USER_FEES_LAMPORTS_PER_DAY,
  rent_user: values.USER_RENT_LAMPORTS_PER_DAY,
  fees_revoke: values.REVOKE_FEES_LAMPORTS_PER_DAY,
  cosignatures: BigInt(values.COSIGNATURES_PER_DAY),
  revokes: BigInt(values.REVOKES_PER_DAY),
  incoming_failures: BigInt(values.INCOMING_FAILURES_PER_DAY),
  incoming_first_failures: BigInt(values.INCOMING_FIRST_FAILURES_PER_DAY),
});
