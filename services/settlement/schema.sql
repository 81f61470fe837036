-- Generated from the migrations by tools/dump-schema.ts; nothing executes it.
-- shared/db/schema.sql has the rest.

create table approvals (
  approval_id text collate "C" not null,
  account_id text collate "C" not null,
  payment_attempt_id text collate "C" not null,
  delegate_id text collate "C" not null,
  rail text not null,
  quote_id text collate "C",
  amount bigint not null,
  payees jsonb not null,
  service_id uuid,
  service_name text not null,
  resource text,
  expires_at timestamp with time zone not null,
  decided_at timestamp with time zone,
  approved boolean,
  passkey_id text collate "C",
  created_at timestamp with time zone default app_now() not null,
  constraint approvals_pkey PRIMARY KEY (approval_id),
  constraint approvals_amount_check CHECK (amount > 0),
  constraint approvals_check CHECK ((rail = 'quittance'::text) = (quote_id IS NOT NULL AND service_id IS NOT NULL)),
  constraint approvals_check1 CHECK ((decided_at IS NULL) = (approved IS NULL)),
  constraint approvals_check2 CHECK (approved IS NOT TRUE OR passkey_id IS NOT NULL),
  constraint approvals_rail_check CHECK (rail = ANY (ARRAY['quittance'::text, 'x402_out'::text, 'mpp_out'::text]))
);
CREATE INDEX approvals_by_account ON approvals USING btree (account_id, approval_id DESC);
CREATE UNIQUE INDEX approvals_by_attempt ON approvals USING btree (account_id, payment_attempt_id);
CREATE INDEX approvals_by_delegate ON approvals USING btree (delegate_id, expires_at);

create table authorization_locks (
  account_id text collate "C" not null,
  constraint authorization_locks_pkey PRIMARY KEY (account_id)
);

create table authorizations (
  settlement_id text collate "C" not null,
  account_id text collate "C" not null,
  vendor_account_id text collate "C" not null,
  wallet_id text collate "C" not null,
  session_id text collate "C",
  mode text not null,
  ceiling bigint not null,
  used_pico bigint default 0 not null,
  unit_price_pico bigint,
  threshold bigint,
  extensions smallint default 0 not null,
  ends_at timestamp with time zone not null,
  due_at timestamp with time zone,
  retry_at timestamp with time zone,
  sought_at timestamp with time zone,
  at_risk_at timestamp with time zone,
  capturing_at timestamp with time zone,
  voided_at timestamp with time zone,
  capped_at timestamp with time zone not null,
  created_at timestamp with time zone default app_now() not null,
  constraint authorizations_pkey PRIMARY KEY (settlement_id),
  constraint authorizations_check CHECK (retry_at IS NULL OR due_at IS NOT NULL),
  constraint authorizations_end CHECK (num_nonnulls(due_at, capturing_at, voided_at) = 1),
  constraint authorizations_extensions_check CHECK (extensions >= 0),
  constraint authorizations_mode_check CHECK (mode = ANY (ARRAY['manual'::text, 'usage'::text])),
  constraint authorizations_threshold_check CHECK (threshold > 0),
  constraint authorizations_unit_price_pico_check CHECK (unit_price_pico > 0),
  constraint authorizations_use CHECK (used_pico >= 0 AND used_pico <= (ceiling * 1000000)),
  constraint authorizations_settlement_id_fkey FOREIGN KEY (settlement_id) REFERENCES settlements(settlement_id)
);
CREATE INDEX authorizations_due ON authorizations USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX authorizations_open_of_payer ON authorizations USING btree (account_id) WHERE (due_at IS NOT NULL);
CREATE INDEX authorizations_open_of_vendor ON authorizations USING btree (vendor_account_id) WHERE (due_at IS NOT NULL);
CREATE INDEX authorizations_open_of_wallet ON authorizations USING btree (wallet_id) WHERE (due_at IS NOT NULL);

create table backup_runs (
  run_id bigint generated always as identity not null,
  kind text not null,
  ok boolean not null,
  copy text collate "C",
  taken_at timestamp with time zone,
  rows bigint,
  seconds double precision not null,
  problem text,
  finished_at timestamp with time zone default app_now() not null,
  constraint backup_runs_pkey PRIMARY KEY (run_id),
  constraint backup_runs_kind_check CHECK (kind = ANY (ARRAY['backup'::text, 'drill'::text])),
  constraint backup_runs_rows_check CHECK (rows >= 0),
  constraint backup_runs_seconds_check CHECK (seconds >= 0::double precision)
);
CREATE INDEX backup_runs_by_kind ON backup_runs USING btree (kind, finished_at);

create table consumption_sums (
  settlement_id text collate "C" not null,
  second timestamp with time zone not null,
  requests bigint not null,
  units bigint not null,
  constraint consumption_sums_pkey PRIMARY KEY (settlement_id, second),
  constraint consumption_sums_check CHECK (units >= requests),
  constraint consumption_sums_requests_check CHECK (requests > 0),
  constraint consumption_sums_settlement_id_fkey FOREIGN KEY (settlement_id) REFERENCES settlements(settlement_id)
);

create table consumptions (
  settlement_id text collate "C" not null,
  request_id text collate "C" not null,
  units bigint not null,
  units_consumed bigint not null,
  created_at timestamp with time zone default app_now() not null,
  constraint consumptions_pkey PRIMARY KEY (settlement_id, request_id),
  constraint consumptions_check CHECK (units_consumed >= units),
  constraint consumptions_units_check CHECK (units > 0),
  constraint consumptions_settlement_id_fkey FOREIGN KEY (settlement_id) REFERENCES settlements(settlement_id)
);

create table declines (
  decline_id text collate "C" not null,
  account_id text collate "C" not null,
  delegate_id text collate "C",
  payment_attempt_id text collate "C" not null,
  quote_id text collate "C" not null,
  vendor_account_id text collate "C" not null,
  service_id uuid not null,
  service_name text not null,
  item text,
  amount bigint not null,
  reason text collate "C" not null,
  code text collate "C" not null,
  limit_micro bigint,
  left_micro bigint,
  resets_at timestamp with time zone,
  created_at timestamp with time zone not null,
  constraint declines_pkey PRIMARY KEY (decline_id),
  constraint declines_amount_check CHECK (amount > 0),
  constraint declines_check CHECK ((limit_micro IS NULL) = (left_micro IS NULL) AND (resets_at IS NULL OR limit_micro IS NOT NULL)),
  constraint declines_left_micro_check CHECK (left_micro >= 0),
  constraint declines_limit_micro_check CHECK (limit_micro >= 0)
);
CREATE INDEX declines_by_delegate ON declines USING btree (account_id, delegate_id, decline_id DESC) WHERE (delegate_id IS NOT NULL);
CREATE INDEX declines_by_payer ON declines USING btree (account_id, decline_id DESC);
CREATE INDEX declines_by_service ON declines USING btree (service_id, decline_id DESC);
CREATE INDEX declines_by_time ON declines USING btree (created_at);
CREATE INDEX declines_by_vendor ON declines USING btree (vendor_account_id, decline_id DESC);
CREATE UNIQUE INDEX declines_once ON declines USING btree (quote_id, account_id, COALESCE(delegate_id, ''::text), reason);

create table delegates (
  delegate_id text collate "C" not null,
  account_id text collate "C" not null,
  version integer not null,
  per_payment bigint,
  daily bigint,
  monthly bigint,
  total bigint,
  allowed_service_ids uuid[],
  external boolean default false not null,
  external_pay_to text[],
  external_origins text[],
  paused boolean default false not null,
  approval_above bigint,
  day date not null,
  month date not null,
  day_held bigint default 0 not null,
  day_spent bigint default 0 not null,
  month_held bigint default 0 not null,
  month_spent bigint default 0 not null,
  total_held bigint default 0 not null,
  total_spent bigint default 0 not null,
  constraint delegates_pkey PRIMARY KEY (delegate_id),
  constraint delegates_approval_above_check CHECK (approval_above > 0),
  constraint delegates_check CHECK (external OR num_nonnulls(external_pay_to, external_origins) = 0),
  constraint delegates_check1 CHECK (NOT external OR allowed_service_ids IS NULL),
  constraint delegates_check2 CHECK (month = date_trunc('month'::text, day::timestamp with time zone)::date),
  constraint delegates_check3 CHECK ((day_held + day_spent) <= (month_held + month_spent) AND (month_held + month_spent) <= (total_held + total_spent)),
  constraint delegates_daily_check CHECK (daily > 0),
  constraint delegates_day_held_check CHECK (day_held >= 0),
  constraint delegates_day_spent_check CHECK (day_spent >= 0),
  constraint delegates_month_held_check CHECK (month_held >= 0),
  constraint delegates_month_spent_check CHECK (month_spent >= 0),
  constraint delegates_monthly_check CHECK (monthly > 0),
  constraint delegates_per_payment_check CHECK (per_payment > 0),
  constraint delegates_total_check CHECK (total > 0),
  constraint delegates_total_held_check CHECK (total_held >= 0),
  constraint delegates_total_spent_check CHECK (total_spent >= 0),
  constraint delegates_version_check CHECK (version > 0)
);
CREATE INDEX delegates_by_account ON delegates USING btree (account_id, delegate_id);

create table exhausted_limits (
  delegate_id text collate "C" not null,
  name text not null,
  limit_micro bigint not null,
  period text collate "C" not null,
  decline_id text collate "C" not null,
  created_at timestamp with time zone not null,
  constraint exhausted_limits_pkey PRIMARY KEY (delegate_id, name, limit_micro, period),
  constraint exhausted_limits_name_check CHECK (name = ANY (ARRAY['daily'::text, 'monthly'::text, 'total'::text]))
);
CREATE INDEX exhausted_limits_by_time ON exhausted_limits USING btree (created_at);

create table extensions (
  extension_id text collate "C" not null,
  settlement_id text collate "C" not null,
  account_id text collate "C" not null,
  payment_attempt_id text collate "C" not null,
  quote_id text collate "C" not null,
  quote_token bytea not null,
  amount bigint not null,
  created_at timestamp with time zone default app_now() not null,
  constraint extensions_pkey PRIMARY KEY (extension_id),
  constraint extensions_amount_check CHECK (amount > 0),
  constraint extensions_settlement_id_fkey FOREIGN KEY (settlement_id) REFERENCES settlements(settlement_id)
);
CREATE INDEX extensions_by_settlement ON extensions USING btree (settlement_id, extension_id);

create table fee_accounts (
  account_id text collate "C" not null,
  accrued bigint default 0 not null,
  paid bigint default 0 not null,
  constraint fee_accounts_pkey PRIMARY KEY (account_id),
  constraint fee_accounts_accrued_check CHECK (accrued >= 0),
  constraint fee_accounts_paid_check CHECK (paid >= 0)
);

create table incoming_payments (
  settlement_id text collate "C" not null,
  account_id text collate "C" not null,
  created_at timestamp with time zone default app_now() not null,
  payer_address text collate "C" not null,
  source_account text not null,
  service_name text not null,
  payout_address text not null,
  message_hash text collate "C" not null,
  memo text,
  external_id text collate "C",
  resource text,
  accrued_fee bigint not null,
  handed_out_at timestamp with time zone,
  hand_out_id text,
  page_handle text collate "C",
  signs_last boolean not null,
  open_link_id text collate "C",
  asked_from text collate "C",
  constraint incoming_payments_pkey PRIMARY KEY (settlement_id),
  constraint incoming_payments_accrued_fee_check CHECK (accrued_fee >= 0),
  constraint incoming_payments_open CHECK ((open_link_id IS NULL OR signs_last) AND (asked_from IS NULL OR open_link_id IS NOT NULL)),
  constraint incoming_payments_settlement_id_fkey FOREIGN KEY (settlement_id) REFERENCES settlements(settlement_id) ON DELETE CASCADE
);
CREATE INDEX incoming_payments_by_address ON incoming_payments USING btree (payer_address, settlement_id DESC);
CREATE INDEX incoming_payments_by_page_handle ON incoming_payments USING btree (page_handle) WHERE signs_last;
CREATE INDEX incoming_payments_open ON incoming_payments USING btree (open_link_id) WHERE (open_link_id IS NOT NULL);

create table intake (
  only_row boolean default true not null,
  paused_at timestamp with time zone,
  constraint intake_pkey PRIMARY KEY (only_row),
  constraint intake_only_row_check CHECK (only_row)
);

create table lanes (
  lane integer not null,
  replica_id text collate "C",
  moved_at timestamp with time zone default app_now() not null,
  constraint lanes_pkey PRIMARY KEY (lane),
  constraint lanes_lane_check CHECK (lane >= 0 AND lane < 16)
);

create table outgoing_payees (
  settlement_id text collate "C" not null,
  ord smallint not null,
  account_id text collate "C" not null,
  address text collate "C" not null,
  amount bigint not null,
  constraint outgoing_payees_pkey PRIMARY KEY (settlement_id, ord),
  constraint outgoing_payees_amount_check CHECK (amount > 0),
  constraint outgoing_payees_settlement_id_fkey FOREIGN KEY (settlement_id) REFERENCES settlements(settlement_id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX outgoing_payees_by_address ON outgoing_payees USING btree (account_id, address, settlement_id DESC);

create table outgoing_payments (
  settlement_id text collate "C" not null,
  account_id text collate "C" not null,
  created_at timestamp with time zone default app_now() not null,
  payer_address text not null,
  service_name text not null,
  resource text not null,
  requirement json not null,
  x402_version smallint,
  capped_at timestamp with time zone not null,
  message_hash text collate "C",
  source_account text,
  holder text collate "C",
  constraint outgoing_payments_pkey PRIMARY KEY (settlement_id),
  constraint outgoing_payments_check CHECK (holder = account_id),
  constraint outgoing_payments_signed CHECK (num_nulls(message_hash, source_account) = ANY (ARRAY[0, 2])),
  constraint outgoing_payments_x402_version_check CHECK (x402_version = ANY (ARRAY[1, 2])),
  constraint outgoing_payments_settlement_id_fkey FOREIGN KEY (settlement_id) REFERENCES settlements(settlement_id) ON DELETE CASCADE
);
CREATE INDEX outgoing_payments_open ON outgoing_payments USING btree (holder) WHERE (holder IS NOT NULL);

create table payers (
  wallet_id text collate "C" not null,
  account_id text collate "C" not null,
  owner text not null,
  authority text not null,
  balance bigint not null,
  allowance bigint not null,
  as_of_slot bigint not null,
  included_slot bigint default 0 not null,
  held bigint default 0 not null,
  constraint payers_pkey PRIMARY KEY (wallet_id),
  constraint payers_allowance_check CHECK (allowance >= 0),
  constraint payers_balance_check CHECK (balance >= 0),
  constraint payers_held_check CHECK (held >= 0)
);
CREATE INDEX payers_by_account ON payers USING btree (account_id);

create table record_checks (
  only_row boolean default true not null,
  checked_at timestamp with time zone not null,
  checked_start timestamp with time zone not null,
  constraint record_checks_pkey PRIMARY KEY (only_row),
  constraint record_checks_only_row_check CHECK (only_row)
);

create table refund_reservations (
  refund_id text collate "C" not null,
  settlement_id text collate "C",
  amount bigint,
  released_at timestamp with time zone,
  created_at timestamp with time zone default app_now() not null,
  constraint refund_reservations_pkey PRIMARY KEY (refund_id),
  constraint refund_reservations_amount_check CHECK (amount > 0),
  constraint refund_reservations_check CHECK ((settlement_id IS NULL) = (amount IS NULL)),
  constraint refund_reservations_check1 CHECK (settlement_id IS NOT NULL OR released_at IS NOT NULL),
  constraint refund_reservations_settlement_id_fkey FOREIGN KEY (settlement_id) REFERENCES settlements(settlement_id)
);
CREATE INDEX refund_reservations_by_settlement ON refund_reservations USING btree (settlement_id);

create table replicas (
  replica_id text collate "C" not null,
  load real not null,
  expires_at timestamp with time zone not null,
  constraint replicas_pkey PRIMARY KEY (replica_id)
);

create table restores (
  restored_at timestamp with time zone default app_now() not null,
  taken_at timestamp with time zone not null,
  found_by text collate "C",
  constraint restores_pkey PRIMARY KEY (restored_at),
  constraint restores_check CHECK (taken_at <= restored_at)
);

create table settlement_keys (
  kind text not null,
  key text collate "C" not null,
  settlement_id text collate "C" not null,
  account_id text collate "C",
  created_at timestamp with time zone default app_now() not null,
  constraint settlement_keys_pkey PRIMARY KEY (key, kind),
  constraint settlement_keys_kind_check CHECK (kind = ANY (ARRAY['attempt'::text, 'quote'::text, 'message'::text, 'external_id'::text]))
);

create table settlements (
  settlement_id text collate "C" not null,
  rail text default 'quittance'::text not null,
  account_id text collate "C",
  payment_attempt_id text collate "C",
  delegate_id text collate "C",
  delegate_day date,
  wallet_id text collate "C",
  quote_id text collate "C",
  quote_token bytea,
  scope json,
  vendor_account_id text collate "C",
  service_id uuid,
  quote_amount bigint not null,
  fee_amount bigint not null,
  redeem_window_seconds integer,
  units_total integer,
  units_consumed bigint default 0 not null,
  is_authorization boolean default false not null,
  refund_reserved bigint default 0 not null,
  status text default 'pending'::text not null,
  chain_status text default 'pending'::text not null,
  holding boolean default true not null,
  generation integer default 0 not null,
  tx_hash text,
  superseded_tx_hashes text[] default '{}'::text[] not null,
  settlement_token bytea,
  settlement_token_hash bytea,
  issued_at timestamp with time zone,
  redeem_expires_at timestamp with time zone,
  forked_at timestamp with time zone,
  forked_for interval default '00:00:00'::interval not null,
  redeemed_at timestamp with time zone,
  redeem_id text,
  failure_code text,
  failure_message text,
  dispatch_count integer default 1 not null,
  progressed_at timestamp with time zone default app_now() not null,
  created_at timestamp with time zone default app_now() not null,
  under_way_since timestamp with time zone default app_now(),
  expires_from timestamp with time zone,
  constraint settlements_pkey PRIMARY KEY (settlement_id),
  constraint settlements_amounts CHECK (fee_amount >= 0 AND fee_amount < quote_amount AND refund_reserved >= 0 AND refund_reserved <= (quote_amount - fee_amount)),
  constraint settlements_authorization CHECK (
CASE
    WHEN is_authorization THEN rail = 'quittance'::text AND settlement_token IS NOT NULL AND num_nonnulls(units_total, redeem_expires_at) = 0 AND (chain_status = 'none'::text) = (status = ANY (ARRAY['authorized'::text, 'voided'::text]))
    ELSE NOT (status = ANY (ARRAY['authorized'::text, 'capturing'::text, 'voided'::text])) AND chain_status <> 'none'::text
END),
  constraint settlements_chain_status_check CHECK (chain_status = ANY (ARRAY['none'::text, 'pending'::text, 'confirmed'::text, 'finalized'::text, 'failed'::text])),
  constraint settlements_expires CHECK ((expires_from IS NOT NULL) = ((status = ANY (ARRAY['pending'::text, 'issued'::text])) AND redeem_window_seconds IS NOT NULL)),
  constraint settlements_failed CHECK ((failure_code IS NOT NULL) = (status = 'failed'::text OR chain_status = 'failed'::text)),
  constraint settlements_issued CHECK ((status = ANY (ARRAY['issued'::text, 'redeemed'::text, 'expired'::text])) <= (issued_at IS NOT NULL AND (settlement_token IS NOT NULL OR rail <> 'quittance'::text)) AND (status = 'redeemed'::text) = (redeemed_at IS NOT NULL)),
  constraint settlements_rail CHECK (
CASE
    WHEN rail = 'quittance'::text THEN num_nulls(account_id, payment_attempt_id, wallet_id, quote_id, quote_token, redeem_window_seconds, vendor_account_id, service_id) = 0
    WHEN rail = ANY (ARRAY['x402_out'::text, 'mpp_out'::text]) THEN num_nulls(account_id, payment_attempt_id, wallet_id) = 0 AND num_nonnulls(quote_id, quote_token, vendor_account_id, service_id, redeem_window_seconds, settlement_token, redeemed_at) = 0 AND fee_amount = 0
    ELSE num_nonnulls(account_id, payment_attempt_id, wallet_id, quote_token, delegate_id, delegate_day, redeem_window_seconds, settlement_token) = 0 AND num_nulls(vendor_account_id, service_id) = 0 AND (num_nulls(quote_id, scope) = ANY (ARRAY[0, 2]))
END),
  constraint settlements_rail_check CHECK (rail = ANY (ARRAY['quittance'::text, 'x402'::text, 'mpp'::text, 'x402_out'::text, 'mpp_out'::text])),
  constraint settlements_status_check CHECK (status = ANY (ARRAY['pending'::text, 'authorized'::text, 'capturing'::text, 'issued'::text, 'redeemed'::text, 'expired'::text, 'voided'::text, 'failed'::text])),
  constraint settlements_under_way CHECK ((under_way_since IS NOT NULL) = (chain_status = ANY (ARRAY['pending'::text, 'confirmed'::text]))),
  constraint settlements_units CHECK (COALESCE(units_total, 1) >= 1 AND COALESCE(units_total, 1) <= 1000000000 AND units_consumed >= 0 AND units_consumed <= COALESCE(units_total, 0)),
  constraint settlements_wallet_id_fkey FOREIGN KEY (wallet_id) REFERENCES payers(wallet_id)
);
CREATE INDEX settlements_by_delegate ON settlements USING btree (account_id, delegate_id, settlement_id DESC) WHERE (delegate_id IS NOT NULL);
CREATE INDEX settlements_by_payer ON settlements USING btree (account_id, settlement_id DESC);
CREATE INDEX settlements_by_service ON settlements USING btree (service_id, settlement_id DESC);
CREATE INDEX settlements_by_vendor ON settlements USING btree (vendor_account_id, settlement_id DESC);
CREATE INDEX settlements_to_expire ON settlements USING btree (expires_from) WHERE (expires_from IS NOT NULL);
CREATE INDEX settlements_under_way ON settlements USING btree (under_way_since) WHERE (under_way_since IS NOT NULL);

create table spending (
  scope text collate "C" not null,
  period timestamp with time zone not null,
  reserved bigint not null,
  constraint spending_pkey PRIMARY KEY (scope, period),
  constraint spending_reserved_check CHECK (reserved >= 0)
);
CREATE INDEX spending_by_period ON spending USING btree (period);

create table use_sums (
  settlement_id text collate "C" not null,
  second timestamp with time zone not null,
  uses bigint not null,
  amount_pico bigint not null,
  constraint use_sums_pkey PRIMARY KEY (settlement_id, second),
  constraint use_sums_check CHECK (amount_pico >= uses),
  constraint use_sums_uses_check CHECK (uses > 0),
  constraint use_sums_settlement_id_fkey FOREIGN KEY (settlement_id) REFERENCES authorizations(settlement_id)
);

create table uses (
  settlement_id text collate "C" not null,
  usage_id text collate "C" not null,
  amount_pico bigint not null,
  used_after_pico bigint not null,
  reason text,
  created_at timestamp with time zone default app_now() not null,
  constraint uses_pkey PRIMARY KEY (settlement_id, usage_id),
  constraint uses_amount_pico_check CHECK (amount_pico > 0),
  constraint uses_check CHECK (used_after_pico >= amount_pico),
  constraint uses_settlement_id_fkey FOREIGN KEY (settlement_id) REFERENCES authorizations(settlement_id)
);
