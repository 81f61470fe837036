import { useRead } from '../api/data.ts';
import { lastDays } from './spending-days.ts';

export type GroupBy = 'day' | 'service' | 'delegate';

/** A payment is part of it some seconds after it is confirmed. */
const EVERY_MS = 10_000;

/** The summary of the last so many days. All callers with the same key share the answer. */
export const useSummary = (days: number, groupBy: GroupBy) =>
  useRead(
    ['spending', days, groupBy],
    (client, options) => client.wallet.spendingSummary({ ...lastDays(days), group_by: groupBy }, options),
    { every: EVERY_MS },
  );
