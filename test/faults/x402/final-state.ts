import { createApi, must, patientApi } from '../../../deploy/local/seed/api.ts';
import { readFailedOnChain } from '../checks/failed-on-chain.ts';
import { createChainReader, type FinalRecords } from '../checks/final-records.ts';
import type { Harness } from '../harness.ts';
import { HANDS, inParallel } from '../recovery.ts';
import type { Actors } from './actors.ts';
import type { Log, Vendor } from './log.ts';

const LIST_PAGE = 100;

/** Everything that the invariants compare, read after the recovery phase. */
export type FinalState = Awaited<ReturnType<typeof readFinalState>>;

/** Reads the chain by plain RPC when it is final, the records, and what vendors can list. */
export const readFinalState = async (
  harness: Harness,
  { actors: { vendors }, log }: { actors: Actors; log: Log },
  records: FinalRecords,
) => {
  const { stack, query } = harness;
  const { transfersOf, balancesOf } = createChainReader(harness);
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
  const feesOf = async ({ name, services, fees }: Vendor) => {
    const token = services.at(-1)!.apiKey;
    const { accrued, paid } = await must(
      api<{ accrued: string; paid: string }>('GET /v1/accounts/me/fees', { token }),
      'fees',
    );
    const lost = (await fees?.lost()) ?? 0n;
    return { name, accrued: BigInt(accrued), paid: BigInt(paid), lost };
  };

  const payees = vendors.flatMap(({ payouts }) => payouts.map(({ publicKey }) => publicKey.toBase58()));
  const isPayee = new Set(payees);
  const moved = (await inParallel(payees, HANDS, transfersOf)).flat();
  const services = vendors.flatMap((vendor) => vendor.services);
  const settlements = records.settlementsOf('x402').filter((row) => isPayee.has(row.payout_address));
  return {
    recorded: records.transactions,
    /** By the hash of the message. */
    settlements: new Map(settlements.map((row) => [row.message_hash, row])),
    /** To vendors, and of their refunds. */
    transfers: moved.filter(({ amount }) => amount > 0n),
    refunds: moved.filter(({ amount }) => amount < 0n),
    /** The refunds that are recorded as final, by their transaction. */
    recordedRefunds: new Map(
      (
        await query<{ tx_hash: string; settlement_id: string; amount: string }>(
          "select tx_hash, settlement_id, amount::text from funding.refunds where status = 'finalized' and payout_address = any($1)",
          [payees],
        )
      ).map((row) => [row.tx_hash, row]),
    ),
    balances: await balancesOf(payees),
    failed: await readFailedOnChain(harness, records, log.emptied),
    issued: new Set((await inParallel(services, HANDS, ({ apiKey }) => listIssued(apiKey))).flat()),
    fees: await inParallel(vendors, HANDS, feesOf),
  };
};
