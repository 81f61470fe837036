import { referenceOf } from '../../services/chain-submitter/transactions/reference.ts';
import { placeOf, reconcile } from '../../tools/reconcile.ts';
import type { Access } from './access.ts';
import type { ClientLog } from './client-log.ts';
import { readLeftRows } from './left-rows.ts';
import { inParallel } from './recovery.ts';

const HANDS = 16;
const PAGE = 1000;

export type SettlementRow = {
  settlement_id: string;
  account_id: string;
  payment_attempt_id: string;
  quote_id: string;
  wallet_id: string;
  service_id: string;
  quote_amount: string;
  fee_amount: string;
  status: 'pending' | 'issued' | 'redeemed' | 'expired' | 'failed';
  chain_status: 'pending' | 'confirmed' | 'finalized' | 'failed';
  tx_hash: string | null;
  superseded_tx_hashes: string[];
  redeemed_at: Date | null;
  issued_at: Date | null;
  progressed_at: Date;
  /** When its acceptance was committed. */
  accepted_at: Date;
};
type TransactionRow = { signature: string; intent_id: string; status: 'live' | 'expired' | 'failed' };

/** A finalized transaction: its signers and its balance changes. */
export type FinalizedTransaction = {
  signature: string;
  succeeded: boolean;
  signers: string[];
  deltas: Map<string, bigint>;
};

/** Everything that the invariants compare, read after the recovery phase. */
export type FinalState = Awaited<ReturnType<typeof readFinalState>>;

type TokenBalance = { accountIndex: number; uiTokenAmount: { amount: string } };
type TransactionJson = {
  transaction: {
    message: { accountKeys: string[]; header: { numRequiredSignatures: number } };
  };
  meta: { err: unknown; preTokenBalances: TokenBalance[]; postTokenBalances: TokenBalance[] };
};

const finalizedOf = (signature: string, { transaction, meta }: TransactionJson): FinalizedTransaction => {
  const { accountKeys, header } = transaction.message;
  const deltas = new Map<string, bigint>();
  const add = (list: TokenBalance[], sign: bigint) => {
    for (const { accountIndex, uiTokenAmount } of list) {
      const account = accountKeys[accountIndex]!;
      deltas.set(account, (deltas.get(account) ?? 0n) + sign * BigInt(uiTokenAmount.amount));
    }
  };
  add(meta.preTokenBalances, -1n);
  add(meta.postTokenBalances, 1n);
  return {
    signature,
    succeeded: meta.err === null,
    signers: accountKeys.slice(0, header.numRequiredSignatures),
    deltas,
  };
};

/**
 * Reads the chain and the databases. The chain is read by plain RPC at its default commitment,
 * because only what is final counts.
 */
export const readFinalState = async (harness: Access, clientLog: ClientLog) => {
  const { rpc, query, signers: ours } = harness;

  /** All signatures that name an address, oldest pages last. */
  const signaturesOf = async (address: string): Promise<string[]> => {
    const all: string[] = [];
    for (;;) {
      const before = all.at(-1);
      const page = await rpc<{ signature: string }[]>('getSignaturesForAddress', address, {
        limit: PAGE,
        ...(before === undefined ? {} : { before }),
      });
      all.push(...page.map(({ signature }) => signature));
      if (page.length < PAGE) return all;
    }
  };

  const signatures = [...new Set((await Promise.all(ours.map(signaturesOf))).flat())];
  const transactions = await inParallel(signatures, HANDS, async (signature) => {
    const found = await rpc<TransactionJson>('getTransaction', signature, {
      maxSupportedTransactionVersion: 0,
    });
    return finalizedOf(signature, found);
  });

  const settlements = await query<SettlementRow>(`
    select s.*, a.committed_at as accepted_at from settlement.settlements s
    join campaign.acceptances a using (settlement_id)`);
  const quoteIds = [
    ...new Set([
      ...clientLog.attempts.map(({ quote }) => quote.quote_id),
      ...settlements.map(({ quote_id }) => quote_id),
    ]),
  ];
  const references = await inParallel(quoteIds, HANDS, (quoteId) =>
    signaturesOf(referenceOf('test', quoteId)),
  );

  const owners = [
    ...new Set(
      clientLog.attempts.flatMap(({ payer, vendor }) => [payer.wallet.publicKey, vendor.payout.publicKey]),
    ),
  ].map((key) => key.toBase58());
  const holders = [...owners, harness.stack.environments.test!.fee_wallet];
  const balances = await inParallel(holders, HANDS, async (owner) => {
    const account = harness.chain.tokenAccount(owner).toBase58();
    const amount = await rpc<{ value: { amount: string } }>('getTokenAccountBalance', account).then(
      ({ value }) => BigInt(value.amount),
      () => 0n,
    );
    return [owner, amount] as const;
  });

  const left = await readLeftRows({ query });
  return {
    /** The transactions that the fee payer or a delegate authority signed, by signature. */
    transactions: new Map(
      transactions
        .filter(({ signers }) => signers.some((signer) => ours.includes(signer)))
        .map((each) => [each.signature, each]),
    ),
    /** Signatures under the reference of each quote. */
    under: new Map(quoteIds.map((quoteId, at) => [quoteId, references[at]!])),
    /** By owner. */
    balances: new Map(balances),
    settlements,
    bySettlement: new Map(settlements.map((row) => [row.settlement_id, row])),
    byAttempt: new Map(settlements.map((row) => [`${row.account_id}/${row.payment_attempt_id}`, row])),
    records: new Map(
      (
        await query<TransactionRow>('select signature, intent_id, status from chain_submitter.transactions')
      ).map((row) => [row.signature, row]),
    ),
    intents: await query<{ intent_id: string; object_id: string; status: string }>(
      'select intent_id, object_id, status from chain_submitter.intents',
    ),
    payers: await query<{ wallet_id: string; held: string }>('select wallet_id, held from settlement.payers'),
    funded: await query<{ owner: string; amount: string }>(
      "select owner, sum(amount)::text as amount from funding.dev_funds where status in ('confirmed', 'finalized') group by 1",
    ),
    left,
    /** The reconciliation of every account's history with the records, as an operator runs it. */
    reconciled: await reconcile(placeOf(harness.stack, 'test')),
  };
};
