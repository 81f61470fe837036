-- Generated from the migrations by tools/dump-schema.ts; nothing executes it.
-- shared/db/schema.sql has the rest.

create table deposit_reports (
  report_id bigint generated always as identity not null,
  deposit_id text collate "C" not null,
  provider text not null,
  transaction_id text not null,
  provider_status text not null,
  event text not null,
  amount bigint,
  tx_hash text,
  source text not null,
  received_at timestamp with time zone default app_now() not null,
  constraint deposit_reports_pkey PRIMARY KEY (report_id),
  constraint deposit_reports_event_check CHECK (event = ANY (ARRAY['waiting'::text, 'paid'::text, 'sent'::text, 'refused'::text, 'cancelled'::text])),
  constraint deposit_reports_source_check CHECK (source = ANY (ARRAY['webhook'::text, 'poll'::text])),
  constraint deposit_reports_deposit_id_fkey FOREIGN KEY (deposit_id) REFERENCES deposits(deposit_id)
);
CREATE INDEX deposit_reports_by_deposit ON deposit_reports USING btree (deposit_id, report_id);
CREATE UNIQUE INDEX deposit_reports_once ON deposit_reports USING btree (provider, transaction_id, provider_status, COALESCE(tx_hash, ''::text));

create table deposits (
  deposit_id text collate "C" not null,
  account_id text collate "C" not null,
  wallet_id text collate "C" not null,
  owner text collate "C" not null,
  provider text not null,
  fiat_currency text not null,
  fiat_amount text not null,
  status text default 'created'::text not null,
  payment_url text,
  promised_amount bigint,
  amount bigint,
  tx_hash text,
  tx_instruction text,
  problem_code text,
  problem_message text,
  poll_at timestamp with time zone default (app_now() + '00:01:00'::interval),
  poll_count integer default 0 not null,
  created_at timestamp with time zone default app_now() not null,
  expires_at timestamp with time zone not null,
  completed_at timestamp with time zone,
  constraint deposits_pkey PRIMARY KEY (deposit_id),
  constraint deposits_amount_check CHECK (amount > 0),
  constraint deposits_check CHECK ((status = 'completed'::text) = (tx_hash IS NOT NULL)),
  constraint deposits_check1 CHECK ((tx_hash IS NULL) = (tx_instruction IS NULL) AND (tx_hash IS NULL) = (amount IS NULL)),
  constraint deposits_check2 CHECK ((tx_hash IS NULL) = (completed_at IS NULL)),
  constraint deposits_check3 CHECK ((problem_code IS NULL) = (problem_message IS NULL)),
  constraint deposits_promised_amount_check CHECK (promised_amount > 0),
  constraint deposits_provider_check CHECK (provider = ANY (ARRAY['moonpay'::text, 'coinbase'::text])),
  constraint deposits_status_check CHECK (status = ANY (ARRAY['created'::text, 'awaiting_payment'::text, 'processing'::text, 'settling'::text, 'completed'::text, 'failed'::text, 'cancelled'::text, 'expired'::text]))
);
CREATE INDEX deposits_by_account ON deposits USING btree (account_id, deposit_id DESC);
CREATE UNIQUE INDEX deposits_by_transfer ON deposits USING btree (tx_hash, tx_instruction);
CREATE INDEX deposits_due ON deposits USING btree (poll_at) WHERE (poll_at IS NOT NULL);
CREATE INDEX deposits_with_problem ON deposits USING btree (created_at) WHERE (problem_code IS NOT NULL);

create table dev_funds (
  fund_id text collate "C" not null,
  account_id text collate "C" not null,
  wallet_id text collate "C" not null,
  owner text collate "C" not null,
  amount bigint not null,
  status text default 'new'::text not null,
  generation integer default 0 not null,
  dispatch_count integer default 0 not null,
  tx_hash text,
  slot bigint,
  failure_message text,
  created_at timestamp with time zone default app_now() not null,
  progressed_at timestamp with time zone default app_now() not null,
  constraint dev_funds_pkey PRIMARY KEY (fund_id),
  constraint dev_funds_amount_check CHECK (amount > 0),
  constraint dev_funds_check CHECK ((status <> ALL (ARRAY['confirmed'::text, 'finalized'::text])) OR tx_hash IS NOT NULL),
  constraint dev_funds_status_check CHECK (status = ANY (ARRAY['new'::text, 'signed'::text, 'confirmed'::text, 'finalized'::text, 'failed'::text]))
);
CREATE INDEX dev_funds_by_account ON dev_funds USING btree (account_id, fund_id DESC);
CREATE INDEX dev_funds_due ON dev_funds USING btree (progressed_at) WHERE (status = ANY (ARRAY['new'::text, 'signed'::text]));

create table idempotency (
  account_id text collate "C" not null,
  operation text collate "C" not null,
  key_hash bytea not null,
  fingerprint bytea not null,
  object_id text collate "C",
  answer json,
  leased_until timestamp with time zone not null,
  created_at timestamp with time zone default app_now() not null,
  constraint idempotency_pkey PRIMARY KEY (account_id, operation, key_hash),
  constraint idempotency_check CHECK (object_id IS NOT NULL OR answer IS NOT NULL)
);
CREATE INDEX idempotency_by_age ON idempotency USING btree (created_at);

create table refunds (
  refund_id text collate "C" not null,
  settlement_id text collate "C" not null,
  vendor_account_id text collate "C" not null,
  reason text,
  status text default 'new'::text not null,
  service_id uuid,
  payout_address text collate "C",
  payer_account_id text collate "C",
  delegate_id text collate "C",
  item text,
  amount bigint,
  destination_address text collate "C",
  destination_token_account text collate "C",
  generation integer default 0 not null,
  tx_hash text,
  slot bigint,
  confirmed_at timestamp with time zone,
  failure_code text,
  failure_message text,
  released_at timestamp with time zone,
  created_at timestamp with time zone not null,
  pending_until timestamp with time zone not null,
  progressed_at timestamp with time zone default app_now() not null,
  constraint refunds_pkey PRIMARY KEY (refund_id),
  constraint refunds_amount_check CHECK (amount > 0),
  constraint refunds_check CHECK ((status = ANY (ARRAY['new'::text, 'void'::text])) OR amount IS NOT NULL AND service_id IS NOT NULL AND payout_address IS NOT NULL AND destination_address IS NOT NULL AND destination_token_account IS NOT NULL),
  constraint refunds_check1 CHECK ((status <> ALL (ARRAY['submitted'::text, 'confirmed'::text, 'finalized'::text])) OR tx_hash IS NOT NULL),
  constraint refunds_check2 CHECK ((status = 'failed'::text) = (failure_code IS NOT NULL)),
  constraint refunds_status_check CHECK (status = ANY (ARRAY['new'::text, 'void'::text, 'pending_signature'::text, 'submitted'::text, 'confirmed'::text, 'finalized'::text, 'failed'::text, 'cancelled'::text, 'expired'::text]))
);
CREATE INDEX refunds_by_payer ON refunds USING btree (payer_account_id, refund_id DESC);
CREATE INDEX refunds_by_service ON refunds USING btree (service_id, refund_id DESC);
CREATE INDEX refunds_by_settlement ON refunds USING btree (settlement_id, refund_id DESC);
CREATE INDEX refunds_by_vendor ON refunds USING btree (vendor_account_id, refund_id DESC);
CREATE INDEX refunds_open ON refunds USING btree (progressed_at) WHERE (status = ANY (ARRAY['new'::text, 'pending_signature'::text, 'submitted'::text, 'confirmed'::text]));
CREATE INDEX refunds_to_release ON refunds USING btree (progressed_at) WHERE ((released_at IS NULL) AND (status = ANY (ARRAY['void'::text, 'failed'::text, 'cancelled'::text, 'expired'::text])));

create table withdrawals (
  withdrawal_id text collate "C" not null,
  account_id text collate "C" not null,
  wallet_id text collate "C" not null,
  owner text collate "C" not null,
  amount bigint not null,
  destination_address text collate "C" not null,
  destination_token_account text collate "C" not null,
  status text default 'pending_approval'::text not null,
  generation integer default 0 not null,
  tx_hash text,
  slot bigint,
  confirmed_at timestamp with time zone,
  failure_code text,
  failure_message text,
  created_at timestamp with time zone not null,
  pending_until timestamp with time zone not null,
  progressed_at timestamp with time zone default app_now() not null,
  approver jsonb,
  constraint withdrawals_pkey PRIMARY KEY (withdrawal_id),
  constraint withdrawals_amount_check CHECK (amount > 0),
  constraint withdrawals_check CHECK ((status <> ALL (ARRAY['submitted'::text, 'confirmed'::text, 'finalized'::text])) OR tx_hash IS NOT NULL),
  constraint withdrawals_check1 CHECK ((status = 'failed'::text) = (failure_code IS NOT NULL)),
  constraint withdrawals_status_check CHECK (status = ANY (ARRAY['pending_approval'::text, 'submitted'::text, 'confirmed'::text, 'finalized'::text, 'failed'::text, 'cancelled'::text, 'expired'::text]))
);
CREATE INDEX withdrawals_by_account ON withdrawals USING btree (account_id, withdrawal_id DESC);
CREATE INDEX withdrawals_open ON withdrawals USING btree (progressed_at) WHERE (status = ANY (ARRAY['pending_approval'::text, 'submitted'::text, 'confirmed'::text]));
