import type { Output } from '../../../sdk/src/main.ts';

export type Summary = Output<'wallet.spendingSummary'>;

const DAY_MS = 86_400_000;
const monthDay = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' });

/** The last so many whole UTC days, today included, as the API counts days. */
export const lastDays = (days: number, now = Date.now()): { from: string; to: string } => {
  const tomorrow = (Math.floor(now / DAY_MS) + 1) * DAY_MS;
  return {
    from: new Date(tomorrow - days * DAY_MS).toISOString(),
    to: new Date(tomorrow).toISOString(),
  };
};

/** A bar for every day of the period, also for days without a payment. */
export const pointsOf = ({ from, to, groups }: Summary) => {
  const spent = new Map(groups.map(({ key, spent: micro }) => [key, BigInt(micro)]));
  const points = [];
  for (let at = Date.parse(from); at < Date.parse(to); at += DAY_MS) {
    const day = new Date(at);
    points.push({ label: monthDay.format(day), micro: spent.get(day.toISOString().slice(0, 10)) ?? 0n });
  }
  return points;
};
