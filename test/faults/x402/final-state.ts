import path from 'node:path';
import { createApi, must } from '../../../deploy/local/seed/api.ts';
import { environmentKeys } from '../../../deploy/local/stack/keys.ts';
import { messageHashOf } from '../../../services/settlement/foreign-payments/message-hash.ts';
import { placeOf, reconcile } from '../../../tools/reconcile.ts';
import type { Harness } from '../harness.ts';
import { inParallel } from '../recovery.ts';
import type { Actors } from './actors.ts';

const HANDS = 16;
const PAGE = 1000;
const LIST_PAGE = 100;

type SettlementRow = {
  settlement_id: string;
  message_hash: string;
  vendor_account_id: string;
  status: 'pending' | 'issued' | 'redeemed' | 'failed';
  chain_status: 'pending' | 'confirmed' | 'finalized' | 'failed';
  tx_hash: string | null;
};

/** A finalized transaction that moved a vendor's balance. */
type Transfer = { signature: string; hash: string | null; payTo: string; amount: bigint };

type Signature = { signature: string; err: unknown };
type Balance = { accountIndex: number; owner: string; uiTokenAmount: { amount: string } };
type TransactionJson = {
  transaction: [wire: string, encoding: 'base64'];
  meta: { preTokenBalances: Balance[]; postTokenBalances: Balance[] };
};

/** Everything that the invariants compare, read after the recovery phase. */
export type FinalState = Awaited<ReturnType<typeof readFinalState>>;

/** Reads the chain by plain RPC when it is final, the records, and what vendors can list. */
export const readFinalState = async (harness: Harness, { vendors }: Actors) => {
  const { rpc, query, stateDir, chain, stack } = harness;

  /** All signatures that name an address, oldest pages last. */
  const signaturesOf = async (address: string): Promise<Signature[]> => {
    const all: Signature[] = [];
    for (;;) {
      const before = all.at(-1)?.signature;
      const options = { limit: PAGE, ...(before !== undefined && { before }) };
      const page = await rpc<Signature[]>('getSignaturesForAddress', address, options);
      all.push(...page);
      if (page.length < PAGE) return all;
    }
  };
  const transferOf = async (payTo: string, signature: string): Promise<Transfer> => {
    const options = { encoding: 'base64', maxSupportedTransactionVersion: 0 };
    const { transaction, meta } = await rpc<TransactionJson>('getTransaction', signature, options);
    const sum = (balances: Balance[]) =>
      balances
        .filter(({ owner }) => owner === payTo)
        .reduce((total, { uiTokenAmount }) => total + BigInt(uiTokenAmount.amount), 0n);
    const amount = sum(meta.postTokenBalances) - sum(meta.preTokenBalances);
    return { signature, hash: messageHashOf(transaction[0]), payTo, amount };
  };
  const transfersTo = async (payTo: string): Promise<Transfer[]> => {
    const signatures = await signaturesOf(chain.tokenAccount(payTo).toBase58());
    const all = await inParallel(signatures, HANDS, ({ signature }) => transferOf(payTo, signature));
    // The creation of the account moves nothing.
    return all.filter(({ amount }) => amount !== 0n);
  };

  const api = createApi(stack.gateway_url);
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
  const tables = await query<{ schema: string; name: string }>(`
    select table_schema as schema, table_name as name from information_schema.tables
    where table_name in ('outbox', 'quarantine') order by 1, 2`);
  return {
    transfers: (await inParallel(vendors, HANDS, ({ payTo }) => transfersTo(payTo))).flat(),
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
    recorded: new Set(
      (await query<{ signature: string }>('select signature from chain_submitter.transactions')).map(
        ({ signature }) => signature,
      ),
    ),
    openIntents: await query<{ intent_id: string; status: string }>(
      "select intent_id, status from chain_submitter.intents where status not in ('finalized', 'failed')",
    ),
    issued: new Set((await inParallel(vendors, HANDS, ({ apiKey }) => listIssued(apiKey))).flat()),
    fees: await inParallel(vendors, HANDS, ({ apiKey, payTo }) => feesOf({ token: apiKey, payTo })),
    left: await inParallel(tables, HANDS, async ({ schema, name }) => {
      const [row] = await query<{ n: number }>(`select count(*)::int as n from ${schema}.${name}`);
      return { table: `${schema}.${name}`, rows: row!.n };
    }),
    /** The reconciliation of every account's history with the records, as an operator runs it. */
    reconciled: await reconcile(placeOf(stack, 'test')),
  };
};
