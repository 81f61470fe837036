-- Generated from the migrations by tools/dump-schema.ts; nothing executes it.

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

create table consumptions (
  settlement_id text collate "C" not null,
  request_id text collate "C" not null,
  units bigint not null,
  units_consumed bigint not null,
  reason text,
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

create table fee_accounts (
  account_id text collate "C" not null,
  accrued bigint default 0 not null,
  paid bigint default 0 not null,
  constraint fee_accounts_pkey PRIMARY KEY (account_id),
  constraint fee_accounts_accrued_check CHECK (accrued >= 0),
  constraint fee_accounts_paid_check CHECK (paid >= 0)
);

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

create table operator_actions (
  action_id bigint not null,
  at timestamp with time zone default app_now() not null,
  actor text not null,
  action text not null,
  target text not null,
  reason text not null,
  before jsonb not null,
  after jsonb not null,
  previous_hash bytea not null,
  hash bytea not null,
  constraint operator_actions_pkey PRIMARY KEY (action_id)
);
CREATE TRIGGER chain_operator_action BEFORE INSERT ON operator_actions FOR EACH ROW EXECUTE FUNCTION chain_operator_action();

create table outbox (
  outbox_id bigint generated always as identity not null,
  subject text not null,
  msg_id text not null,
  payload jsonb not null,
  traceparent text,
  created_at timestamp with time zone default app_now() not null,
  next_at timestamp with time zone default (app_now() + '00:00:02'::interval) not null,
  constraint outbox_pkey PRIMARY KEY (outbox_id)
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

create table quarantine (
  quarantine_id bigint generated always as identity not null,
  subject text not null,
  body bytea not null,
  reason text not null,
  created_at timestamp with time zone default app_now() not null,
  decided_at timestamp with time zone,
  decision text,
  constraint quarantine_pkey PRIMARY KEY (quarantine_id)
);
CREATE INDEX quarantine_undecided ON quarantine USING btree (created_at) WHERE (decided_at IS NULL);

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
  constraint restores_pkey PRIMARY KEY (restored_at),
  constraint restores_check CHECK (taken_at <= restored_at)
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
  max_amount bigint,
  units_consumed bigint default 0 not null,
  capture_mode text,
  unit_price bigint,
  capture_threshold bigint,
  capture_due_at timestamp with time zone,
  capture_retry_at timestamp with time zone,
  capture_sought_at timestamp with time zone,
  at_risk_at timestamp with time zone,
  capturing_at timestamp with time zone,
  voided_at timestamp with time zone,
  extends text collate "C",
  extensions smallint,
  session_id text collate "C",
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
  message_hash text collate "C",
  memo text,
  payer_address text,
  source_account text,
  service_name text,
  payout_address text,
  requirement json,
  x402_version smallint,
  capped_at timestamp with time zone,
  external_id text collate "C",
  resource text,
  accrued_fee bigint default 0 not null,
  handed_out_at timestamp with time zone,
  hand_out_id text,
  page_handle text collate "C",
  signs_last boolean default false not null,
  asked_from text collate "C",
  dispatch_count integer default 1 not null,
  progressed_at timestamp with time zone default app_now() not null,
  created_at timestamp with time zone default app_now() not null,
  open_link_id text collate "C" generated always as (
CASE
    WHEN (signs_last AND (status = 'pending'::text)) THEN ((scope -> 'payment_link'::text) ->> 'payment_link_id'::text)
    ELSE NULL::text
END) stored,
  paying_quote_id text collate "C" generated always as (
CASE
    WHEN (status <> ALL (ARRAY['failed'::text, 'voided'::text])) THEN quote_id
    ELSE NULL::text
END) stored,
  paying_external_id text collate "C" generated always as (
CASE
    WHEN (status <> 'failed'::text) THEN external_id
    ELSE NULL::text
END) stored,
  outgoing_holder text collate "C" generated always as (
CASE
    WHEN ((rail = ANY (ARRAY['x402_out'::text, 'mpp_out'::text])) AND holding) THEN account_id
    ELSE NULL::text
END) stored,
  expires_from timestamp with time zone generated always as (
CASE
    WHEN (status = ANY (ARRAY['pending'::text, 'issued'::text])) THEN (((created_at AT TIME ZONE 'UTC'::text) + ((redeem_window_seconds)::double precision * '00:00:01'::interval)) AT TIME ZONE 'UTC'::text)
    ELSE NULL::timestamp with time zone
END) stored,
  under_way_since timestamp with time zone generated always as (
CASE
    WHEN (chain_status = ANY (ARRAY['pending'::text, 'confirmed'::text])) THEN COALESCE(capturing_at, created_at)
    ELSE NULL::timestamp with time zone
END) stored,
  constraint settlements_pkey PRIMARY KEY (settlement_id),
  constraint settlements_accrued_fee_check CHECK (accrued_fee >= 0),
  constraint settlements_authorization CHECK (
CASE
    WHEN max_amount IS NULL THEN num_nonnulls(capture_mode, unit_price, capture_threshold, capture_due_at, capture_retry_at, capture_sought_at, at_risk_at, capturing_at, voided_at, extensions, session_id) = 0 AND NOT (status = ANY (ARRAY['authorized'::text, 'capturing'::text, 'voided'::text])) AND (chain_status = 'none'::text) = (status = 'merged'::text)
    ELSE rail = 'quittance'::text AND num_nulls(capture_mode, settlement_token, redeem_expires_at) = 0 AND units_total IS NULL AND (status = 'authorized'::text) = (capture_due_at IS NOT NULL) AND (status = 'voided'::text) = (voided_at IS NOT NULL) AND (capturing_at IS NULL) = (status = ANY (ARRAY['authorized'::text, 'voided'::text])) AND (chain_status = 'none'::text) = (status = ANY (ARRAY['authorized'::text, 'voided'::text])) AND quote_amount <= max_amount AND LEAST(unit_price, capture_threshold, 1::bigint) > 0
END),
  constraint settlements_capture_mode_check CHECK (capture_mode = ANY (ARRAY['manual'::text, 'usage'::text])),
  constraint settlements_chain_status_check CHECK (chain_status = ANY (ARRAY['none'::text, 'pending'::text, 'confirmed'::text, 'finalized'::text, 'failed'::text])),
  constraint settlements_check CHECK (fee_amount >= 0 AND fee_amount < quote_amount),
  constraint settlements_check1 CHECK (refund_reserved >= 0 AND refund_reserved <= (quote_amount - fee_amount)),
  constraint settlements_check2 CHECK ((status = ANY (ARRAY['issued'::text, 'redeemed'::text, 'expired'::text])) <= (issued_at IS NOT NULL AND (settlement_token IS NOT NULL OR rail <> 'quittance'::text))),
  constraint settlements_check3 CHECK ((status = 'redeemed'::text) = (redeemed_at IS NOT NULL)),
  constraint settlements_check4 CHECK ((failure_code IS NOT NULL) = (status = 'failed'::text OR chain_status = 'failed'::text)),
  constraint settlements_delegate_day CHECK (delegate_day IS NULL OR account_id IS NOT NULL),
  constraint settlements_extension CHECK ((status = 'merged'::text) = (extends IS NOT NULL) AND (extends IS NULL OR rail = 'quittance'::text AND NOT holding)),
  constraint settlements_extensions_check CHECK (extensions > 0),
  constraint settlements_quote_amount_check CHECK (quote_amount > 0),
  constraint settlements_rail CHECK (
CASE rail
    WHEN 'quittance'::text THEN num_nulls(account_id, payment_attempt_id, wallet_id, quote_id, quote_token, redeem_window_seconds, vendor_account_id, service_id) = 0 AND num_nonnulls(message_hash, memo, source_account, payer_address, hand_out_id, requirement) = 0 AND accrued_fee = 0
    WHEN 'x402_out'::text THEN num_nulls(account_id, payment_attempt_id, wallet_id, service_name, resource, requirement, x402_version) = 0 AND num_nonnulls(payout_address, quote_id, quote_token, vendor_account_id, service_id, redeem_window_seconds, settlement_token, external_id, memo, hand_out_id, redeemed_at) = 0 AND accrued_fee = 0 AND fee_amount = 0
    WHEN 'mpp_out'::text THEN num_nulls(account_id, payment_attempt_id, wallet_id, service_name, resource, requirement) = 0 AND num_nonnulls(payout_address, x402_version, quote_id, quote_token, vendor_account_id, service_id, redeem_window_seconds, settlement_token, external_id, memo, hand_out_id, redeemed_at) = 0 AND accrued_fee = 0 AND fee_amount = 0
    ELSE num_nonnulls(requirement, account_id, payment_attempt_id, wallet_id, quote_token, delegate_id, redeem_window_seconds, settlement_token) = 0 AND (num_nulls(quote_id, scope) = ANY (ARRAY[0, 2])) AND num_nulls(message_hash, source_account, payer_address, service_name, payout_address, vendor_account_id, service_id) = 0
END),
  constraint settlements_rail_check CHECK (rail = ANY (ARRAY['quittance'::text, 'x402'::text, 'mpp'::text, 'x402_out'::text, 'mpp_out'::text])),
  constraint settlements_status_check CHECK (status = ANY (ARRAY['pending'::text, 'authorized'::text, 'capturing'::text, 'issued'::text, 'redeemed'::text, 'expired'::text, 'voided'::text, 'merged'::text, 'failed'::text])),
  constraint settlements_units CHECK (units_consumed >= 0 AND units_consumed <= COALESCE(units_total::bigint, max_amount, 0::bigint)),
  constraint settlements_units_total_check CHECK (units_total >= 1 AND units_total <= 1000000000),
  constraint settlements_extends_fkey FOREIGN KEY (extends) REFERENCES settlements(settlement_id),
  constraint settlements_wallet_id_fkey FOREIGN KEY (wallet_id) REFERENCES payers(wallet_id)
);
CREATE INDEX settlements_authorized ON settlements USING btree (wallet_id) WHERE (capture_due_at IS NOT NULL);
CREATE INDEX settlements_by_address ON settlements USING btree (payer_address, settlement_id DESC) WHERE (account_id IS NULL);
CREATE UNIQUE INDEX settlements_by_attempt ON settlements USING btree (account_id, payment_attempt_id);
CREATE INDEX settlements_by_delegate ON settlements USING btree (account_id, delegate_id, settlement_id DESC) WHERE (delegate_id IS NOT NULL);
CREATE INDEX settlements_by_extended ON settlements USING btree (extends, settlement_id) WHERE (extends IS NOT NULL);
CREATE UNIQUE INDEX settlements_by_external_id ON settlements USING btree (service_id, source_account, paying_external_id) WHERE (paying_external_id IS NOT NULL);
CREATE UNIQUE INDEX settlements_by_message ON settlements USING btree (message_hash) WHERE ((message_hash IS NOT NULL) AND (NOT (rail = ANY (ARRAY['x402_out'::text, 'mpp_out'::text]))));
CREATE INDEX settlements_by_page_handle ON settlements USING btree (page_handle) WHERE signs_last;
CREATE INDEX settlements_by_payer ON settlements USING btree (account_id, settlement_id DESC);
CREATE UNIQUE INDEX settlements_by_quote ON settlements USING btree (paying_quote_id) WHERE (paying_quote_id IS NOT NULL);
CREATE INDEX settlements_by_service ON settlements USING btree (service_id, settlement_id DESC);
CREATE INDEX settlements_by_vendor ON settlements USING btree (vendor_account_id, settlement_id DESC);
CREATE INDEX settlements_open_of_link ON settlements USING btree (open_link_id) WHERE (open_link_id IS NOT NULL);
CREATE INDEX settlements_open_of_payer ON settlements USING btree (account_id) WHERE (capture_due_at IS NOT NULL);
CREATE INDEX settlements_open_of_vendor ON settlements USING btree (vendor_account_id) WHERE (capture_due_at IS NOT NULL);
CREATE INDEX settlements_outgoing_open ON settlements USING btree (outgoing_holder) WHERE (outgoing_holder IS NOT NULL);
CREATE INDEX settlements_to_capture ON settlements USING btree (capture_due_at) WHERE (capture_due_at IS NOT NULL);
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

CREATE OR REPLACE FUNCTION settlement.chain_operator_action()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'settlement', 'public', 'pg_temp'
AS $function$
declare
  latest operator_actions;
begin
  -- Each row follows a committed one, so two actions cannot follow the same one.
  perform pg_advisory_xact_lock(tg_relid::bigint);
  select * into latest from operator_actions order by action_id desc limit 1;
  new.action_id := coalesce(latest.action_id, 0) + 1;
  new.previous_hash := coalesce(latest.hash, '\x');
  new.hash := operator_action_hash(new);
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION settlement.operator_action_hash(action operator_actions)
 RETURNS bytea
 LANGUAGE sql
 STABLE
 SET search_path TO 'settlement', 'public', 'pg_temp'
AS $function$
  select sha256(convert_to(jsonb_build_array(
    action.action_id, extract(epoch from action.at), action.actor, action.action, action.target,
    action.reason, action.before, action.after, encode(action.previous_hash, 'hex'))::text, 'UTF8'))
$function$;
