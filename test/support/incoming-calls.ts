import { recordHandOut } from '../../services/settlement/incoming/record-hand-out.ts';
import type { Principal } from '../../shared/contract/principal.ts';
import { newId, newServiceId } from '../../shared/lib/id.ts';
import { admin, callAs, deps, publishProgress } from './settlement.ts';
import {
  hashOf,
  incomingServices,
  newTransaction,
  newVendor,
  submitter,
  txOf,
  x402Request,
} from './settlement-incoming.ts';
import { waitFor } from './wait.ts';

/** Calls of a vendor's service key about payments of other clients, over the settlement fixture. */
export type Key = Extract<Principal, { kind: 'service_key' }>;
type SettleAnswer = {
  success: boolean;
  transaction: string;
  errorReason?: string;
  payer?: string;
  amount?: string;
  network: string;
  extra?: { quittance: { settlement_id: string; hand_out_id?: string } };
  error?: { code: string; money_moved: string };
};
type VerifyAnswer = { isValid: boolean; invalidReason?: string; payer?: string; error?: object };
type Options = Parameters<typeof x402Request>[1];

/** Changes a service of identity: its payout address, or whether it closes. */
export const changeService = (
  { service_id }: Pick<Key, 'service_id'>,
  change: { payout_address?: string; status?: 'active' | 'closing' },
): void => {
  incomingServices.set(service_id, { ...incomingServices.get(service_id)!, ...change });
};

/** The key of a new service of a new account. chain-submitter answers from now on. */
export const newKey = (): Key => {
  submitter.answers = true;
  return newVendor({ account_id: newId('acct'), service_id: newServiceId() });
};

export const rowOf = async (transaction: string) =>
  (await admin.query('select * from settlements where message_hash = $1', [hashOf(transaction)])).rows[0];
/** The row of a payment that chain-submitter has received. */
export const pendingRow = (transaction: string) =>
  waitFor(
    () => rowOf(transaction),
    (row) => row !== undefined && submitter.intents.has(hashOf(transaction)),
  );
/** Publishes that a payment is confirmed. @returns its settlement */
export const confirm = async (transaction: string): Promise<string> => {
  const { settlement_id } = await pendingRow(transaction);
  await publishProgress(settlement_id, 'confirmed', { tx_hash: txOf(transaction) });
  return settlement_id;
};
/** Confirms that the answer with the success was sent. */
export const sent = ({ extra }: SettleAnswer) =>
  recordHandOut(deps)({
    settlement_id: extra!.quittance.settlement_id,
    hand_out_id: extra!.quittance.hand_out_id!,
  });
/** The accrued fees of an account; undefined without any. */
export const owedOf = async (account: string): Promise<string | undefined> =>
  (await admin.query('select accrued::text from fee_accounts where account_id = $1', [account])).rows[0]
    ?.accrued;

/** The calls of one key, which a test sets before each of its cases. */
export const callsOf = (key: () => Key) => {
  const settle = (transaction: string, options: Options = {}, by: Key = key()) =>
    callAs<SettleAnswer>(by, 'x402Settle', x402Request(transaction, options));
  return {
    settle,
    verify: (transaction: string, options: Options = {}) =>
      callAs<VerifyAnswer>(key(), 'x402Verify', x402Request(transaction, options)),
    /** A payment whose success was handed out and not confirmed as sent. */
    settled: async (transaction = newTransaction()): Promise<SettleAnswer> => {
      const answer = settle(transaction);
      await confirm(transaction);
      return answer;
    },
  };
};
