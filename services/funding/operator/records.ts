import { z } from 'zod';
import { MAX_REFERENCES } from '../../../shared/contract/operator.ts';
import { type Pool, sql } from '../../../shared/db/pool.ts';
import {
  type AccountRecords,
  entry,
  listNewestIds,
  namesOf,
  type RecordFinder,
  textArray,
} from '../../../shared/operator/records.ts';

const Refund = z.object({
  refund_id: z.string(),
  settlement_id: z.string(),
  vendor_account_id: z.string(),
  reason: z.string().nullable(),
  status: z.string(),
  amount: z.bigint().nullable(),
  generation: z.number(),
  tx_hash: z.string().nullable(),
  failure_code: z.string().nullable(),
  failure_message: z.string().nullable(),
  released_at: z.number().nullable(),
  created_at: z.number(),
  progressed_at: z.number(),
});

const Withdrawal = z.object({
  withdrawal_id: z.string(),
  account_id: z.string(),
  wallet_id: z.string(),
  status: z.string(),
  amount: z.bigint(),
  destination_address: z.string(),
  generation: z.number(),
  tx_hash: z.string().nullable(),
  failure_code: z.string().nullable(),
  failure_message: z.string().nullable(),
  created_at: z.number(),
  progressed_at: z.number(),
});

const Deposit = z.object({
  deposit_id: z.string(),
  account_id: z.string(),
  wallet_id: z.string(),
  provider: z.string(),
  status: z.string(),
  promised_amount: z.bigint().nullable(),
  amount: z.bigint().nullable(),
  tx_hash: z.string().nullable(),
  problem_code: z.string().nullable(),
  problem_message: z.string().nullable(),
  created_at: z.number(),
  completed_at: z.number().nullable(),
});

const Report = z.object({
  deposit_id: z.string(),
  provider_status: z.string(),
  event: z.string(),
  amount: z.bigint().nullable(),
  tx_hash: z.string().nullable(),
  source: z.string(),
  received_at: z.number(),
});

/** The refunds of settlements, by either id. */
const findRefunds = async (pool: Pool, ids: readonly string[]) => {
  const rows = await pool.any(sql.type(Refund)`
    select refund_id, settlement_id, vendor_account_id, reason, status, amount, generation, tx_hash, failure_code,
      failure_message, released_at, created_at, progressed_at
    from refunds where refund_id = any(${textArray(ids)}) or settlement_id = any(${textArray(ids)})
    order by refund_id limit 100`);
  return {
    ids: rows.flatMap((row) => [row.refund_id, row.settlement_id]),
    entries: rows.flatMap(({ created_at, progressed_at, released_at, refund_id, ...row }) => [
      ...entry(created_at, refund_id, 'refund requested', {
        settlement_id: row.settlement_id,
        amount: row.amount,
        reason: row.reason,
        vendor: row.vendor_account_id,
      }),
      ...entry(progressed_at, refund_id, `refund ${row.status}`, {
        generation: row.generation,
        tx_hash: row.tx_hash,
        failure: row.failure_code && `${row.failure_code}: ${row.failure_message}`,
      }),
      ...entry(released_at, refund_id, 'reservation of the refund released'),
    ]),
  };
};

const findWithdrawals = async (pool: Pool, ids: readonly string[]) => {
  const rows = await pool.any(sql.type(Withdrawal)`
    select withdrawal_id, account_id, wallet_id, status, amount, destination_address, generation, tx_hash,
      failure_code, failure_message, created_at, progressed_at
    from withdrawals where withdrawal_id = any(${textArray(ids)})`);
  return {
    ids: rows.map((row) => row.withdrawal_id),
    entries: rows.flatMap(({ created_at, progressed_at, withdrawal_id, ...row }) => [
      ...entry(created_at, withdrawal_id, 'withdrawal requested', {
        account_id: row.account_id,
        wallet_id: row.wallet_id,
        amount: row.amount,
        destination: row.destination_address,
      }),
      ...entry(progressed_at, withdrawal_id, `withdrawal ${row.status}`, {
        generation: row.generation,
        tx_hash: row.tx_hash,
        failure: row.failure_code && `${row.failure_code}: ${row.failure_message}`,
      }),
    ]),
  };
};

const findDeposits = async (pool: Pool, ids: readonly string[]) => {
  const rows = await pool.any(sql.type(Deposit)`
    select deposit_id, account_id, wallet_id, provider, status, promised_amount, amount, tx_hash, problem_code,
      problem_message, created_at, completed_at
    from deposits where deposit_id = any(${textArray(ids)})`);
  const reports = await pool.any(sql.type(Report)`
    select deposit_id, provider_status, event, amount, tx_hash, source, received_at
    from deposit_reports where deposit_id = any(${textArray(rows.map(({ deposit_id }) => deposit_id))})
    order by report_id limit 200`);
  return {
    ids: rows.map((row) => row.deposit_id),
    entries: [
      ...rows.flatMap(({ deposit_id, created_at, completed_at, ...row }) => [
        ...entry(created_at, deposit_id, 'deposit created', {
          account_id: row.account_id,
          wallet_id: row.wallet_id,
          provider: row.provider,
          promised: row.promised_amount,
          status: row.status,
          problem: row.problem_code && `${row.problem_code}: ${row.problem_message}`,
        }),
        ...entry(completed_at, deposit_id, 'deposit completed', { amount: row.amount, tx_hash: row.tx_hash }),
      ]),
      ...reports.flatMap(({ deposit_id, received_at, ...report }) =>
        entry(received_at, deposit_id, 'provider reported', report),
      ),
    ],
  };
};

/** Refunds, withdrawals and deposits by their ids, and refunds by their settlement. */
export const findTransferRecords =
  (pool: Pool): RecordFinder =>
  async ({ ids }) => {
    const found = await Promise.all([
      findRefunds(pool, ids),
      findWithdrawals(pool, ids),
      findDeposits(pool, ids),
    ]);
    return {
      related: { ids: namesOf(found.flatMap((each) => each.ids)), attempts: [] },
      entries: found.flatMap((each) => each.entries),
    };
  };

const REFUNDS = { name: sql.fragment`refunds`, id: sql.fragment`refund_id` };
const OWNER = sql.fragment`account_id`;

/** The newest withdrawals and deposits of an account, and the refunds that it gets or makes. */
export const listTransferRecords =
  (pool: Pool): AccountRecords =>
  async (query) => {
    const tables = [
      { name: sql.fragment`withdrawals`, id: sql.fragment`withdrawal_id`, account: OWNER },
      { name: sql.fragment`deposits`, id: sql.fragment`deposit_id`, account: OWNER },
      { ...REFUNDS, account: sql.fragment`payer_account_id` },
      { ...REFUNDS, account: sql.fragment`vendor_account_id` },
    ];
    const ids = await Promise.all(tables.map((table) => listNewestIds(pool, table, query)));
    const [withdrawals, deposits, refunds] = await Promise.all([
      findWithdrawals(pool, ids[0]!),
      findDeposits(pool, ids[1]!),
      findRefunds(pool, namesOf([...ids[2]!, ...ids[3]!]).slice(0, MAX_REFERENCES)),
    ]);
    return [withdrawals, deposits, refunds].flatMap(({ entries }) => entries);
  };
