import path from 'node:path';
import { createApi, must, patientApi } from '../../../deploy/local/seed/api.ts';
import { environmentKeys } from '../../../deploy/local/stack/keys.ts';
import { createChainReader, type FinalRecords } from '../final-records.ts';
import type { Harness } from '../harness.ts';
import { HANDS, inParallel } from '../recovery.ts';
import type { Actors } from './actors.ts';

const LIST_PAGE = 100;
/** How the ids of intents of our own payments begin. */
const OWN_PAYMENT = 'settle:';

/** Everything that the invariants compare, read after the recovery phase. */
export type FinalState = Awaited<ReturnType<typeof readFinalState>>;

/** Reads the chain by plain RPC when it is final, the records, and what vendors can list. */
export const readFinalState = async (harness: Harness, { vendors }: Actors, records: FinalRecords) => {
  const { query, stateDir, stack } = harness;
  const { signaturesOf, transfersOf, balancesOf } = createChainReader(harness);
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
       where payout_address = $1`,
      [payTo],
    );
    return { payTo, accrued: fees.accrued, ofSettlements: row!.sum };
  };

  const payees = new Set(vendors.map(({ payTo }) => payTo));
  const settlements = records.settlementsOf('x402').filter((row) => payees.has(row.payout_address));
  const { feePayer } = environmentKeys(path.resolve(stateDir), 'test');
  return {
    recorded: records.transactions,
    /** By the hash of the message. */
    settlements: new Map(settlements.map((row) => [row.message_hash, row])),
    transfers: (await inParallel(vendors, HANDS, ({ payTo }) => transfersOf(payTo))).flat(),
    balances: await balancesOf(vendors.map(({ payTo }) => payTo)),
    /** Of all transactions of the fee payer that are not our own payments. */
    failed: (await signaturesOf(feePayer.address)).filter(
      ({ err, signature }) =>
        err !== null && !records.transactions.get(signature)?.intent_id.startsWith(OWN_PAYMENT),
    ),
    issued: new Set((await inParallel(vendors, HANDS, ({ apiKey }) => listIssued(apiKey))).flat()),
    fees: await inParallel(vendors, HANDS, ({ apiKey, payTo }) => feesOf({ token: apiKey, payTo })),
  };
};
