import { ApiError } from '../../errors.ts';
import type { Output } from '../../types.ts';
import type { PaymentRecord, PaymentStore } from './store.ts';

export type ReportExternal = (input: {
  settlement_id: string;
  payment_response: string;
}) => Promise<Output<'settlement.reportExternal'>>;

/** The name of unreported answers in the store. */
const NAME = 'reports';

/**
 * Reports vendors' answers to the API, which then finds the payment sooner. It would find it
 * without a report, so a failure is no error of the call.
 */
export const createReports = (report: ReportExternal, store: PaymentStore) => {
  const inProgress = new Set<string>();

  const send = async ({ id, external }: PaymentRecord): Promise<void> => {
    if (inProgress.has(id) || external?.report === undefined) return;
    inProgress.add(id);
    try {
      await report(external.report);
      await store.remove(NAME, id);
    } catch (error) {
      // A later payment repeats a report that was not answered.
      if (error instanceof ApiError && !error.retryable) await store.remove(NAME, id);
    } finally {
      inProgress.delete(id);
    }
  };
  const inBackground = (record: PaymentRecord): void => {
    send(record).catch(() => undefined);
  };

  return {
    /** Stores the record of an answer, and reports it without waiting. */
    add: async (record: PaymentRecord): Promise<void> => {
      await store.save(NAME, record);
      inBackground(record);
    },
    /** Repeats what an earlier process did not report. */
    repeat: async (): Promise<void> => {
      for (const record of await store.load(NAME)) inBackground(record);
    },
  };
};
export type Reports = ReturnType<typeof createReports>;
