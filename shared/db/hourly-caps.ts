import { z } from 'zod';
import type { Budget, Budgets, Reservation } from './budget.ts';
import { type Db, sql } from './pool.ts';

/** A cap in micro-units, at most the given ones. */
export const MicroCap = (fallback: bigint, most = 2n ** 62n) =>
  z.coerce.bigint().min(1n).max(most).default(fallback);

const WALLET_CAP = '[1-9A-HJ-NP-Za-km-z]{32,44}:[1-9][0-9]{0,17}';
const WalletCaps = z
  .string()
  .regex(new RegExp(`^(${WALLET_CAP}(,${WALLET_CAP})*)?$`), 'must be wallet:micro-units, comma separated')
  .transform((text): ReadonlyMap<string, bigint> => {
    const pairs = text.split(',').filter((part) => part !== '');
    return new Map(pairs.map((pair) => [pair.split(':')[0]!, BigInt(pair.split(':')[1]!)]));
  })
  .default(new Map());

/**
 * Settings of settlement and chain-submitter: settlement accepts within these caps, and
 * chain-submitter signs within them.
 */
export const hourlyCapsConfig = {
  WALLET_HOURLY_CAP_MICRO: MicroCap(1_000_000_000n),
  /** The cap of an account is a tenth of this value. */
  ENVIRONMENT_HOURLY_CAP_MICRO: MicroCap(50_000_000_000n),
  /** `<wallet>:<micro-units>` for wallets with their own cap. */
  HOURLY_CAPS_OF_WALLETS: WalletCaps,
};

export type HourlyLimits = {
  walletMicro: bigint;
  environmentMicro: bigint;
  ofWallet: ReadonlyMap<string, bigint>;
};

/** The configured limits of a service. */
export const hourlyLimits = (config: {
  WALLET_HOURLY_CAP_MICRO: bigint;
  ENVIRONMENT_HOURLY_CAP_MICRO: bigint;
  HOURLY_CAPS_OF_WALLETS: ReadonlyMap<string, bigint>;
}): HourlyLimits => ({
  walletMicro: config.WALLET_HOURLY_CAP_MICRO,
  environmentMicro: config.ENVIRONMENT_HOURLY_CAP_MICRO,
  ofWallet: config.HOURLY_CAPS_OF_WALLETS,
});

/** The cap of an account is this part of the cap of its environment. */
const ACCOUNT_SHARE = 10n;

export const HOURLY_CAPS = ['wallet', 'account', 'environment'] as const;
/** A cap with less left than a payment needs. */
export type ReachedCap = { reached: (typeof HOURLY_CAPS)[number]; capMicro: bigint };

/** The payer: the wallet's address, and the account that owns it. */
export type CappedPayer = { wallet: string; accountId: string };

/**
 * What hourly caps count: payments, or what is authorized. The ceiling of an authorization may
 * never be paid, so it uses nothing of the caps of payments. Its capture counts there
 * (docs/adr/0039).
 */
export type Counted = 'paid' | 'authorized';

/** What the scopes of caps begin with. */
export const scopePrefix = (counts: Counted): string => (counts === 'paid' ? '' : `${counts}/`);

/**
 * The amounts that a wallet, an account with all its wallets, and the whole environment may pay, or
 * authorize, in a UTC hour.
 */
export type HourlyCaps = {
  counts: Counted;
  /**
   * Reserves all three or none. The cap of the environment is reserved last, so a payer over its
   * own cap uses nothing of it.
   */
  reserve: (payer: CappedPayer, amountMicro: bigint, at?: number) => Promise<Reservation | ReachedCap>;
  refillsInSeconds: () => number;
  limits: HourlyLimits;
};

/** The cap of an account in micro-units. */
export const accountCapMicro = ({ environmentMicro }: HourlyLimits): bigint =>
  environmentMicro / ACCOUNT_SHARE;

/** The cap of a wallet: its own or the default. */
export const capOfWallet = (
  { ofWallet, walletMicro }: Pick<HourlyLimits, 'ofWallet' | 'walletMicro'>,
  wallet: string,
): bigint => ofWallet.get(wallet) ?? walletMicro;

const Used = z.object({ wallet: z.number(), account: z.number(), environment: z.number() });

/**
 * The used part of each cap in the current hour, as observations of its metric. For wallets and
 * accounts: the highest value.
 */
export const measureCapUse = async (db: Db, limits: HourlyLimits) => {
  const { walletMicro, environmentMicro } = limits;
  const ofWallet = Object.fromEntries([...limits.ofWallet].map(([wallet, cap]) => [wallet, String(cap)]));
  const used = await db.one(sql.type(Used)`
    with hour as (
      select split_part(scope, '/', 1) as of, reserved,
        coalesce((${JSON.stringify(ofWallet)}::jsonb ->> split_part(scope, '/', 2))::bigint, ${walletMicro}) as wallet_cap
      from spending where period = date_trunc('hour', app_now(), 'UTC')
    )
    select coalesce(max(reserved::float8 / wallet_cap) filter (where of = 'wallet'), 0) as wallet,
      coalesce(max(reserved::float8 / ${accountCapMicro(limits)}) filter (where of = 'account'), 0) as account,
      coalesce(max(reserved::float8 / ${environmentMicro}) filter (where of = 'environment'), 0) as environment
    from hour`);
  return HOURLY_CAPS.map((cap) => ({
    metric: 'quittance_cap_used_ratio' as const,
    value: used[cap],
    labels: { cap: `${cap}_hour` as const },
  }));
};

type HourlyCap<Name> = Budget & { name: Name };

/**
 * A cap of a UTC hour.
 * @param name of the cap in refusals and metrics
 * @param scope whose amounts count
 * @param cap in micro-units
 */
export const hourlyCap = <Name extends string>(name: Name, scope: string, cap: bigint): HourlyCap<Name> => ({
  name,
  scope,
  period: 'hour',
  cap,
});

/**
 * Reserves an amount of each cap, or of none. The cap of all is reserved last, so whoever is over a
 * cap of its own uses nothing of it.
 * @param at a moment of the hour in which the amount counts
 * @returns the first cap with less left than the amount
 */
export const reserveWithin = async <Name extends string>(
  budgets: Budgets,
  { own, all }: { own: readonly HourlyCap<Name>[]; all: HourlyCap<Name> },
  amountMicro: bigint,
  at?: number,
): Promise<Reservation | { reached: Name; capMicro: bigint }> => {
  const ofOwn = await Promise.all(own.map((cap) => budgets.reserve(cap, amountMicro, at)));
  const ofAll = ofOwn.includes(null) ? null : await budgets.reserve(all, amountMicro, at);
  const release = () => {
    for (const reservation of [...ofOwn, ofAll]) reservation?.release();
  };
  if (ofAll !== null) return { release };
  release();
  const { name, cap } = own[ofOwn.indexOf(null)] ?? all;
  return { reached: name, capMicro: cap };
};

/**
 * Common table expressions after `capped` (scope, period, micro), which lists what proven failures
 * give back of hourly caps. The rows are locked in the order of their scopes, as reservations lock
 * them.
 */
export const releaseCapped = sql.fragment`locked as (
    select s.scope, s.period from spending s join capped using (scope, period)
    order by s.scope, s.period for update of s
  ), uncapped as (
    update spending s set reserved = greatest(s.reserved - capped.micro, 0)
    from capped join locked using (scope, period) where s.scope = capped.scope and s.period = capped.period
  )`;

/** Creates the hourly caps on top of the budgets of a service. */
export const createHourlyCaps = (
  budgets: Budgets,
  limits: HourlyLimits,
  counts: Counted = 'paid',
): HourlyCaps => ({
  counts,
  reserve: ({ wallet, accountId }, amountMicro, at) => {
    const prefix = scopePrefix(counts);
    const own = [
      hourlyCap('wallet', `${prefix}wallet/${wallet}`, capOfWallet(limits, wallet)),
      hourlyCap('account', `${prefix}account/${accountId}`, accountCapMicro(limits)),
    ];
    const all = hourlyCap('environment', `${prefix}environment`, limits.environmentMicro);
    return reserveWithin(budgets, { own, all }, amountMicro, at);
  },
  refillsInSeconds: () => budgets.refillsInSeconds('hour'),
  limits,
});
