import { useRead } from '../lib/data.ts';
import { lastDays } from './spending-days.ts';

export type GroupBy = 'day' | 'service' | 'delegate';

/** The summary of the last so many days. All callers with the same key share the answer. */
export const useSummary = (days: number, groupBy: GroupBy) =>
  useRead(['spending', days, groupBy], (client, options) =>
    client.wallet.spendingSummary({ ...lastDays(days), group_by: groupBy }, options),
  );
