import { referenceOf } from '../../../services/chain-submitter/ledger/reference.ts';
import type { Access } from '../access.ts';
import { createChainReader, type FinalRecords } from '../checks/final-records.ts';
import { HANDS, inParallel } from '../recovery.ts';
import type { ClientLog } from './client-log.ts';

/** A finalized transaction: its signers and its balance changes. */
export type FinalizedTransaction = {
  signature: string;
  succeeded: boolean;
  signers: string[];
  deltas: Map<string, bigint>;
};

/** Everything that the invariants compare, read after the recovery phase. */
export type FinalState = Awaited<ReturnType<typeof readFinalState>>;

/** A refund that was opened. */
export type RefundRow = {
  refund_id: string;
  settlement_id: string;
  amount: string;
  status: string;
  tx_hash: string | null;
};

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
 * Reads the chain, and the records of our own payments. The chain is read by plain RPC at its
 * default commitment, because only what is final counts.
 */
export const readFinalState = async (harness: Access, clientLog: ClientLog, records: FinalRecords) => {
  const { rpc, query, signers: ours } = harness;
  const reader = createChainReader(harness);
  const signaturesOf = async (address: string): Promise<string[]> =>
    (await reader.signaturesOf(address)).map(({ signature }) => signature);

  const signatures = [...new Set((await Promise.all(ours.map(signaturesOf))).flat())];
  const transactions = await inParallel(signatures, HANDS, async (signature) => {
    const found = await rpc<TransactionJson>('getTransaction', signature, {
      maxSupportedTransactionVersion: 0,
    });
    return finalizedOf(signature, found);
  });

  const services = new Set(clientLog.attempts.map(({ vendor }) => vendor.serviceId));
  const settlements = records.settlementsOf('quittance').filter(({ service_id }) => services.has(service_id));
  const bySettlement = new Map(settlements.map((row) => [row.settlement_id, row]));
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
    /** Rows of other clients, whose payments also have a transfer to the fee wallet. */
    others: [...records.settlementsOf('quittance'), ...records.settlementsOf('mpp')].filter(
      ({ service_id }) => !services.has(service_id),
    ),
    bySettlement,
    byAttempt: new Map(settlements.map((row) => [`${row.account_id}/${row.payment_attempt_id}`, row])),
    records: records.transactions,
    refunds: (
      await query<RefundRow>(
        'select refund_id, settlement_id, amount::text, status, tx_hash from funding.refunds where amount is not null',
      )
    ).filter(({ settlement_id }) => bySettlement.has(settlement_id)),
    consumptions: await query<{ settlement_id: string; request_id: string; units: number }>(
      'select settlement_id, request_id, units::int as units from settlement.consumptions',
    ),
    funded: await query<{ owner: string; amount: string }>(
      "select owner, sum(amount)::text as amount from funding.dev_funds where status in ('confirmed', 'finalized') group by 1",
    ),
  };
};
