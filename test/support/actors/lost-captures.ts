import { expect } from '@jest/globals';
import type { Vendor } from '../../../deploy/local/seed/actors.ts';
import { type Api, must } from '../../../deploy/local/seed/api.ts';
import { waitFor } from '../base/wait.ts';
import { type Tab, tabCalls } from './tab-calls.ts';

type Place = { api: () => Api; vendor: Vendor; query: (text: string) => Promise<Record<string, unknown>[]> };

const USED = '120000';
const WITHIN_MS = 60_000;

/** Two authorizations of a payer in a backup, which has neither their use nor their capture. */
export const openBeforeBackup = async ({ api, vendor, query }: Place, token: string) => {
  const calls = () => tabCalls(api(), vendor);
  const open = async (): Promise<Tab> =>
    must(calls().authorize(token, await calls().quote({ capture_window_seconds: 3600 })), 'authorize');
  const tabs = [await open(), await open()] as const;
  const rows = () =>
    query(
      `select settlement_id, status, quote_amount::text as amount, tx_hash from settlement.settlements
       where settlement_id in (${tabs.map(({ settlement_id }) => `'${settlement_id}'`).join()}) order by 1`,
    );
  let captured: Record<string, unknown>[] = [];
  const isCaptured = (found: Record<string, unknown>[]) => found.every(({ status }) => status === 'redeemed');
  return {
    /** Uses and captures both, after the backup. */
    capture: async (): Promise<void> => {
      for (const tab of tabs) {
        await must(calls().use(tab, { usage_id: 'a', amount: USED }), 'usage');
        await must(calls().capture(tab), 'capture');
      }
      captured = await waitFor(rows, isCaptured, WITHIN_MS);
      expect(captured.map(({ amount }) => amount)).toEqual([USED, USED]);
    },
    /** After the restore both are found on the chain by themselves, and no vendor gives one up. */
    end: async (): Promise<void> => {
      expect(await waitFor(rows, isCaptured, WITHIN_MS)).toEqual(captured);
      const { body } = await calls().voidIt(tabs[1]);
      expect(body.error?.code).toBe('conflict');
    },
  };
};
