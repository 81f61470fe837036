/** Amounts and a time as people read them. */
type LimitFigures = {
  /** `this payment of 5 USDC` */
  payment: string;
  /** `10 USDC` */
  limit: string;
  /** `2 USDC of 10 USDC are left` */
  left: string;
  /** When the limit starts again, ISO 8601. Empty: it does not. */
  resetsAt: string;
  /** The limit is zero, so it allows no payment at all. */
  isZero: boolean;
};
export type MailedFigures = Pick<LimitFigures, 'limit' | 'left' | 'resetsAt'>;

const RAISE = 'the owner of the delegate can raise the limit';
/** A payment that was refused recorded nothing, so the same attempt may be repeated. */
const STEP_UP =
  'sign in again by mail or with a passkey and repeat the call within 5 minutes, raise the limit of the account, or pay with a delegate key';
const until = ({ resetsAt }: MailedFigures): string => (resetsAt === '' ? '' : ` until ${resetsAt}`);
/** Where the owner of a delegate changes what it may pay. A mail calls a delegate an agent. */
export const IN_CONSOLE = 'in the console, under Agents';
const RAISE_IN_CONSOLE = `To allow this payment, raise the limit ${IN_CONSOLE}.`;
const WAIT_OR_RAISE = `Wait until then, or raise the limit ${IN_CONSOLE}.`;
const RAISE_IN_WALLET = 'To allow this payment, raise the spending limit in the console, under Wallet.';

/** A period whose payments a limit counts. Days and months are UTC. */
export type Period = 'day' | 'month' | 'ever';

/** The texts of a limit that an owner may give a delegate. */
type CapTexts = {
  /** Its field in the API. */
  field: string;
  /** Its label in a form of the console. */
  label: string;
  /** The help of its option in the command line. */
  option: string;
  /** The period as the API's field of what is used, and as the console's label. Absent: none. */
  usage?: { field: string; label: string };
};

type Declared = {
  /** A sign-in pays within the limits of its account, a key within those of its delegate. */
  of: 'delegate' | 'account' | 'wallet';
  /**
   * Which payments use it up: those of a period, or of a wallet those that are under way. Null:
   * none, it is compared with each payment alone.
   */
  counts: Period | 'held' | null;
  /** The code and the safe action of the error, and its message. */
  code: 'limit_exceeded' | 'insufficient_funds' | 'delegation_inactive';
  safeAction: 'raise_limit' | 'top_up';
  message: (figures: LimitFigures) => string;
  /** Why the payment of a delegate was declined, and what its owner can do. Null: no mail. */
  mail: ((figures: MailedFigures) => readonly string[]) | null;
  /** The same where nothing was compared. */
  mailWithout?: readonly string[];
  /** The reason of a decline as the console shows it. */
  badge: string;
  /** Of a delegate's limit. */
  cap?: CapTexts;
};

/**
 * The limits that a payment is compared with, in rank order: the first one that is too small
 * refuses the payment. What depends on a limit is made from this table: the accepting statements of
 * settlement, errors, declines, mails, the fields of a delegate, the console, the command line and
 * the MCP server (docs/recipes/limit.md). The limits of a delegate or an account are columns of
 * settlement's table `delegates`.
 */
export const LIMITS = {
  per_payment: {
    of: 'delegate',
    counts: null,
    code: 'limit_exceeded',
    safeAction: 'raise_limit',
    message: ({ payment, limit }) =>
      `per_payment: ${payment} is above the ${limit} that the delegate may spend in one payment; ${RAISE}`,
    mail: ({ limit }) => [`The agent may spend ${limit} per payment.`, RAISE_IN_CONSOLE],
    badge: 'over the limit per payment',
    cap: {
      field: 'Largest single payment',
      label: 'Per payment',
      option: 'the most that one payment may cost',
    },
  },
  daily: {
    of: 'delegate',
    counts: 'day',
    code: 'limit_exceeded',
    safeAction: 'raise_limit',
    message: (figures) =>
      `daily: ${figures.payment} exceeds what the delegate may still spend today: ${figures.left}${until(figures)}; ${RAISE}`,
    mail: (figures) => [`Daily limit of the agent: ${figures.left}${until(figures)}.`, WAIT_OR_RAISE],
    badge: 'over the daily limit',
    cap: {
      field: 'Sum of a UTC day',
      label: 'Per day (UTC)',
      option: 'the most that it may spend in a day (UTC)',
      usage: { field: 'Of this UTC day', label: 'Today' },
    },
  },
  monthly: {
    of: 'delegate',
    counts: 'month',
    code: 'limit_exceeded',
    safeAction: 'raise_limit',
    message: (figures) =>
      `monthly: ${figures.payment} exceeds what the delegate may still spend this month: ${figures.left}${until(figures)}; ${RAISE}`,
    mail: (figures) => [`Monthly limit of the agent: ${figures.left}${until(figures)}.`, WAIT_OR_RAISE],
    badge: 'over the monthly limit',
    cap: {
      field: 'Sum of a UTC month',
      label: 'Per month (UTC)',
      option: 'the most that it may spend in a month (UTC)',
      usage: { field: 'Of this UTC month', label: 'This month' },
    },
  },
  total: {
    of: 'delegate',
    counts: 'ever',
    code: 'limit_exceeded',
    safeAction: 'raise_limit',
    message: ({ payment, left }) =>
      `total: ${payment} exceeds what the delegate may still spend: ${left}; ${RAISE}`,
    mail: ({ left }) => [`Total limit of the agent: ${left}.`, RAISE_IN_CONSOLE],
    badge: 'over the total limit',
    cap: {
      field: 'Sum of all payments',
      label: 'In total',
      option: 'the most that it may spend in total',
      usage: { field: 'Of all time', label: 'In total' },
    },
  },
  account_per_payment: {
    of: 'account',
    counts: null,
    code: 'limit_exceeded',
    safeAction: 'raise_limit',
    message: ({ payment, limit }) =>
      `account_per_payment: ${payment} is above the ${limit} that a sign-in may pay at once; ${STEP_UP}`,
    mail: null,
    badge: 'over the account’s limit per payment',
  },
  account_daily: {
    of: 'account',
    counts: 'day',
    code: 'limit_exceeded',
    safeAction: 'raise_limit',
    message: (figures) =>
      `account_daily: ${figures.payment} exceeds what a sign-in may still pay today: ${figures.left}${until(figures)}; ${STEP_UP}`,
    mail: null,
    badge: 'over the account’s daily limit',
  },
  balance: {
    of: 'wallet',
    counts: 'held',
    code: 'insufficient_funds',
    safeAction: 'top_up',
    message: ({ payment, left }) =>
      `${payment} exceeds the wallet balance, less what other payments hold: ${left}; top up the wallet`,
    mail: ({ left }) => [
      `The balance of the wallet is too low: ${left}. Payments under way may hold a part.`,
      'To allow this payment, add USDC to the wallet in the console, under Wallet.',
    ],
    badge: 'balance too low',
  },
  allowance: {
    of: 'wallet',
    counts: 'held',
    code: 'delegation_inactive',
    safeAction: 'raise_limit',
    message: ({ payment, left, isZero }) =>
      isZero
        ? `the wallet allows no spending, so ${payment} is not possible; the owner of the wallet can set a spending limit`
        : `${payment} exceeds what the wallet allows to spend, less what other payments hold: ${left}; raise its spending limit`,
    mail: ({ left }) => [
      `The spending limit of the wallet is too low: ${left}. Payments under way may hold a part.`,
      RAISE_IN_WALLET,
    ],
    mailWithout: ['The agent has no wallet with a spending limit.', RAISE_IN_WALLET],
    badge: 'spending limit too low',
  },
} as const satisfies Record<string, Declared>;
export type LimitName = keyof typeof LIMITS;
type Named<Property extends Partial<Declared>> = {
  [Name in LimitName]: (typeof LIMITS)[Name] extends Property ? Name : never;
}[LimitName];
/** A limit that an owner may give a delegate. */
export type CapName = Named<{ of: 'delegate' }>;
/** One of them that its payments use up. */
export type CountedCap = Named<{ of: 'delegate'; counts: Period }>;
export type WalletLimit = Named<{ of: 'wallet' }>;

const NAMES = Object.keys(LIMITS) as LimitName[];
export const CAPS = NAMES.filter((name): name is CapName => LIMITS[name].of === 'delegate');
export const COUNTED_CAPS = CAPS.filter((name): name is CountedCap => LIMITS[name].counts !== null);
export const WALLET_LIMITS = NAMES.filter((name): name is WalletLimit => LIMITS[name].of === 'wallet');
export const ACCOUNT_LIMITS = NAMES.filter((name) => LIMITS[name].of === 'account');
/** What `resets_at` of a limit means. */
export const WHEN_RENEWED = `When a ${COUNTED_CAPS.filter((name) => LIMITS[name].counts !== 'ever').join(' or ')} limit starts again`;
export const LIMIT_NAMES = NAMES as [LimitName, ...LimitName[]];

/** An object with a value for each of these names. */
export const byName = <N extends string, T>(names: readonly N[], make: (name: N) => T): Record<N, T> =>
  Object.fromEntries(names.map((name) => [name, make(name)])) as Record<N, T>;
