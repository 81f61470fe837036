import path from 'node:path';
import { createApi, must, patientApi } from '../../../deploy/local/seed/api.ts';
import { environmentKeys } from '../../../deploy/local/stack/keys.ts';
import { createChainReader, HANDS, readRecords } from '../final-records.ts';
import type { Harness } from '../harness.ts';
import { inParallel } from '../recovery.ts';
import type { Actors } from './actors.ts';

const LIST_PAGE = 100;

type SettlementRow = {
  settlement_id: string;
  message_hash: string;
  vendor_account_id: string;
  status: 'pending' | 'issued' | 'redeemed' | 'failed';
  chain_status: 'pending' | 'confirmed' | 'finalized' | 'failed';
  tx_hash: string | null;
};

/** Everything that the invariants compare, read after the recovery phase. */
export type FinalState = Awaited<ReturnType<typeof readFinalState>>;

/** Reads the chain by plain RPC when it is final, the records, and what vendors can list. */
export const readFinalState = async (harness: Harness, { vendors }: Actors) => {
  const { query, stateDir, chain, stack } = harness;
  const { signaturesOf, transfersOf } = createChainReader(harness);
  const api = patientApi(createApi(stack.gateway_url));
  const listIssued = async (token: string): Promise<string[]> => {
    const ids: string[] = [];
    for (let cursor: string | null = null; ; ) {
      const after: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const page = await must(
        api<{ data: { settlement_id: string }[]; next_cursor: string | null }>(
          `GET /v1/settlements?rail=x402&status=issued&limit=${LIST_PAGE}${after}`,
          { token },
        ),
        'list',
      );
      ids.push(...page.data.map(({ settlement_id }) => settlement_id));
      if (page.next_cursor === null) return ids;
      cursor = page.next_cursor;
    }
  };
  const feesOf = async ({ token, payTo }: { token: string; payTo: string }) => {
    const fees = await must(api<{ accrued: string }>('GET /v1/accounts/me/fees', { token }), 'fees');
    const [row] = await query<{ sum: string }>(
      `select coalesce(sum(accrued_fee), 0)::text as sum from settlement.settlements
       where payout_address = $1 and chain_status <> 'failed'`,
      [payTo],
    );
    return { payTo, accrued: fees.accrued, ofSettlements: row!.sum };
  };

  const { feePayer } = environmentKeys(path.resolve(stateDir), 'test');
  return {
    ...(await readRecords(harness)),
    transfers: (await inParallel(vendors, HANDS, ({ payTo }) => transfersOf(payTo))).flat(),
    balances: await inParallel(vendors, HANDS, async ({ payTo }) => ({
      payTo,
      amount: await chain.balance(payTo),
    })),
    failed: (await signaturesOf(feePayer.address)).filter(({ err }) => err !== null),
    settlements: new Map(
      (
        await query<SettlementRow>(`select settlement_id, message_hash, vendor_account_id, status, chain_status,
          tx_hash from settlement.settlements where rail = 'x402'`)
      ).map((row) => [row.message_hash, row]),
    ),
    issued: new Set((await inParallel(vendors, HANDS, ({ apiKey }) => listIssued(apiKey))).flat()),
    fees: await inParallel(vendors, HANDS, ({ apiKey, payTo }) => feesOf({ token: apiKey, payTo })),
  };
};
