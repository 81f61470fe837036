import type { Keypair } from '@solana/web3.js';
import type { Vendor } from './actors.ts';
import { type Answer, type Api, must } from './api.ts';
import { signPrepared } from './wallet.ts';

/**
 * Withdrawals and refunds by the owner of the money. The owner's key does not leave this process.
 */
type Transfer = {
  status: string;
  amount: string;
  tx_hash: string | null;
  /** Present only in answers that prepared the transfer. */
  transaction?: string;
  error?: { code: string; message: string };
};
type Withdrawal = Transfer & { withdrawal_id: string };
type Refund = Transfer & { refund_id: string; settlement_id: string };

/** Prepares a withdrawal and returns the answer, whatever its status. */
export const createWithdrawal = (
  api: Api,
  token: string,
  walletId: string,
  { amount, to }: { amount: bigint; to: string },
): Promise<Answer<Withdrawal>> =>
  api<Withdrawal>('POST /v1/withdrawals', {
    token,
    body: { wallet_id: walletId, amount: amount.toString(), destination_address: to },
  });

/** Signs and submits a prepared withdrawal and returns the answer, whatever its status. */
export const approveWithdrawal = (
  api: Api,
  token: string,
  { withdrawal_id, transaction }: Withdrawal,
  wallet: Keypair,
): Promise<Answer<Withdrawal>> =>
  api<Withdrawal>(`POST /v1/withdrawals/${withdrawal_id}/approve`, {
    token,
    body: { transaction: signPrepared(transaction!, wallet) },
  });

/** Withdraws money from a wallet. */
export const withdraw = async (
  api: Api,
  { token, walletId, wallet }: { token: string; walletId: string; wallet: Keypair },
  order: { amount: bigint; to: string },
): Promise<Withdrawal> => {
  const created = await must(createWithdrawal(api, token, walletId, order), 'withdrawal');
  return must(approveWithdrawal(api, token, created, wallet), 'approve');
};

/**
 * Prepares a refund, by default of the whole remaining amount, and returns the answer, whatever its
 * status.
 */
export const createRefund = (
  api: Api,
  token: string,
  settlementId: string,
  amount?: bigint,
): Promise<Answer<Refund>> =>
  api<Refund>('POST /v1/refunds', {
    token,
    body: { settlement_id: settlementId, ...(amount === undefined ? {} : { amount: amount.toString() }) },
  });

/**
 * Signs a prepared refund with the key of the payout address, submits it and returns the answer,
 * whatever its status.
 */
export const submitRefund = (
  api: Api,
  { apiKey, payout }: Pick<Vendor, 'apiKey' | 'payout'>,
  { refund_id, transaction }: Refund,
): Promise<Answer<Refund>> =>
  api<Refund>(`POST /v1/refunds/${refund_id}/submit`, {
    token: apiKey,
    body: { transaction: signPrepared(transaction!, payout) },
  });

/** Refunds a payment. */
export const refund = async (
  api: Api,
  vendor: Pick<Vendor, 'apiKey' | 'payout'>,
  settlementId: string,
  amount?: bigint,
): Promise<Refund> => {
  const created = await must(createRefund(api, vendor.apiKey, settlementId, amount), 'refund');
  return must(submitRefund(api, vendor, created), 'submit');
};
