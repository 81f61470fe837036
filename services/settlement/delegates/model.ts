import { LIMITS, type LimitName, type Period } from '../../../shared/contract/limits.ts';
import { isoTime } from '../../../shared/lib/clock.ts';

/** What a cap leaves. 0: it was lowered below what is held or spent. Null: there is no cap. */
export const remainingMicro = (cap: bigint | null, heldMicro: bigint, spentMicro: bigint): bigint | null => {
  if (cap === null) return null;
  const left = cap - heldMicro - spentMicro;
  return left > 0n ? left : 0n;
};

type Times = {
  /** When the next one begins, epoch milliseconds. Null: never. */
  endsAt: (now: number) => number | null;
  /** Its name: `2026-11-21`, `2026-11` or `ever`. */
  nameOf: (now: number) => string;
};

/** Date.UTC normalizes a day 32 or a month 13. */
const startOf = (now: number, { months = 0, days }: { months?: number; days: number }): number => {
  const date = new Date(now);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months, days);
};

/** The periods whose payments a limit counts, in UTC. Times are epoch milliseconds. */
export const PERIODS: Record<Period, Times> = {
  day: {
    endsAt: (now) => startOf(now, { days: new Date(now).getUTCDate() + 1 }),
    nameOf: (now) => isoTime(now).slice(0, 10),
  },
  month: {
    endsAt: (now) => startOf(now, { months: 1, days: 1 }),
    nameOf: (now) => isoTime(now).slice(0, 7),
  },
  ever: { endsAt: () => null, nameOf: () => 'ever' },
};

/** When a limit starts again after a time. Null: never. */
export const resetOf = (name: LimitName, now: number): number | null => {
  const { counts } = LIMITS[name];
  return counts === null || counts === 'held' ? null : PERIODS[counts].endsAt(now);
};

/**
 * What a plain sign-in may pay unless its owner has set other limits, in micro-units. They bound
 * what a stolen session costs. A payment of an API fits in them (docs/adr/0063).
 */
export const DEFAULT_ACCOUNT_LIMITS = { perPaymentMicro: 10_000_000n, dailyMicro: 25_000_000n } as const;

/** Closes what a delegate has authorized (../authorizations/close-authorizations.ts). */
export type CloseAuthorizations = (delegate: { account_id: string; delegate_id: string }) => Promise<void>;
