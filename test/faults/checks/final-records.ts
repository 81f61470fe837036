import { messageHashOf } from '../../../shared/lib/chain/wire-transaction.ts';
import { isBroken } from '../../../tools/reconcile/compare.ts';
import { isWrong } from '../../../tools/reconcile/costs.ts';
import { placeOf, reconcile } from '../../../tools/reconcile.ts';
import type { Access } from '../access.ts';
import type { Break } from '../break.ts';
import { HANDS, inParallel } from '../recovery.ts';
import { readEventDifferences } from './account-events.ts';
import { readLeftRows } from './left-rows.ts';
import type { WebhookReceiver } from './sent-webhooks.ts';

const PAGE = 1000;

/** A finalized transaction that changed the balance of an owner's token account. */
type Transfer = {
  signature: string;
  hash: string | null;
  owner: string;
  amount: bigint;
  /** What its fee payer has paid for it. */
  lamports: bigint;
};

type Signature = { signature: string; err: unknown };
type Balance = { accountIndex: number; owner: string; uiTokenAmount: { amount: string } };
type TransactionJson = {
  transaction: [wire: string, encoding: 'base64'];
  meta: { fee: number; preTokenBalances: Balance[]; postTokenBalances: Balance[] };
};

/** Reads the chain by plain RPC at its default commitment, because only what is final counts. */
export const createChainReader = ({ rpc, chain }: Access) => {
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
  const transferOf = async (owner: string, signature: string): Promise<Transfer> => {
    const options = { encoding: 'base64', maxSupportedTransactionVersion: 0 };
    const { transaction, meta } = await rpc<TransactionJson>('getTransaction', signature, options);
    const sum = (balances: Balance[]) =>
      balances
        .filter((balance) => balance.owner === owner)
        .reduce((total, { uiTokenAmount }) => total + BigInt(uiTokenAmount.amount), 0n);
    const amount = sum(meta.postTokenBalances) - sum(meta.preTokenBalances);
    return {
      ...{ signature, owner, amount },
      hash: messageHashOf(transaction[0]),
      lamports: BigInt(meta.fee),
    };
  };
  const historyOf = (owner: string) => signaturesOf(chain.tokenAccount(owner).toBase58());
  return {
    signaturesOf,
    transferOf,
    historyOf,
    balancesOf: (owners: readonly string[]) =>
      inParallel(owners, HANDS, async (owner) => ({ owner, amount: await chain.balance(owner) })),
    /** What changed an owner's balance. The amount is negative if the owner paid. */
    transfersOf: async (owner: string): Promise<Transfer[]> => {
      const all = await inParallel(await historyOf(owner), HANDS, ({ signature }) =>
        transferOf(owner, signature),
      );
      // The creation of the account moves nothing.
      return all.filter(({ amount }) => amount !== 0n);
    },
    /** The transactions of an owner's token account that failed on chain. */
    failuresOf: async (owner: string): Promise<Transfer[]> => {
      const failed = (await historyOf(owner)).filter(({ err }) => err !== null);
      return inParallel(failed, HANDS, ({ signature }) => transferOf(owner, signature));
    },
  };
};

/** A settlement of any rail. Only our own payments have a quote, a service and a fee on chain. */
export type SettlementRow = {
  settlement_id: string;
  rail: 'quittance' | 'x402' | 'mpp' | 'x402_out' | 'mpp_out';
  account_id: string;
  payment_attempt_id: string;
  delegate_id: string | null;
  message_hash: string;
  quote_id: string;
  wallet_id: string;
  service_id: string;
  scope: { resource?: string } | null;
  payout_address: string;
  quote_amount: string;
  fee_amount: string;
  accrued_fee: string;
  status: 'pending' | 'authorized' | 'capturing' | 'issued' | 'redeemed' | 'expired' | 'voided' | 'failed';
  chain_status: 'none' | 'pending' | 'confirmed' | 'finalized' | 'failed';
  tx_hash: string | null;
  superseded_tx_hashes: string[];
  holding: boolean;
  refund_reserved: string;
  /** The ceiling of an authorization, of which `quote_amount` was captured. */
  ceiling: string | null;
  used: string | null;
  units_total: number | null;
  units_consumed: number;
  redeemed_at: Date | null;
  issued_at: Date | null;
  progressed_at: Date;
  failure_message: string | null;
  /** When its acceptance was committed. */
  accepted_at: Date;
};
type TransactionRow = { signature: string; intent_id: string; status: 'live' | 'expired' | 'failed' };
type Usage = { id: string; held: string; spent: string };

/** The records of all services, after the recovery phase. */
export type FinalRecords = Awaited<ReturnType<typeof readFinalRecords>>;

/** A settlement `s` as `SettlementRow`, whatever its kind. */
const SETTLEMENTS = `
  select s.*, s.units_consumed::float8 as units_consumed, t.ceiling, t.used_pico / 1000000 as used, i.message_hash, i.payout_address,
    i.accrued_fee
  from settlement.settlements s left join settlement.authorizations t using (settlement_id)
  left join settlement.incoming_payments i using (settlement_id)`;

/** The settlements of a service, which no acceptance of a campaign names. */
export const settlementsOfService = ({ query }: Pick<Access, 'query'>, serviceId: string) =>
  query<SettlementRow>(`${SETTLEMENTS} where s.service_id = $1`, [serviceId]);

/**
 * Reads the records that every campaign compares.
 * @param webhooks the receiver of the vendors; undefined: the installation cannot reach one
 */
export const readFinalRecords = async (
  { query, stack }: Access,
  webhooks?: Pick<WebhookReceiver, 'readUnsent'>,
) => {
  const eventDifferences = await readEventDifferences({ query });
  const settlements = await query<SettlementRow>(`
    select s.*, a.committed_at as accepted_at
    from (${SETTLEMENTS}) as s join campaign.acceptances a using (settlement_id)`);
  const transactions = await query<TransactionRow>(
    'select signature, intent_id, status from chain_submitter.transactions',
  );
  return {
    settlements,
    settlementsOf: (rail: SettlementRow['rail']) => settlements.filter((row) => row.rail === rail),
    /** The transactions that chain-submitter has recorded, by signature. */
    transactions: new Map(transactions.map((row) => [row.signature, row])),
    openIntents: await query<{ intent_id: string; status: string }>(
      "select intent_id, status from chain_submitter.intents where status not in ('finalized', 'failed')",
    ),
    payers: await query<{ id: string; held: string }>(
      'select wallet_id as id, held::text as held from settlement.payers',
    ),
    delegates: await query<Usage>(
      'select delegate_id as id, total_held::text as held, total_spent::text as spent from settlement.delegates',
    ),
    left: await readLeftRows({ query }),
    eventDifferences,
    unsentWebhooks: (await webhooks?.readUnsent()) ?? [],
    /** The reconciliation of every account's history with the records, as an operator runs it. */
    reconciled: await reconcile(placeOf(stack, 'test')),
  };
};

/** Settlements that are recorded as final, and whose transaction is not on the chain. */
export const notOnTheChain = (
  rows: readonly SettlementRow[],
  isOnTheChain: (signature: string) => boolean,
): string[] =>
  rows
    .filter(({ chain_status, tx_hash }) => chain_status === 'finalized' && !isOnTheChain(tx_hash ?? ''))
    .map(({ settlement_id, tx_hash }) => `${settlement_id}: ${tx_hash} is not on the chain`);

/** It has ended, and never had a transaction. */
const ENDED_WITHOUT_CHAIN: readonly SettlementRow['status'][] = ['voided'];

const PAID_ALREADY = 'the quote is paid already';

/** What must hold of the records of every kind of traffic. */
const invariants: Record<string, (of: FinalRecords) => string[]> = {
  'held-is-zero': ({ delegates, payers, settlements }) => [
    ...[...delegates, ...payers]
      .filter(({ held }) => held !== '0')
      .map(({ id, held }) => `${id} still holds ${held}`),
    ...settlements
      .filter(({ holding }) => holding)
      .map(({ settlement_id }) => `${settlement_id} still holds`),
  ],

  'everything-ends': ({ settlements, openIntents }) => [
    ...openIntents.map(({ intent_id, status }) => `${intent_id} is ${status}`),
    ...settlements
      .filter(
        ({ status, chain_status }) =>
          !ENDED_WITHOUT_CHAIN.includes(status) && chain_status !== 'finalized' && chain_status !== 'failed',
      )
      .map(({ settlement_id, status, chain_status }) => `${settlement_id} is ${status}, ${chain_status}`),
  ],

  /**
   * A payment fails for a reason of its payer: "the quote is paid already" only if it was paid,
   * whatever names the quote's reference on the chain.
   */
  'paid-already-is-paid': ({ settlements }) => {
    const paid = new Set(settlements.filter(({ issued_at }) => issued_at).map(({ quote_id }) => quote_id));
    return settlements
      .filter(({ quote_id, failure_message: why }) => why === PAID_ALREADY && !paid.has(quote_id))
      .map(({ settlement_id, quote_id }) => `${settlement_id}: nobody paid ${quote_id}`);
  },

  /**
   * `npm run ops -- reconcile` finds nothing missing, doubled, altered or unrecorded, transfer by
   * transfer.
   */
  'reconciliation-finds-nothing': ({ reconciled }) =>
    reconciled.reports
      .filter(isBroken)
      .flatMap(({ account, findings }) =>
        findings.map(({ kind, amount, what }) => `${account}: ${kind} ${amount}, ${what}`),
      ),

  /** The fee payer's balance has changed by the recorded costs, to the lamport. */
  'costs-are-those-of-the-chain': ({ reconciled }) =>
    reconciled.costs
      .filter(isWrong)
      .flatMap(({ feePayer, unexplained, findings }) => [
        ...findings.map(({ signature, lamports, what }) => `${signature}: ${lamports} lamports, ${what}`),
        ...(unexplained === 0n ? [] : [`${feePayer}: ${unexplained} lamports`]),
      ]),

  /** `GET /v1/events` of every account is what the records say, whatever the stream has lost. */
  'accounts-got-every-event': ({ eventDifferences }) => eventDifferences,

  'webhooks-were-sent': ({ unsentWebhooks }) => unsentWebhooks,

  'outboxes-and-quarantine-empty': ({ left }) =>
    left.filter(({ rows }) => rows > 0).map(({ table, rows }) => `${rows} rows in ${table}`),
};

/** Checks every invariant about the records. */
export const recordBreaks = (records: FinalRecords): Break[] =>
  Object.entries(invariants).flatMap(([invariant, check]) =>
    check(records).map((what) => ({ traffic: null, invariant, what })),
  );
