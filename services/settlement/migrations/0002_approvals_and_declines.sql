-- Up Migration
-- Payments of delegates that an owner must approve. This reserves nothing, and ends with the quote.
create table approvals (
  approval_id text collate "C" primary key,
  account_id text collate "C" not null,
  payment_attempt_id text collate "C" not null,
  delegate_id text collate "C" not null,
  rail text not null check (rail in ('quittance', 'x402_out', 'mpp_out')),
  quote_id text collate "C",
  amount bigint not null check (amount > 0),
  -- Everybody who would be paid, with the amount, as the owner is shown.
  payees jsonb not null,
  service_id uuid,
  service_name text not null,
  resource text,
  expires_at timestamptz not null,
  decided_at timestamptz,
  approved boolean,
  -- The passkey that has signed.
  passkey_id text collate "C",
  created_at timestamptz not null default app_now(),
  check ((rail = 'quittance') = (quote_id is not null and service_id is not null)),
  check ((decided_at is null) = (approved is null)),
  check (approved is not true or passkey_id is not null)
);
create unique index approvals_by_attempt on approvals (account_id, payment_attempt_id);
create index approvals_by_account on approvals (account_id, approval_id desc);
-- The open ones of a delegate are few.
create index approvals_by_delegate on approvals (delegate_id, expires_at);

-- Payments of quotes that were refused, for 90 days. No money and no hold depends on a row, so
-- reconciliation and rebuilt projections do not read them.
create table declines (
  decline_id text collate "C" primary key,
  account_id text collate "C" not null,
  -- Null: a sign-in of the account.
  delegate_id text collate "C",
  payment_attempt_id text collate "C" not null,
  quote_id text collate "C" not null,
  vendor_account_id text collate "C" not null,
  service_id uuid not null, service_name text not null, item text,
  amount bigint not null check (amount > 0),
  reason text collate "C" not null, code text collate "C" not null,
  -- What the payment was compared with. Null: no limit of delegate or wallet is the reason.
  limit_micro bigint check (limit_micro >= 0), left_micro bigint check (left_micro >= 0),
  resets_at timestamptz,
  created_at timestamptz not null,
  check ((limit_micro is null) = (left_micro is null) and (resets_at is null or limit_micro is not null))
);
-- A client that repeats a refused settle adds no row.
create unique index declines_once on declines (quote_id, account_id, coalesce(delegate_id, ''), reason);
create index declines_by_payer on declines (account_id, decline_id desc);
create index declines_by_delegate on declines (account_id, delegate_id, decline_id desc)
  where delegate_id is not null;
create index declines_by_vendor on declines (vendor_account_id, decline_id desc);
create index declines_by_service on declines (service_id, decline_id desc);
create index declines_by_time on declines (created_at);

-- The limits of delegates that were reported as used up. A raised limit is reported again.
create table exhausted_limits (
  delegate_id text collate "C" not null,
  name text not null check (name in ('daily', 'monthly', 'total')),
  limit_micro bigint not null,
  -- The day, the month, or `ever`.
  period text collate "C" not null,
  decline_id text collate "C" not null,
  created_at timestamptz not null,
  primary key (delegate_id, name, limit_micro, period)
);
create index exhausted_limits_by_time on exhausted_limits (created_at);
