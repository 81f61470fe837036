import { picoOf } from '../../../shared/lib/money/pico.ts';
import { byteaText, tokenHash } from '../../../shared/lib/tokens/packed-token.ts';
import { EPOCH } from '../database.ts';
import type { FundingTables } from '../funding-tables.ts';
import { isIncoming } from '../incoming-tables.ts';
import { isOutgoing } from '../outgoing-settlement.ts';
import { keysOf, type Settlement } from '../settlement-rows.ts';
import type { SettlementTables } from '../settlement-tables.ts';
import type { SubmitterTables } from '../submitter-tables.ts';
import type { View } from './mirror.ts';

/** The columns of a row by their names. What a row has not is null. */
const pick = (row: object, names: string): Record<string, unknown> =>
  Object.fromEntries(
    names.split(/\s+/).map((name) => [name, (row as Record<string, unknown>)[name] ?? null]),
  );
/** A time of the virtual clock as Postgres has it. */
const timeOf = (at: number | null | undefined): number | null => (at == null ? null : EPOCH + at);

const SETTLEMENT = `settlement_id rail account_id payment_attempt_id delegate_id wallet_id quote_id
  vendor_account_id service_id quote_amount fee_amount redeem_window_seconds units_total units_consumed
  refund_reserved status
  chain_status holding generation tx_hash superseded_tx_hashes issued_at redeem_expires_at redeemed_at redeem_id
  failure_code failure_message dispatch_count created_at`;
const INCOMING = `settlement_id created_at payer_address source_account service_name payout_address message_hash memo
  external_id resource accrued_fee hand_out_id`;
const OUTGOING = `settlement_id account_id created_at payer_address source_account service_name resource message_hash
  x402_version capped_at`;
const AUTHORIZATION = `settlement_id account_id vendor_account_id wallet_id mode ceiling threshold extensions
  ends_at due_at retry_at at_risk_at capturing_at voided_at created_at`;
const isUnderWay = ({ chain_status }: { chain_status: string }): boolean =>
  chain_status === 'pending' || chain_status === 'confirmed';
const expiresFrom = ({ status, redeem_window_seconds: window, created_at }: Settlement): number | null =>
  window !== null && (status === 'pending' || status === 'issued') ? created_at + window * 1000 : null;

/** The tables of settlement. Its outbox is emptied by the model of the relay, so it is no view. */
export const settlementViews = ({
  settlements,
  payers,
  delegates,
  feeAccounts,
  reservations,
  approvals,
  consume,
  using,
}: SettlementTables): readonly View[] => [
  {
    table: 'payers',
    key: ['wallet_id'],
    rows: () =>
      [...payers.values()].map((row) =>
        pick(row, 'wallet_id account_id owner authority balance allowance as_of_slot included_slot held'),
      ),
  },
  {
    table: 'delegates',
    isFollowed: true,
    key: ['delegate_id'],
    // The owners of a run make delegates without a statement. No run lasts longer than a day.
    defaults: { version: 1, day: '2026-01-01', month: '2026-01-01', external: true },
    rows: () =>
      [...delegates.values()].map((row) => ({
        ...pick(row, 'delegate_id account_id per_payment daily monthly total approval_above'),
        ...{ day_held: row.held, month_held: row.held, total_held: row.held },
        ...{ day_spent: row.spent, month_spent: row.spent, total_spent: row.spent },
      })),
  },
  {
    table: 'settlements',
    key: ['settlement_id'],
    rows: () =>
      [...settlements.values()].map((row) => ({
        ...pick(row, SETTLEMENT),
        is_authorization: (row.ceiling ?? null) !== null,
        under_way_since: isUnderWay(row) ? (row.capturing_at ?? row.created_at) : null,
        expires_from: expiresFrom(row),
        progressed_at: timeOf(row.progressed_at),
        settlement_token_hash:
          row.settlement_token === null
            ? null
            : Buffer.from(byteaText(tokenHash(row.settlement_token)).slice(2), 'hex'),
      })),
  },
  {
    table: 'incoming_payments',
    key: ['settlement_id'],
    rows: () =>
      [...settlements.values()].filter(isIncoming).map((row) => ({
        ...pick(row, INCOMING),
        account_id: row.vendor_account_id,
        handed_out_at: timeOf(row.handed_out_at),
      })),
  },
  {
    table: 'outgoing_payments',
    key: ['settlement_id'],
    rows: () =>
      [...settlements.values()].filter(isOutgoing).map((row) => ({
        ...pick(row, OUTGOING),
        holder: row.holding ? row.account_id : null,
      })),
  },
  {
    table: 'extensions',
    key: ['extension_id'],
    rows: () =>
      [...settlements.values()].flatMap((row) =>
        (row.extensions ?? []).map((one) => ({
          ...pick(one, 'extension_id payment_attempt_id quote_id created_at'),
          amount: BigInt(one.amount),
          ...pick(row, 'settlement_id account_id'),
        })),
      ),
  },
  {
    // The models have no such table: its rows follow from the payments, and there is no other one.
    table: 'settlement_keys',
    key: ['key', 'kind'],
    rows: () =>
      [...settlements.values()].flatMap((row) =>
        keysOf(row).map((own) => ({ ...own, ...pick(row, 'settlement_id account_id') })),
      ),
  },
  {
    table: 'authorizations',
    key: ['settlement_id'],
    rows: () =>
      [...settlements.values()]
        .filter(({ ceiling }) => (ceiling ?? null) !== null)
        .map((row) => ({
          ...pick(row, AUTHORIZATION),
          used_pico: picoOf(row.used!),
          extensions: row.extensions!.length,
        })),
  },
  {
    table: 'fee_accounts',
    key: ['account_id'],
    rows: () => [...feeAccounts].map(([account_id, { accrued, paid }]) => ({ account_id, accrued, paid })),
  },
  {
    table: 'refund_reservations',
    key: ['refund_id'],
    rows: () =>
      [...reservations].map(([refund_id, { settlement_id, amount, released }]) => ({
        refund_id,
        settlement_id,
        amount: settlement_id === null ? null : amount,
        is_released: released,
      })),
    shown: { is_released: 'released_at is not null' },
  },
  {
    table: 'approvals',
    key: ['approval_id'],
    rows: () =>
      [...approvals.approvals.values()].map((row) =>
        pick(
          row,
          `approval_id account_id payment_attempt_id delegate_id rail quote_id amount payees service_id service_name
           resource expires_at decided_at approved created_at`,
        ),
      ),
  },
  {
    table: 'consumptions',
    key: ['settlement_id', 'request_id'],
    rows: () => consume.consumptions.map((row) => pick(row, 'settlement_id request_id units units_consumed')),
  },
  {
    table: 'uses',
    key: ['settlement_id', 'usage_id'],
    rows: () =>
      using.uses.map((row) => ({
        ...pick(row, 'settlement_id usage_id'),
        amount_pico: picoOf(row.amount),
        used_after_pico: picoOf(row.used_after),
      })),
  },
];

/** The tables of chain-submitter. */
export const submitterViews = (tables: SubmitterTables): readonly View[] => [
  {
    table: 'settings',
    isFollowed: true,
    key: ['only_row'],
    rows: () => [{ only_row: true, paused: tables.isPaused() }],
  },
  {
    table: 'intents',
    key: ['intent_id'],
    rows: () =>
      [...tables.intents.values()].map((row) => ({
        ...pick(
          row,
          `intent_id kind object_id request status generation signature slot failure_code failure_message worker_id
           created_at`,
        ),
        next_at: timeOf(row.next_at),
      })),
  },
  {
    table: 'transactions',
    key: ['signature', 'intent_id'],
    rows: () =>
      [...tables.transactions.values()].map((row) =>
        pick(row, 'signature intent_id generation wire last_valid_block_height status signed_at'),
      ),
  },
  {
    table: 'outgoing_messages',
    key: ['intent_id'],
    rows: () =>
      [...tables.outgoing.messages.values()].map((row) =>
        pick(row, 'intent_id message_hash wire last_valid_block_height'),
      ),
  },
  {
    table: 'preparations',
    key: ['preparation_id'],
    rows: () =>
      [...tables.preparations.values()].map((row) =>
        pick(
          row,
          `preparation_id kind account_id budget_account_id owner request message last_valid_block_height status
           submitted_message signature`,
        ),
      ),
  },
  {
    table: 'workers',
    key: ['worker_id'],
    rows: () => [...tables.workers].map(([worker_id, until]) => ({ worker_id, alive_until: timeOf(until) })),
  },
];

/** The tables of funding. */
export const fundingViews = ({ refunds }: FundingTables): readonly View[] => [
  {
    table: 'refunds',
    key: ['refund_id'],
    rows: () =>
      [...refunds.values()].map((row) => ({
        ...pick(
          row,
          'refund_id settlement_id vendor_account_id reason status generation tx_hash slot failure_code failure_message',
        ),
        progressed_at: timeOf(row.progressedAt),
        is_released: row.isReleased,
      })),
    shown: { is_released: 'released_at is not null' },
  },
];
