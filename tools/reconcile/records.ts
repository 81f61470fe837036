import { referenceOf } from '../../services/chain-submitter/ledger/reference.ts';
import { OutgoingRail } from '../../shared/contract/settlement/rail.ts';
import type { Payee } from '../../shared/lib/money/payees.ts';
import { storedClaims } from '../../shared/lib/tokens/compact-token.ts';
import { unpackToken } from '../../shared/lib/tokens/packed-token.ts';

const OUTGOING_RAILS = OutgoingRail.options.map((rail) => `'${rail}'`).join(', ');

/** The services' records of money, as a list of transfers that must be on the chain. */
type Move = { account: string; amount: bigint };
export type Transfer = {
  /** The name of its source. */
  source: string;
  /** chain-submitter's object id, for instance the id of a settlement. */
  id: string;
  /** The transaction that carried it out; null before. */
  signature: string | null;
  /**
   * `included`: confirmed or finalized. `open`: it may be included at any moment. `failed`: it is
   * proven that no money moved. `authorized`: a ceiling is held, and nothing may move before its
   * capture is recorded.
   */
  state: 'included' | 'open' | 'failed' | 'authorized';
  /**
   * The read-only key on its transfer, if there is one. It finds a second payment that no table
   * has.
   */
  reference: string | null;
  moves: Move[];
};

/** The source of payments to vendors that do not use Quittance. */
export const OUTGOING_PAYMENT = 'outgoing payment';

export type Query = (text: string, values?: unknown[]) => Promise<Record<string, unknown>[]>;
type Places = { environment: string; feeWallet: string; tokenAccount: (owner: string) => string };

const stateOf = (status: unknown): Transfer['state'] => {
  if (['failed', 'cancelled', 'expired', 'void', 'voided'].includes(String(status))) return 'failed';
  if (status === 'authorized') return status;
  return status === 'confirmed' || status === 'finalized' ? 'included' : 'open';
};
const text = (value: unknown): string => String(value);
const textOrNull = (value: unknown): string | null => (value === null ? null : String(value));

const fromTo = (from: string, to: string, amount: string): Move[] => [
  { account: from, amount: -BigInt(amount) },
  { account: to, amount: BigInt(amount) },
];

/**
 * The payout address that was signed with the quote. It never changes, even if the service does.
 */
const payoutOf = (quoteToken: Buffer): string => storedClaims(unpackToken(quoteToken)).payout_address;

/**
 * Every kind of transfer of this system, one source each. A missing kind is reported as
 * `unrecorded`, because our keys signed it. Deposits have no source: only their provider signs
 * them, so they are reported as `foreign`.
 */
const sources: Record<string, (query: Query, places: Places) => Promise<Omit<Transfer, 'source'>[]>> = {
  settlement: async (query, { environment, feeWallet, tokenAccount }) => {
    const rows = await query(
      `select s.settlement_id, s.quote_id, s.quote_token, s.quote_amount::text, s.fee_amount::text, s.tx_hash,
         case when s.status in ('failed', 'authorized', 'voided') then s.status else s.chain_status end as status,
         p.owner
       from settlement.settlements s join settlement.payers p using (wallet_id) where s.rail = 'quittance'`,
    );
    return rows.map((row) => {
      const [gross, fee] = [BigInt(text(row.quote_amount)), BigInt(text(row.fee_amount))];
      return {
        id: text(row.settlement_id),
        signature: textOrNull(row.tx_hash),
        state: stateOf(row.status),
        reference: referenceOf(environment, text(row.quote_id)),
        moves: [
          { account: tokenAccount(text(row.owner)), amount: -gross },
          { account: tokenAccount(payoutOf(row.quote_token as Buffer)), amount: gross - fee },
          ...(fee === 0n ? [] : [{ account: tokenAccount(feeWallet), amount: fee }]),
        ],
      };
    });
  },
  // Another client signed it, and our fee payer co-signed. It carries no reference.
  'payment of another protocol': async (query, { feeWallet, tokenAccount }) => {
    const rows = await query(
      `select settlement_id, source_account, payout_address, quote_amount::text, fee_amount::text, tx_hash,
         case when status = 'failed' then 'failed' else chain_status end as status
       from settlement.settlements join settlement.incoming_payments using (settlement_id)`,
    );
    return rows.map((row) => {
      const [gross, fee] = [BigInt(text(row.quote_amount)), BigInt(text(row.fee_amount))];
      return {
        id: text(row.settlement_id),
        signature: textOrNull(row.tx_hash),
        state: stateOf(row.status),
        reference: null,
        moves: [
          { account: text(row.source_account), amount: -gross },
          { account: tokenAccount(text(row.payout_address)), amount: gross - fee },
          ...(fee === 0n ? [] : [{ account: tokenAccount(feeWallet), amount: fee }]),
        ],
      };
    });
  },
  // Our authority signed it, and the vendor's fee payer sent it. It carries no reference.
  [OUTGOING_PAYMENT]: async (query, { tokenAccount }) => {
    const rows = await query(
      `select s.settlement_id, s.quote_amount::text, s.tx_hash,
         (select coalesce(json_agg(json_build_object('address', o.address, 'amount', o.amount::text)), '[]')
           from settlement.outgoing_payees o where o.settlement_id = s.settlement_id) as payees,
         case when s.status = 'failed' then 'failed' else s.chain_status end as status, p.owner
       from settlement.settlements s join settlement.payers p using (wallet_id) where s.rail in (${OUTGOING_RAILS})`,
    );
    return rows.map((row) => ({
      id: text(row.settlement_id),
      signature: textOrNull(row.tx_hash),
      state: stateOf(row.status),
      reference: null,
      moves: [
        { account: tokenAccount(text(row.owner)), amount: -BigInt(text(row.quote_amount)) },
        ...(row.payees as Payee[]).map(({ address, amount }) => ({
          account: tokenAccount(address),
          amount: BigInt(amount),
        })),
      ],
    }));
  },
  'dev fund': async (query, { environment, tokenAccount }) => {
    const rows = await query('select fund_id, owner, amount::text, status, tx_hash from funding.dev_funds');
    return rows.map((row) => ({
      id: text(row.fund_id),
      signature: textOrNull(row.tx_hash),
      state: stateOf(row.status),
      reference: referenceOf(environment, `fund/${text(row.fund_id)}`),
      moves: [{ account: tokenAccount(text(row.owner)), amount: BigInt(text(row.amount)) }],
    }));
  },
  withdrawal: async (query, { environment, tokenAccount }) => {
    const rows = await query(
      'select withdrawal_id, owner, destination_token_account, amount::text, status, tx_hash from funding.withdrawals',
    );
    return rows.map((row) => ({
      id: text(row.withdrawal_id),
      signature: textOrNull(row.tx_hash),
      state: stateOf(row.status),
      reference: referenceOf(environment, `withdrawal/${text(row.withdrawal_id)}`),
      moves: fromTo(tokenAccount(text(row.owner)), text(row.destination_token_account), text(row.amount)),
    }));
  },
  refund: async (query, { environment, tokenAccount }) => {
    const rows = await query(
      `select refund_id, settlement_id, payout_address, destination_token_account, amount::text, status, tx_hash
       from funding.refunds where amount is not null`,
    );
    return rows.map((row) => ({
      id: text(row.refund_id),
      signature: textOrNull(row.tx_hash),
      state: stateOf(row.status),
      reference: referenceOf(environment, `refund/${text(row.settlement_id)}/${text(row.refund_id)}`),
      moves: fromTo(
        tokenAccount(text(row.payout_address)),
        text(row.destination_token_account),
        text(row.amount),
      ),
    }));
  },
};

/** All recorded transfers. */
export const transfersOf = async (query: Query, places: Places): Promise<Transfer[]> =>
  (
    await Promise.all(
      Object.entries(sources).map(async ([source, read]) =>
        (await read(query, places)).map((transfer) => ({ source, ...transfer })),
      ),
    )
  ).flat();

/**
 * Object ids by signature, of everything that our keys ever signed. Rule 8 requires the record
 * before the transaction is sent.
 */
export const signedOf = async (query: Query): Promise<Map<string, string>> =>
  new Map(
    (
      await query(
        'select t.signature, i.object_id from chain_submitter.transactions t join chain_submitter.intents i using (intent_id)',
      )
    ).map(({ signature, object_id }) => [text(signature), text(object_id)]),
  );

/**
 * The accounts to walk, with a readable name: every wallet, payer and payee, and the fee wallet.
 */
export const watchedAccounts = async (
  query: Query,
  transfers: readonly Transfer[],
  { feeWallet, tokenAccount }: Places,
): Promise<Map<string, string>> => {
  const watched = new Map<string, string>();
  for (const { moves } of transfers) for (const { account } of moves) watched.set(account, 'payee');
  const wallets = await query('select wallet_id, public_key as owner from wallet.wallets');
  const payers = await query('select wallet_id, owner from settlement.payers');
  for (const row of [...payers, ...wallets]) watched.set(tokenAccount(text(row.owner)), text(row.wallet_id));
  const foreign = await query(
    `select request ->> 'source_account' as account from chain_submitter.intents where kind = 'incoming'`,
  );
  for (const { account } of foreign)
    if (account !== null && !watched.has(text(account)))
      watched.set(text(account), 'payer of another protocol');
  watched.set(tokenAccount(feeWallet), 'fee wallet');
  return watched;
};

/** Keys besides the fee payer whose signature makes a transfer ours. */
export const authoritiesOf = async (query: Query): Promise<string[]> => {
  const payers = await query('select distinct authority from settlement.payers');
  const wallets = await query('select distinct authority from wallet.wallets');
  return [...payers, ...wallets].map(({ authority }) => text(authority));
};
