-- Wallets that pay: the last snapshot of each, and what accepted payments hold of it
-- (docs/design/settle.md, rule 5).
create table payers (
  wallet_id text collate "C" primary key,
  account_id text collate "C" not null,
  owner text not null,
  authority text not null,
  balance bigint not null check (balance >= 0),
  -- What the platform's delegate authority may still spend. 0: it is not the delegate.
  allowance bigint not null check (allowance >= 0),
  as_of_slot bigint not null,
  -- The newest slot of a payment that was subtracted. An older snapshot has its amount again.
  included_slot bigint not null default 0,
  held bigint not null default 0 check (held >= 0)
);
-- A refusal waits for the acceptances that run on any wallet of the account.
create index payers_by_account on payers (account_id);

-- One row is the attempt and the settlement that it becomes. A payment that another client signed
-- has no payer, attempt and quote of ours (docs/adr/0043).
create table settlements (
  settlement_id text collate "C" primary key,
  rail text not null default 'quittance' check (rail in ('quittance', 'x402', 'mpp', 'x402_out', 'mpp_out')),
  account_id text collate "C",
  payment_attempt_id text collate "C",
  delegate_id text collate "C",
  -- The UTC day of its acceptance, in which it counts for its delegate or else its account.
  delegate_day date,
  wallet_id text collate "C" references payers,
  quote_id text collate "C",
  -- Packed (shared/lib/tokens/packed-token.ts), as is settlement_token.
  quote_token bytea,
  -- The scope of the quote. Null: it has none. Not jsonb, so that it is shown as it was given.
  scope json,
  -- Null for an outgoing payment, whose vendor has no account here.
  vendor_account_id text collate "C",
  service_id uuid,
  quote_amount bigint not null,
  fee_amount bigint not null,
  -- Null: it does not expire.
  redeem_window_seconds integer,
  -- The prepaid `units` of the quote's scope. Null: the payment is for one delivery.
  units_total integer,
  units_consumed bigint not null default 0,
  -- Whether it has a row in authorizations. quote_amount is its ceiling until it is captured.
  is_authorization boolean not null default false,
  -- What refunds have reserved of the net, under way or done. Only a release lowers it.
  refund_reserved bigint not null default 0,
  status text not null default 'pending' check (status in
    ('pending', 'authorized', 'capturing', 'issued', 'redeemed', 'expired', 'voided', 'failed')),
  chain_status text not null default 'pending'
    check (chain_status in ('none', 'pending', 'confirmed', 'finalized', 'failed')),
  -- Whether quote_amount is part of the payer's `held` now.
  holding boolean not null default true,
  generation integer not null default 0,
  tx_hash text,
  -- Transactions that were confirmed and then removed by a fork.
  superseded_tx_hashes text[] not null default '{}',
  settlement_token bytea,
  -- SHA-256 of the token's text, with which a presented token is compared.
  settlement_token_hash bytea,
  issued_at timestamptz,
  redeem_expires_at timestamptz,
  -- While a fork removes a payment it cannot be redeemed, so its window is extended by that time:
  -- since when the payment is removed, and for how long it was before. redeem_expires_at does not
  -- change, because the payer was answered with it.
  forked_at timestamptz,
  forked_for interval not null default '0',
  redeemed_at timestamptz,
  redeem_id text,
  failure_code text,
  failure_message text,
  dispatch_count integer not null default 1,
  progressed_at timestamptz not null default app_now(),
  created_at timestamptz not null default app_now(),
  -- Partial indexes depend on these two, not on a state: an update writes all indexes of the row if
  -- it changes a column that any of them names, and a confirmation changes neither.
  -- While the chain may change the payment: when it was accepted, or its capture was decided.
  under_way_since timestamptz default app_now(),
  -- While the redeem window may end: a time before its end, which begins with the confirmation.
  expires_from timestamptz,
  constraint settlements_rail check (case
    when rail = 'quittance' then num_nulls(account_id, payment_attempt_id, wallet_id, quote_id, quote_token,
      redeem_window_seconds, vendor_account_id, service_id) = 0
    when rail in ('x402_out', 'mpp_out') then num_nulls(account_id, payment_attempt_id, wallet_id) = 0
      and num_nonnulls(quote_id, quote_token, vendor_account_id, service_id, redeem_window_seconds, settlement_token,
        redeemed_at) = 0 and fee_amount = 0
    -- A payment of a payment link has the quote, which it claims, and its scope.
    else num_nonnulls(account_id, payment_attempt_id, wallet_id, quote_token, delegate_id, delegate_day, redeem_window_seconds,
      settlement_token) = 0 and num_nulls(vendor_account_id, service_id) = 0 and num_nulls(quote_id, scope) in (0, 2)
    end),
  constraint settlements_amounts check (fee_amount >= 0 and fee_amount < quote_amount
    and refund_reserved between 0 and quote_amount - fee_amount),
  constraint settlements_issued check ((status in ('issued', 'redeemed', 'expired'))
    <= (issued_at is not null and (settlement_token is not null or rail <> 'quittance'))
    and (status = 'redeemed') = (redeemed_at is not null)),
  constraint settlements_failed check ((failure_code is not null) = (status = 'failed' or chain_status = 'failed')),
  constraint settlements_under_way check ((under_way_since is not null) = (chain_status in ('pending', 'confirmed'))),
  constraint settlements_expires check
    ((expires_from is not null) = (status in ('pending', 'issued') and redeem_window_seconds is not null)),
  constraint settlements_units check (coalesce(units_total, 1) between 1 and 1000000000
    and units_consumed between 0 and coalesce(units_total, 0)),
  constraint settlements_authorization check (case when is_authorization
    then rail = 'quittance' and settlement_token is not null and num_nonnulls(units_total, redeem_expires_at) = 0
      and (chain_status = 'none') = (status in ('authorized', 'voided'))
    else not status in ('authorized', 'capturing', 'voided') and chain_status <> 'none' end)
)
-- Free space keeps the next version of some settlements on the same page, so that a confirmation
-- writes no index, and the write-ahead log only the changed columns. More of it costs more disk for
-- ever than it saves once.
with (fillfactor = 80);
create index settlements_by_payer on settlements (account_id, settlement_id desc);
create index settlements_by_service on settlements (service_id, settlement_id desc);
create index settlements_by_delegate on settlements (account_id, delegate_id, settlement_id desc)
  where delegate_id is not null;
create index settlements_by_vendor on settlements (vendor_account_id, settlement_id desc);
-- For the background jobs. They stay small, because finished rows leave them.
create index settlements_to_expire on settlements (expires_from) where expires_from is not null;
create index settlements_under_way on settlements (under_way_since) where under_way_since is not null;

-- What is unique over all payments of all accounts and times, which leads to its payment (rules 1
-- and 2). An attempt has the account before its id. The quote of a payment that has failed or is
-- void has no row, nor has the external_id of one that has failed. The keys of an extension lead to
-- its authorization.
create table settlement_keys (
  kind text not null check (kind in ('attempt', 'quote', 'message', 'external_id')),
  key text collate "C" not null,
  settlement_id text collate "C" not null,
  -- Of the payer. Null: a payment that another client has signed.
  account_id text collate "C",
  created_at timestamptz not null default app_now(),
  primary key (key, kind)
);

-- What a settlement has more whose quote has a ceiling (docs/adr/0077). It is written by the
-- statements that write the settlement, and locked after it.
create table authorizations (
  settlement_id text collate "C" primary key references settlements,
  -- Those of the settlement, for the sums of what is open.
  account_id text collate "C" not null,
  vendor_account_id text collate "C" not null,
  wallet_id text collate "C" not null,
  -- The sign-in that made it, whose end ends it. Null: a delegate.
  session_id text collate "C",
  -- Who decides what is captured.
  mode text not null check (mode in ('manual', 'usage')),
  -- The most that it pays: the quote's amount and those of its extensions.
  ceiling bigint not null,
  -- What was reported as used, and what one unit costs, in picodollars (10⁻¹² USDC): a unit may
  -- cost less than a micro-unit.
  used_pico bigint not null default 0,
  unit_price_pico bigint check (unit_price_pico > 0),
  -- The use that is captured at once.
  threshold bigint check (threshold > 0),
  -- How many extensions have added to the ceiling.
  extensions smallint not null default 0 check (extensions >= 0),
  -- The end of its window.
  ends_at timestamptz not null,
  -- When it ends by itself: with its window, or at once after the threshold is reached or the
  -- wallet no longer covers it. No use is recorded later. Null: it is captured or voided.
  due_at timestamptz,
  -- An hourly cap was reached when it was due: when its capture is decided again.
  retry_at timestamptz,
  -- When the chain was asked last for a capture of it that a restore may have lost, and had none.
  sought_at timestamptz,
  -- When the wallet was seen not to cover it, when its capture was decided, when it was voided.
  at_risk_at timestamptz,
  capturing_at timestamptz,
  voided_at timestamptz,
  -- The moment in whose hour the caps of authorizations count it. They get it back when it ends.
  capped_at timestamptz not null,
  created_at timestamptz not null default app_now(),
  constraint authorizations_use check (used_pico between 0 and ceiling * 1000000),
  constraint authorizations_end check (num_nonnulls(due_at, capturing_at, voided_at) = 1),
  check (retry_at is null or due_at is not null)
)
-- A use writes the row again, and no index.
with (fillfactor = 80);
-- Those that end by themselves, and those of a wallet.
create index authorizations_due on authorizations (due_at) where due_at is not null;
create index authorizations_open_of_wallet on authorizations (wallet_id) where due_at is not null;
-- What is authorized and not paid, by payer and by vendor.
create index authorizations_open_of_payer on authorizations (account_id) where due_at is not null;
create index authorizations_open_of_vendor on authorizations (vendor_account_id) where due_at is not null;

-- A quote of the payer that added to the ceiling of an open authorization, never deleted. The
-- authorization holds and pays the amount (docs/adr/0081), and the keys of attempt and quote lead
-- to it.
create table extensions (
  extension_id text collate "C" primary key,
  settlement_id text collate "C" not null references settlements,
  account_id text collate "C" not null,
  payment_attempt_id text collate "C" not null,
  quote_id text collate "C" not null,
  quote_token bytea not null,
  amount bigint not null check (amount > 0),
  created_at timestamptz not null default app_now()
);
create index extensions_by_settlement on extensions (settlement_id, extension_id);

-- What only a payment has that a client of another protocol has signed (docs/adr/0043).
create table incoming_payments (
  settlement_id text collate "C" primary key references settlements on delete cascade,
  -- The vendor's.
  account_id text collate "C" not null,
  created_at timestamptz not null default app_now(),
  payer_address text collate "C" not null,
  source_account text not null,
  service_name text not null,
  payout_address text not null,
  -- It identifies the signed message for ever.
  message_hash text collate "C" not null,
  -- The memo that its vendor required of it. Null: any.
  memo text,
  -- The payment-identifier of x402.
  external_id text collate "C",
  -- What the client said it pays for. It is shown and never evaluated.
  resource text,
  -- What the vendor owes for an x402 payment (fee_accounts). 0 once it is returned.
  accrued_fee bigint not null check (accrued_fee >= 0),
  -- The success of an x402 payment is handed out once: when, and by which call.
  handed_out_at timestamptz,
  hand_out_id text,
  -- Of a payment link: the hash of what its page alone has. Nobody else is told of the payment.
  page_handle text collate "C",
  -- The buyer of a link signs after our fee payer (docs/adr/0080). One that is not paid is deleted.
  signs_last boolean not null,
  -- Of such a payment while it is pending: its link, and the network of whoever asked for it.
  open_link_id text collate "C",
  asked_from text collate "C",
  constraint incoming_payments_open check (
    (open_link_id is null or signs_last) and (asked_from is null or open_link_id is not null))
);
-- Payments of a wallet, for support.
create index incoming_payments_by_address on incoming_payments (payer_address, settlement_id desc);
create index incoming_payments_by_page_handle on incoming_payments (page_handle) where signs_last;
create index incoming_payments_open on incoming_payments (open_link_id) where open_link_id is not null;

-- What only a payment has that pays a vendor which does not use Quittance (docs/adr/0044).
create table outgoing_payments (
  settlement_id text collate "C" primary key references settlements on delete cascade,
  account_id text collate "C" not null,
  created_at timestamptz not null default app_now(),
  -- The delegated authority over the wallet, which signs.
  payer_address text not null,
  -- The host that is paid, and the resource with its query.
  service_name text not null,
  resource text not null,
  -- What the vendor asked for as it was given, and the version of x402. Null: MPP.
  requirement json not null,
  x402_version smallint check (x402_version in (1, 2)),
  -- The moment in whose hour the caps count it. They get the amount back when it fails.
  capped_at timestamptz not null,
  -- Known once chain-submitter has signed it. A buyer of this system may pay a vendor of this
  -- system by x402: then the incoming payment has the same message.
  message_hash text collate "C",
  source_account text,
  -- Its account while it holds an amount, as `holding` of the settlement. Null: it holds none.
  holder text collate "C" check (holder = account_id),
  constraint outgoing_payments_signed check (num_nulls(message_hash, source_account) in (0, 2))
);
-- Those that hold an amount: a few of each delegate.
create index outgoing_payments_open on outgoing_payments (holder) where holder is not null;

-- Everybody whom an outgoing payment pays, its recipient first, with one row for each address.
create table outgoing_payees (
  settlement_id text collate "C" not null references settlements on delete cascade,
  ord smallint not null,
  account_id text collate "C" not null,
  address text collate "C" not null,
  amount bigint not null check (amount > 0),
  primary key (settlement_id, ord)
);
create unique index outgoing_payees_by_address on outgoing_payees (account_id, address, settlement_id desc);

-- Caps and counters of delegates, and of each account for what a sign-in pays: that row has the
-- account's id as its delegate_id (docs/adr/0063). They are in the same schema as the attempts that
-- use them, so that a hold and its attempt commit in one transaction (docs/design/settle.md, rule
-- 4). Null: no cap.
create table delegates (
  delegate_id text collate "C" primary key,
  account_id text collate "C" not null,
  version integer not null check (version > 0),
  per_payment bigint check (per_payment > 0),
  daily bigint check (daily > 0),
  monthly bigint check (monthly > 0),
  total bigint check (total > 0),
  -- Null: any service.
  allowed_service_ids uuid[],
  -- Whether it may pay vendors that do not use Quittance. Null arrays: any address, any origin.
  external boolean not null default false,
  external_pay_to text[],
  external_origins text[],
  -- Whether the owner stops it for the time being: its new payments are refused.
  paused boolean not null default false,
  -- A payment above this amount needs an approval of the owner. Null: none does.
  approval_above bigint check (approval_above > 0),
  -- The UTC day and month of the counters below. A settle on a later day or month resets them.
  day date not null,
  month date not null,
  day_held bigint not null default 0 check (day_held >= 0),
  day_spent bigint not null default 0 check (day_spent >= 0),
  month_held bigint not null default 0 check (month_held >= 0),
  month_spent bigint not null default 0 check (month_spent >= 0),
  total_held bigint not null default 0 check (total_held >= 0),
  total_spent bigint not null default 0 check (total_spent >= 0),
  check (external or num_nonnulls(external_pay_to, external_origins) = 0),
  check (not external or allowed_service_ids is null),
  check (month = date_trunc('month', day)::date),
  -- A day is part of its month, a month of all time.
  check (day_held + day_spent <= month_held + month_spent and month_held + month_spent <= total_held + total_spent)
);
create index delegates_by_account on delegates (account_id, delegate_id);

-- What vendors owe for x402 payments. Both only grow, but one that is not included returns its fee.
create table fee_accounts (
  account_id text collate "C" primary key,
  -- Fees of payments that are under way or confirmed, or that failed on chain.
  accrued bigint not null default 0 check (accrued >= 0),
  -- Paid by settlements of the platform's own service, whose quotes name the account.
  paid bigint not null default 0 check (paid >= 0)
);

-- An account that has authorized something, or was authorized something. Whoever adds to what is
-- open locks the rows of payer and vendor first, so that the sums are read after the locks.
create table authorization_locks (
  account_id text collate "C" primary key
);

-- One row per refund of the funding service, never deleted: the key makes its calls repeatable.
create table refund_reservations (
  refund_id text collate "C" primary key,
  -- Null: released before it was reserved. The row prevents a later reservation.
  settlement_id text collate "C" references settlements,
  amount bigint check (amount > 0),
  released_at timestamptz,
  created_at timestamptz not null default app_now(),
  check ((settlement_id is null) = (amount is null)),
  check (settlement_id is not null or released_at is not null)
);
create index refund_reservations_by_settlement on refund_reservations (settlement_id);

-- One row per request that consumed units: the key makes consume repeatable. 30 days after the last
-- moment at which units could be consumed, sums replace the rows of a settlement (docs/adr/0087).
create table consumptions (
  settlement_id text collate "C" not null references settlements,
  request_id text collate "C" not null,
  units bigint not null check (units > 0),
  -- The units of the settlement after this request. A repeat is answered with it.
  units_consumed bigint not null check (units_consumed >= units),
  created_at timestamptz not null default app_now(),
  primary key (settlement_id, request_id)
);

-- One row per use of an authorization: the key makes usage repeatable. 30 days after the settlement
-- is final, sums replace the rows of it (docs/adr/0087).
create table uses (
  settlement_id text collate "C" not null references authorizations,
  usage_id text collate "C" not null,
  amount_pico bigint not null check (amount_pico > 0),
  -- What was used of the authorization after this use. A repeat is answered with it.
  used_after_pico bigint not null check (used_after_pico >= amount_pico),
  -- Why, in the vendor's words.
  reason text,
  created_at timestamptz not null default app_now(),
  primary key (settlement_id, usage_id)
);

-- When the operators paused new payments in this environment (docs/adr/0018). Null: not paused.
create table intake (
  only_row boolean primary key default true check (only_row),
  paused_at timestamptz
);
insert into intake default values;

-- What was reserved of the hourly caps, per scope and hour (shared/db/budget.ts). A conditional
-- update reserves several payments in advance, so no concurrent call exceeds a cap.
create table spending (
  scope text collate "C" not null,
  period timestamptz not null,
  reserved bigint not null check (reserved >= 0),
  primary key (scope, period)
);
create index spending_by_period on spending (period);

-- Each restore from a backup. Only the chain can prove the payments between the two times.
create table restores (
  restored_at timestamptz primary key default app_now(),
  taken_at timestamptz not null check (taken_at <= restored_at)
);

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

-- What was consumed of a settlement in a second, once its requests are forgotten.
create table consumption_sums (
  settlement_id text collate "C" not null references settlements,
  second timestamptz not null,
  requests bigint not null check (requests > 0),
  units bigint not null check (units >= requests),
  primary key (settlement_id, second)
);

-- What was used of an authorization in a second, once its usage ids are forgotten.
create table use_sums (
  settlement_id text collate "C" not null references authorizations,
  second timestamptz not null,
  uses bigint not null check (uses > 0),
  amount_pico bigint not null check (amount_pico >= uses),
  primary key (settlement_id, second)
);
