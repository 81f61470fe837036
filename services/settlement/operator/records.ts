import { z } from 'zod';
import type { RecordEntry, References } from '../../../shared/contract/operator.ts';
import { type Db, type Pool, sql } from '../../../shared/db/pool.ts';
import {
  type AccountRecords,
  entry,
  listNewestIds,
  namesOf,
  type RecordFinder,
  textArray,
} from '../../../shared/operator/records.ts';
import { ofAttempt } from '../keys/store.ts';
import { microOf } from '../record/store/pico.ts';
import { withKinds } from '../record/store/settlements.ts';

const Payment = z.object({
  settlement_id: z.string(),
  rail: z.string(),
  account_id: z.string().nullable(),
  payer_address: z.string().nullable(),
  payment_attempt_id: z.string().nullable(),
  delegate_id: z.string().nullable(),
  wallet_id: z.string().nullable(),
  quote_id: z.string().nullable(),
  vendor_account_id: z.string().nullable(),
  service_id: z.string().nullable(),
  service_name: z.string().nullable(),
  quote_amount: z.bigint(),
  fee_amount: z.bigint(),
  status: z.string(),
  chain_status: z.string(),
  holding: z.boolean(),
  refund_reserved: z.bigint(),
  generation: z.number(),
  tx_hash: z.string().nullable(),
  superseded_tx_hashes: z.array(z.string()),
  issued_at: z.number().nullable(),
  redeem_expires_at: z.number().nullable(),
  redeemed_at: z.number().nullable(),
  handed_out_at: z.number().nullable(),
  forked_at: z.number().nullable(),
  ceiling: z.bigint().nullable(),
  used: z.bigint().nullable(),
  capturing_at: z.number().nullable(),
  at_risk_at: z.number().nullable(),
  voided_at: z.number().nullable(),
  failure_code: z.string().nullable(),
  failure_message: z.string().nullable(),
  message_hash: z.string().nullable(),
  dispatch_count: z.number(),
  progressed_at: z.number(),
  created_at: z.number(),
});
type Payment = z.infer<typeof Payment>;

const Approval = z.object({
  approval_id: z.string(),
  account_id: z.string(),
  payment_attempt_id: z.string(),
  delegate_id: z.string(),
  quote_id: z.string().nullable(),
  amount: z.bigint(),
  created_at: z.number(),
  expires_at: z.number(),
  decided_at: z.number().nullable(),
  approved: z.boolean().nullable(),
});
type Approval = z.infer<typeof Approval>;

const Declined = z.object({
  decline_id: z.string(),
  account_id: z.string(),
  payment_attempt_id: z.string(),
  delegate_id: z.string().nullable(),
  quote_id: z.string(),
  vendor_account_id: z.string(),
  service_id: z.string(),
  amount: z.bigint(),
  reason: z.string(),
  code: z.string(),
  limit_micro: z.bigint().nullable(),
  left_micro: z.bigint().nullable(),
  created_at: z.number(),
});
type Declined = z.infer<typeof Declined>;

const Reservation = z.object({
  refund_id: z.string(),
  settlement_id: z.string().nullable(),
  amount: z.bigint().nullable(),
  created_at: z.number(),
  released_at: z.number().nullable(),
});

const Consumed = z.object({
  settlement_id: z.string(),
  calls: z.bigint(),
  units: z.bigint(),
  first_at: z.number(),
  last_at: z.number(),
});
const Used = Consumed.omit({ units: true }).extend({ used: z.bigint() });

const Extension = z.object({
  extension_id: z.string(),
  settlement_id: z.string(),
  account_id: z.string(),
  payment_attempt_id: z.string(),
  quote_id: z.string(),
  amount: z.bigint(),
  created_at: z.number(),
});

/** The attempts as rows `(account_id, payment_attempt_id)`. */
const attemptRows = (attempts: References['attempts']) =>
  sql.unnest(
    attempts.map(({ account_id, payment_attempt_id }) => [account_id, payment_attempt_id]),
    ['text', 'text'],
  );

const NAMED = sql.fragment`as named(account_id, payment_attempt_id)`;

/** Each part uses an index of its own. */
const listPayments = (db: Db, { ids, attempts }: References): Promise<readonly Payment[]> =>
  db.any(sql.type(Payment)`
    select settlement_id, rail, account_id, of_kind.payer_address, payment_attempt_id, delegate_id, wallet_id, quote_id,
      vendor_account_id, service_id, of_kind.service_name, quote_amount, fee_amount, status, chain_status, holding, refund_reserved, generation, tx_hash,
      superseded_tx_hashes, issued_at, redeem_expires_at, redeemed_at, of_kind.handed_out_at, forked_at, ceiling,
      used, capturing_at, at_risk_at, voided_at, failure_code, failure_message, of_kind.message_hash, dispatch_count, progressed_at, created_at
    from ${withKinds()} where settlement_id in (
      select unnest(${textArray(ids)})
      union select settlement_id from settlement_keys where kind in ('quote', 'message') and key = any(${textArray(ids)})
      union select settlement_id from extensions where extension_id = any(${textArray(ids)})
      union select settlement_id from refund_reservations where refund_id = any(${textArray(ids)})
      union (select settlement_id from incoming_payments
        where payer_address = any(${textArray(ids)}) order by settlement_id desc limit 100)
      union select ${ofAttempt(sql.fragment`named.account_id`, sql.fragment`named.payment_attempt_id`)}
        from ${attemptRows(attempts)} ${NAMED}
    ) order by settlement_id limit 100`);

const listApprovals = (db: Db, { ids, attempts }: References): Promise<readonly Approval[]> =>
  db.any(sql.type(Approval)`
    select approval_id, account_id, payment_attempt_id, delegate_id, quote_id, amount, created_at, expires_at,
      decided_at, approved
    from approvals where approval_id in (
      select unnest(${textArray(ids)})
      union select a.approval_id from approvals a
        join ${attemptRows(attempts)} ${NAMED} using (account_id, payment_attempt_id)
    ) order by approval_id limit 100`);

/** An attempt without a settlement may have declines only. */
const listDeclined = (db: Db, { ids, attempts }: References): Promise<readonly Declined[]> =>
  db.any(sql.type(Declined)`
    select decline_id, account_id, payment_attempt_id, delegate_id, quote_id, vendor_account_id, service_id, amount,
      reason, code, limit_micro, left_micro, created_at
    from declines where decline_id in (
      select unnest(${textArray(ids)})
      union select decline_id from declines where quote_id = any(${textArray(ids)})
      union select d.decline_id from declines d
        join ${attemptRows(attempts)} ${NAMED} using (account_id, payment_attempt_id)
    ) order by decline_id limit 100`);

const listReservations = (db: Db, settlementIds: readonly string[]) =>
  db.any(sql.type(Reservation)`
    select refund_id, settlement_id, amount, created_at, released_at
    from refund_reservations where settlement_id = any(${textArray(settlementIds)}) order by created_at limit 200`);

const listExtensions = (db: Db, settlementIds: readonly string[]) =>
  db.any(sql.type(Extension)`
    select extension_id, settlement_id, account_id, payment_attempt_id, quote_id, amount, created_at
    from extensions where settlement_id = any(${textArray(settlementIds)}) order by extension_id limit 200`);

const listConsumed = (db: Db, settlementIds: readonly string[]) =>
  db.any(sql.type(Consumed)`
    select settlement_id, sum(calls)::bigint as calls, sum(units)::bigint as units, min(at) as first_at, max(at) as last_at
    from (
      select settlement_id, 1 as calls, units, created_at as at from consumptions
      union all select settlement_id, requests, units, second from consumption_sums
    ) as consumed where settlement_id = any(${textArray(settlementIds)}) group by settlement_id`);

const listUsed = (db: Db, settlementIds: readonly string[]) =>
  db.any(sql.type(Used)`
    select settlement_id, sum(calls)::bigint as calls, ${microOf(sql.fragment`sum(amount_pico)::bigint`)} as used,
      min(at) as first_at, max(at) as last_at
    from (
      select settlement_id, 1 as calls, amount_pico, created_at as at from uses
      union all select settlement_id, uses, amount_pico, second from use_sums
    ) as used where settlement_id = any(${textArray(settlementIds)}) group by settlement_id`);

/** The progress of the chain does not move when a settlement is redeemed or expires. */
const stateSince = ({ progressed_at, redeemed_at, redeem_expires_at, status }: Payment): number =>
  Math.max(progressed_at, redeemed_at ?? 0, status === 'expired' ? (redeem_expires_at ?? 0) : 0);

const entriesOfPayment = (row: Payment): RecordEntry[] => {
  const id = row.settlement_id;
  return [
    ...entry(row.created_at, id, 'attempt accepted', {
      rail: row.rail,
      payer: row.account_id,
      // Of an outgoing payment it is the platform's authority over the wallet.
      payer_address: row.account_id === null ? row.payer_address : null,
      payment_attempt_id: row.payment_attempt_id,
      delegate_id: row.delegate_id,
      wallet_id: row.wallet_id,
      quote_id: row.quote_id,
      vendor: row.vendor_account_id,
      service_id: row.service_id,
      service_name: row.service_name,
      amount: row.ceiling ?? row.quote_amount,
      fee: row.fee_amount,
    }),
    ...entry(row.at_risk_at, id, 'wallet no longer covers the authorization'),
    ...entry(row.capturing_at, id, 'capture decided', { amount: row.quote_amount, fee: row.fee_amount }),
    ...entry(row.voided_at, id, 'authorization voided', { used: row.used }),
    ...entry(row.issued_at, id, 'settlement issued', { tx_hash: row.tx_hash }),
    ...entry(row.handed_out_at, id, 'success handed out to the vendor'),
    ...entry(row.redeemed_at, id, 'settlement redeemed'),
    ...entry(row.forked_at, id, 'transaction removed by a fork, not confirmed again yet'),
    ...(row.status === 'issued'
      ? entry(row.redeem_expires_at, id, 'settlement expires if not redeemed')
      : []),
    ...(row.status === 'expired' ? entry(row.redeem_expires_at, id, 'settlement expired') : []),
    ...entry(stateSince(row), id, 'recorded state', {
      status: row.status,
      chain_status: row.chain_status,
      holds: row.holding ? row.quote_amount : null,
      generation: row.generation,
      superseded_tx_hashes: row.superseded_tx_hashes.join(','),
      refund_reserved: row.refund_reserved === 0n ? null : row.refund_reserved,
      dispatches: row.dispatch_count,
      failure: row.failure_code && `${row.failure_code}: ${row.failure_message}`,
    }),
  ];
};

const entriesOfApproval = (row: Approval): RecordEntry[] => [
  ...entry(row.created_at, row.approval_id, 'approval requested', {
    payment_attempt_id: row.payment_attempt_id,
    delegate_id: row.delegate_id,
    quote_id: row.quote_id,
    amount: row.amount,
  }),
  ...entry(row.decided_at, row.approval_id, row.approved ? 'payment approved' : 'payment denied'),
  ...(row.decided_at === null ? entry(row.expires_at, row.approval_id, 'approval expires') : []),
];

const entriesOfDecline = (row: Declined): RecordEntry[] =>
  entry(row.created_at, row.decline_id, 'payment declined', {
    payer: row.account_id,
    payment_attempt_id: row.payment_attempt_id,
    delegate_id: row.delegate_id,
    quote_id: row.quote_id,
    vendor: row.vendor_account_id,
    service_id: row.service_id,
    amount: row.amount,
    reason: row.reason,
    code: row.code,
    limit: row.limit_micro,
    left: row.left_micro,
  });

/**
 * Settlements with their approvals, declines, units, uses and reservations of refunds, by the id of
 * any of them, of their quote or of their message. The address of a wallet without an account names
 * its newest payments.
 */
export const findPaymentRecords =
  (pool: Pool): RecordFinder =>
  async (references) => {
    const [payments, approvals, declines] = await Promise.all([
      listPayments(pool, references),
      listApprovals(pool, references),
      listDeclined(pool, references),
    ]);
    const ids = payments.map(({ settlement_id }) => settlement_id);
    const [extensions, reservations, consumed, used] = await Promise.all([
      listExtensions(pool, ids),
      listReservations(pool, ids),
      listConsumed(pool, ids),
      listUsed(pool, ids),
    ]);
    return {
      related: {
        ids: namesOf([
          ...payments.flatMap((row) => [row.settlement_id, row.quote_id, row.message_hash]),
          ...approvals.flatMap((row) => [row.approval_id, row.quote_id]),
          ...declines.flatMap((row) => [row.decline_id, row.quote_id]),
          ...extensions.flatMap((row) => [row.extension_id, row.quote_id]),
          ...reservations.map((row) => row.refund_id),
        ]),
        attempts: [...payments, ...extensions, ...approvals, ...declines].flatMap(
          ({ account_id, payment_attempt_id }) =>
            account_id === null || payment_attempt_id === null ? [] : [{ account_id, payment_attempt_id }],
        ),
      },
      entries: [
        ...payments.flatMap(entriesOfPayment),
        ...approvals.flatMap(entriesOfApproval),
        ...declines.flatMap(entriesOfDecline),
        ...extensions.flatMap(({ settlement_id, account_id: _, created_at, ...extension }) =>
          entry(created_at, settlement_id, 'authorization extended', extension),
        ),
        ...reservations.flatMap(({ refund_id, amount, created_at, released_at }) => [
          ...entry(amount === null ? null : created_at, refund_id, 'amount reserved for a refund', {
            amount,
          }),
          ...entry(released_at, refund_id, 'reservation released'),
        ]),
        ...consumed.flatMap(({ settlement_id, calls, units, first_at, last_at }) => [
          ...entry(first_at, settlement_id, 'first units consumed'),
          ...entry(last_at, settlement_id, 'last units consumed', { calls, units }),
        ]),
        ...used.flatMap(({ settlement_id, calls, used: sum, first_at, last_at }) => [
          ...entry(first_at, settlement_id, 'first use of the authorization'),
          ...entry(last_at, settlement_id, 'last use of the authorization', { uses: calls, used: sum }),
        ]),
      ],
    };
  };

const SETTLEMENTS = { name: sql.fragment`settlements`, id: sql.fragment`settlement_id` };
const DECLINES = { name: sql.fragment`declines`, id: sql.fragment`decline_id` };
const APPROVALS = { name: sql.fragment`approvals`, id: sql.fragment`approval_id` };
const PAYER = { account: sql.fragment`account_id` };
const VENDOR = { account: sql.fragment`vendor_account_id` };

/** The newest payments, sales, declines and approvals of an account. */
export const listPaymentRecords = (pool: Pool): AccountRecords => {
  const find = findPaymentRecords(pool);
  return async (query) => {
    const tables = [
      { ...SETTLEMENTS, ...PAYER },
      { ...SETTLEMENTS, ...VENDOR },
      { ...DECLINES, ...PAYER },
      { ...DECLINES, ...VENDOR },
      { ...APPROVALS, ...PAYER },
    ];
    // Each kind apart, because a finder returns a hundred objects of a kind.
    const found = await Promise.all(
      tables.map(async (table) => find({ ids: await listNewestIds(pool, table, query), attempts: [] })),
    );
    const entries = found.flatMap((each) => each.entries);
    // An account may pay itself.
    return [...new Map(entries.map((each) => [JSON.stringify(each), each])).values()];
  };
};
