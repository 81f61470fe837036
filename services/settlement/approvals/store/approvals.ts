import { z } from 'zod';
import { Approval, type OutgoingRail } from '../../../../shared/contract/settlement.ts';
import { type Db, sql } from '../../../../shared/db/pool.ts';
import type { Payee } from '../../../../shared/lib/money/payees.ts';
import { type Page, pageBy } from '../../../../shared/lists/page.ts';
import { ofAttempt } from '../../keys/store.ts';

const Row = z.object({
  approval_id: z.string(),
  status: Approval.shape.status,
  account_id: z.string(),
  delegate_id: z.string(),
  payment_attempt_id: z.string(),
  rail: Approval.shape.rail,
  amount: z.bigint(),
  payees: Approval.shape.payees,
  service_id: z.string().nullable(),
  service_name: z.string(),
  quote_id: z.string().nullable(),
  resource: z.string().nullable(),
  created_at: z.number(),
  expires_at: z.number(),
  decided_at: z.number().nullable(),
  settlement_id: z.string().nullable(),
});
export type ApprovalRow = z.infer<typeof Row>;

/** The payment that a request of approval is about, as the owner will see it. */
export type NewApproval = {
  approvalId: string;
  accountId: string;
  delegateId: string;
  paymentAttemptId: string;
  rail: 'quittance' | OutgoingRail;
  quoteId: string | null;
  amountMicro: bigint;
  payees: readonly Payee[];
  serviceId: string | null;
  serviceName: string;
  resource: string | null;
  /** In the form of the wire. */
  expiresAt: string;
};

/** The settlement of the attempt, which its key makes the only one. */
const used = ofAttempt(sql.fragment`a.account_id`, sql.fragment`a.payment_attempt_id`);

/**
 * The status now. One that was used stays approved. A payment that was made without the decision,
 * because the owner has raised the threshold or paid it, leaves nothing to decide: expired.
 */
const status = sql.fragment`case
  when not a.approved then 'denied'
  when a.approved and ${used} is not null then 'approved'
  when a.expires_at <= app_now() or ${used} is not null then 'expired'
  when a.approved then 'approved'
  else 'awaiting_approval' end`;

const columns = sql.fragment`a.approval_id, ${status} as status, a.account_id, a.delegate_id, a.payment_attempt_id, a.rail,
  a.amount, a.payees, a.service_id, a.service_name, a.quote_id, a.resource, a.created_at, a.expires_at, a.decided_at,
  ${used} as settlement_id`;

/**
 * CTE `approval` of acceptance: the candidates whose payment needs an approval and has it, by
 * settlement_id. The rows are locked, so that of a denial and a payment at the same time one comes
 * first: the denial reads the payment after its commit. They are found one by one, and none are
 * searched for a candidate that needs no approval.
 * @param isSame compares `a` with further columns of `candidate`
 */
export const lockApprovals = (isSame: ReturnType<typeof sql.fragment>) => sql.fragment`
  select candidate.settlement_id from candidate
  join delegate on delegate.delegate_id = candidate.delegate_id and delegate.account_id = candidate.account_id
  cross join lateral (
    select from approvals as a
    where a.account_id = candidate.account_id and a.payment_attempt_id = candidate.payment_attempt_id
      and a.delegate_id = candidate.delegate_id and a.amount = candidate.quote_amount and a.payees = candidate.payees
      and ${isSame} and a.approved and a.expires_at > app_now()
    limit 1 for share of a
  ) as found
  where candidate.is_existing is null and delegate.approval_above < candidate.quote_amount`;

/**
 * Whether a candidate needs an approval that CTE `approval` does not have (lockApprovals). Without
 * an amount to ask from, the comparison is false and not null: the CTE is then not executed.
 */
export const lacksApproval = sql.fragment`coalesce(delegate.approval_above < candidate.quote_amount, false)
  and not exists (select from approval where approval.settlement_id = candidate.settlement_id)`;

/**
 * Inserts the request of an attempt, unless the attempt has one or the delegate has `maxWaiting`
 * open ones. The delegate's row is locked, so that concurrent requests count each other.
 * @returns whether it was inserted
 */
export const insertApproval = async (tx: Db, row: NewApproval, maxWaiting: number): Promise<boolean> => {
  await tx.query(sql.typeAlias('void')`
    select from delegates where delegate_id = ${row.delegateId} for no key update`);
  const inserted = await tx.maybeOne(sql.typeAlias('id')`
    insert into approvals (approval_id, account_id, payment_attempt_id, delegate_id, rail, quote_id, amount, payees,
      service_id, service_name, resource, expires_at)
    select ${row.approvalId}, ${row.accountId}, ${row.paymentAttemptId}, ${row.delegateId}, ${row.rail}, ${row.quoteId},
      ${row.amountMicro}, ${JSON.stringify(row.payees)}::jsonb, ${row.serviceId}::uuid, ${row.serviceName}, ${row.resource},
      ${row.expiresAt}::timestamptz
    where (
      select count(*) from approvals as a
      where a.delegate_id = ${row.delegateId} and a.expires_at > app_now() and a.approved is null and ${used} is null
    ) < ${maxWaiting}
    on conflict (account_id, payment_attempt_id) do nothing
    returning approval_id as id`);
  return inserted !== null;
};

/** The approval of an attempt of the account, or null. */
export const findApprovalOfAttempt = (
  db: Db,
  accountId: string,
  attemptId: string,
): Promise<ApprovalRow | null> =>
  db.maybeOne(sql.type(Row)`
    select ${columns} from approvals as a where a.account_id = ${accountId} and a.payment_attempt_id = ${attemptId}`);

/** Which approvals a caller may see: a delegate those of its own payments. */
export type Scope = { account_id: string; delegate_id?: string };

const inScope = ({ account_id, delegate_id }: Scope) =>
  delegate_id === undefined
    ? sql.fragment`a.account_id = ${account_id}`
    : sql.fragment`a.account_id = ${account_id} and a.delegate_id = ${delegate_id}`;

/** The approval, or null where it is outside the scope. */
export const findApprovalRow = (db: Db, scope: Scope, approvalId: string): Promise<ApprovalRow | null> =>
  db.maybeOne(sql.type(Row)`
    select ${columns} from approvals as a where a.approval_id = ${approvalId} and ${inScope(scope)}`);

/** A page of the approvals in scope, newest first, and one more row. */
export const listApprovalRows = (
  db: Db,
  { status: only, ...scope }: Scope & { status?: ApprovalRow['status'] | undefined },
  page: Page,
): Promise<readonly ApprovalRow[]> =>
  db.any(sql.type(Row)`
    select ${columns} from approvals as a
    where ${inScope(scope)} ${only === undefined ? sql.fragment`` : sql.fragment`and ${status} = ${only}`}
      ${pageBy('approval_id', page)}`);

/**
 * Approves a payment that waits. Of concurrent decisions the row's lock lets one come first.
 * @returns null when it does not wait, or not any more
 */
export const recordApproved = async (
  tx: Db,
  { account_id, approval_id, passkey_id }: { account_id: string; approval_id: string; passkey_id: string },
): Promise<ApprovalRow | null> =>
  tx.maybeOne(sql.type(Row)`
    update approvals as a set approved = true, decided_at = app_now(), passkey_id = ${passkey_id}
    where a.approval_id = ${approval_id} and a.account_id = ${account_id} and a.approved is null
      and a.expires_at > app_now() and ${used} is null
    returning ${columns}`);

/**
 * Denies a payment that was not made, also an approved one. Call it within a transaction: the
 * payment that holds the lock of the approval has committed when the second statement reads.
 * @returns null when the payment was made, or when it is denied already
 */
export const recordDenied = async (
  tx: Db,
  { account_id, approval_id }: { account_id: string; approval_id: string },
): Promise<ApprovalRow | null> => {
  await tx.query(sql.typeAlias('void')`
    select from approvals where approval_id = ${approval_id} and account_id = ${account_id} for update`);
  return tx.maybeOne(sql.type(Row)`
    update approvals as a set approved = false, decided_at = app_now()
    where a.approval_id = ${approval_id} and a.account_id = ${account_id} and a.approved is not false and ${used} is null
    returning ${columns}`);
};

/** Erases the queries of the addresses that approvals of an account were asked for. */
export const eraseApprovalQueries = (db: Db, accountId: string): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    update approvals set resource = split_part(resource, '?', 1)
    where account_id = ${accountId} and resource like '%?%'`);
