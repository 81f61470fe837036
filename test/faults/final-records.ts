import { messageHashOf } from '../../services/settlement/foreign-payments/message-hash.ts';
import { isBroken } from '../../tools/reconcile/compare.ts';
import { placeOf, reconcile } from '../../tools/reconcile.ts';
import type { Access } from './access.ts';
import { readLeftRows } from './left-rows.ts';
import { inParallel } from './recovery.ts';

export const HANDS = 16;
const PAGE = 1000;

/** A finalized transaction that changed the balance of an owner's token account. */
type Transfer = { signature: string; hash: string | null; owner: string; amount: bigint };

type Signature = { signature: string; err: unknown };
type Balance = { accountIndex: number; owner: string; uiTokenAmount: { amount: string } };
type TransactionJson = {
  transaction: [wire: string, encoding: 'base64'];
  meta: { preTokenBalances: Balance[]; postTokenBalances: Balance[] };
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
    return { signature, hash: messageHashOf(transaction[0]), owner, amount };
  };
  const historyOf = (owner: string) => signaturesOf(chain.tokenAccount(owner).toBase58());
  return {
    signaturesOf,
    historyOf,
    /** What changed an owner's balance. The amount is negative if the owner paid. */
    transfersOf: async (owner: string): Promise<Transfer[]> => {
      const all = await inParallel(await historyOf(owner), HANDS, ({ signature }) =>
        transferOf(owner, signature),
      );
      // The creation of the account moves nothing.
      return all.filter(({ amount }) => amount !== 0n);
    },
  };
};

/** The records of all services that every campaign compares. */
export const readRecords = async ({ query, stack }: Access) => {
  const signatures = await query<{ signature: string }>('select signature from chain_submitter.transactions');
  return {
    /** The transactions that chain-submitter has recorded. */
    recorded: new Set(signatures.map(({ signature }) => signature)),
    openIntents: await query<{ intent_id: string; status: string }>(
      "select intent_id, status from chain_submitter.intents where status not in ('finalized', 'failed')",
    ),
    left: await readLeftRows({ query }),
    /** The reconciliation of every account's history with the records, as an operator runs it. */
    reconciled: await reconcile(placeOf(stack, 'test')),
  };
};

/** The invariants about those records, which hold for every campaign. */
export const recordInvariants = ({
  left,
  reconciled,
}: Pick<Awaited<ReturnType<typeof readRecords>>, 'left' | 'reconciled'>) =>
  Object.entries({
    'reconciliation-finds-nothing': () =>
      reconciled
        .filter(isBroken)
        .flatMap(({ account, findings }) =>
          findings.map(({ kind, amount, what }) => `${account}: ${kind} ${amount}, ${what}`),
        ),

    'outboxes-and-quarantine-empty': () =>
      left.filter(({ rows }) => rows > 0).map(({ table, rows }) => `${rows} rows in ${table}`),
  });
