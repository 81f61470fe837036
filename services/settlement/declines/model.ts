import { type ErrorExtras, type LimitName, ServiceError } from '../../../shared/contract/errors.ts';
import { DECLINE_CODES, type DeclineReason } from '../../../shared/contract/settlement.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { displayUsdc, formatMicro } from '../../../shared/lib/micro.ts';
import { resetTimes } from '../delegates/model.ts';

/**
 * What the deciding statement compared a payment with, in micro-units, and when, in epoch
 * milliseconds of the database's clock.
 */
export type Compared = { askedMicro: bigint; limitMicro: bigint; leftMicro: bigint; at: number };
/** `resetsAt`: when the limit starts again; null: it does not. */
type Figures = Compared & { resetsAt: number | null };

/** A refusal that is recorded as a decline when nothing pays the quote. */
export class PaymentDeclined extends ServiceError {
  readonly reason: DeclineReason;
  readonly figures: Figures | null;
  constructor(
    reason: DeclineReason,
    message: string,
    { extras = {}, figures = null }: { extras?: ErrorExtras; figures?: Figures | null } = {},
  ) {
    super(DECLINE_CODES[reason], message, extras);
    this.reason = reason;
    this.figures = figures;
  }
}

/** A refusal without figures. Its reason determines the error code. */
export const declined = (reason: DeclineReason, message: string, extras: ErrorExtras = {}): PaymentDeclined =>
  new PaymentDeclined(reason, message, { extras });

/** `2 USDC of 10 USDC are left` */
const leftOf = ({ leftMicro, limitMicro }: Compared): string =>
  `${displayUsdc(leftMicro)} of ${displayUsdc(limitMicro)} are left`;
const until = ({ resetsAt }: Figures): string => (resetsAt === null ? '' : ` until ${isoTime(resetsAt)}`);

const RAISE = 'the owner of the delegate can raise the limit';
/** A payment that was refused recorded nothing, so the same attempt may be repeated. */
const STEP_UP =
  'sign in again by mail or with a passkey and repeat the call within 5 minutes, raise the limit of the account, or pay with a delegate key';
const MESSAGES: Record<LimitName, (payment: string, figures: Figures) => string> = {
  per_payment: (payment, { limitMicro }) =>
    `per_payment: ${payment} is above the ${displayUsdc(limitMicro)} that the delegate may spend in one payment; ${RAISE}`,
  daily: (payment, figures) =>
    `daily: ${payment} exceeds what the delegate may still spend today: ${leftOf(figures)}${until(figures)}; ${RAISE}`,
  monthly: (payment, figures) =>
    `monthly: ${payment} exceeds what the delegate may still spend this month: ${leftOf(figures)}${until(figures)}; ${RAISE}`,
  total: (payment, figures) =>
    `total: ${payment} exceeds what the delegate may still spend: ${leftOf(figures)}; ${RAISE}`,
  account_per_payment: (payment, { limitMicro }) =>
    `account_per_payment: ${payment} is above the ${displayUsdc(limitMicro)} that a sign-in may pay at once; ${STEP_UP}`,
  account_daily: (payment, figures) =>
    `account_daily: ${payment} exceeds what a sign-in may still pay today: ${leftOf(figures)}${until(figures)}; ${STEP_UP}`,
  balance: (payment, figures) =>
    `${payment} exceeds the wallet balance, less what other payments hold: ${leftOf(figures)}; top up the wallet`,
  allowance: (payment, figures) =>
    figures.limitMicro === 0n
      ? `the wallet allows no spending, so ${payment} is not possible; the owner of the wallet can set an allowance`
      : `${payment} exceeds what the wallet allows to spend, less what other payments hold: ${leftOf(figures)}; raise the allowance of the wallet`,
};

/** When a limit starts again after a time; null: it does not. */
const resetOf = (name: LimitName, at: number): number | null =>
  name === 'daily' || name === 'account_daily'
    ? resetTimes(at).daily
    : name === 'monthly'
      ? resetTimes(at).monthly
      : null;

/**
 * The refusal of a payment by a limit of its delegate or wallet. The payer gets the figures in the
 * message and as `limit`.
 */
export const overLimit = (name: LimitName, compared: Compared): PaymentDeclined => {
  const figures: Figures = { ...compared, resetsAt: resetOf(name, compared.at) };
  const message = MESSAGES[name](`this payment of ${displayUsdc(compared.askedMicro)}`, figures);
  return new PaymentDeclined(name, message, {
    extras: {
      safe_action: name === 'balance' ? 'top_up' : 'raise_limit',
      limit: { name, ...figuresShown(figures) },
    },
    figures,
  });
};

/** Figures as the API shows them. */
export const figuresShown = ({ askedMicro, limitMicro, leftMicro, resetsAt }: Omit<Figures, 'at'>) => ({
  asked: formatMicro(askedMicro),
  limit: formatMicro(limitMicro),
  left: formatMicro(leftMicro),
  resets_at: resetsAt === null ? null : isoTime(resetsAt),
});

/** The limits whose counters payments use up. */
const COUNTED = ['daily', 'monthly', 'total'] as const;
type CountedLimit = (typeof COUNTED)[number];
export const isCounted = (reason: DeclineReason): reason is CountedLimit =>
  (COUNTED as readonly string[]).includes(reason);

/** The period of a limit at a time, in UTC: `2026-11-21`, `2026-11` or `ever`. */
export const periodOf = (name: CountedLimit, at: number): string => {
  if (name === 'total') return 'ever';
  return isoTime(at).slice(0, name === 'daily' ? 10 : 7);
};
