import { type ErrorExtras, ServiceError } from '../../../shared/contract/errors.ts';
import { COUNTED_CAPS, type CountedCap, LIMITS, type LimitName } from '../../../shared/contract/limits.ts';
import { DECLINES, type DeclineReason } from '../../../shared/contract/settlement.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { formatMicro } from '../../../shared/lib/money/micro.ts';
import { displayUsdc } from '../../../shared/lib/money/usdc.ts';
import { PERIODS, resetOf } from '../delegates/model.ts';

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
    super(DECLINES[reason].code, message, extras);
    this.reason = reason;
    this.figures = figures;
  }
}

/** A refusal without figures. Its reason determines the error code. */
export const declined = (reason: DeclineReason, message: string, extras: ErrorExtras = {}): PaymentDeclined =>
  new PaymentDeclined(reason, message, { extras });

const textOf = (name: LimitName, { askedMicro, limitMicro, leftMicro, resetsAt }: Figures): string =>
  LIMITS[name].message({
    payment: `this payment of ${displayUsdc(askedMicro)}`,
    limit: displayUsdc(limitMicro),
    left: `${displayUsdc(leftMicro)} of ${displayUsdc(limitMicro)} are left`,
    resetsAt: resetsAt === null ? '' : isoTime(resetsAt),
    isZero: limitMicro === 0n,
  });

/**
 * The refusal of a payment by a limit of its delegate or wallet. The payer gets the figures in the
 * message and as `limit`.
 */
export const overLimit = (name: LimitName, compared: Compared): PaymentDeclined => {
  const figures: Figures = { ...compared, resetsAt: resetOf(name, compared.at) };
  return new PaymentDeclined(name, textOf(name, figures), {
    extras: { safe_action: LIMITS[name].safeAction, limit: { name, ...figuresShown(figures) } },
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

/** Whether the reason is a limit of a delegate that payments use up. */
export const isCounted = (reason: DeclineReason): reason is CountedCap =>
  (COUNTED_CAPS as readonly string[]).includes(reason);

/** The period of a limit at a time, in UTC: `2026-11-21`, `2026-11` or `ever`. */
export const periodOf = (name: CountedCap, at: number): string => PERIODS[LIMITS[name].counts].nameOf(at);
