import { Refusal } from '../../shared/lib/refusal.ts';

const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/**
 * The time that `--since` names, as an age or as a time in UTC.
 * @throws Refusal if it is neither
 */
export const sinceOf = (text: string, now: Date): string => {
  const [, count, unit] = /^(\d{1,5})([mhd])$/.exec(text) ?? [];
  if (count !== undefined)
    return new Date(now.getTime() - Number(count) * UNITS[unit as keyof typeof UNITS]).toISOString();
  const time = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?Z)?$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time))
    throw new Refusal(`--since: ${text} is neither a time (2026-11-28T14:00Z) nor an age (90m, 24h, 7d)`);
  return new Date(time).toISOString();
};
