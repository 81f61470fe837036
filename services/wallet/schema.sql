-- Generated from the migrations by tools/dump-schema.ts; nothing executes it.
-- shared/db/schema.sql has the rest.

create table day_sums (
  account_id text collate "C" not null,
  side text collate "C" not null,
  day date not null,
  delegate_id text collate "C",
  service_id uuid,
  amount bigint not null,
  fee_amount bigint not null,
  transfers bigint not null,
  constraint day_sums_key UNIQUE NULLS NOT DISTINCT (account_id, side, day, delegate_id, service_id),
  constraint day_sums_side_check CHECK (side = ANY (ARRAY['paid'::text, 'sold'::text, 'refunded'::text, 'returned'::text]))
);

create table preparations (
  preparation_id text collate "C" not null,
  wallet_id text collate "C" not null,
  kind text not null,
  allowance bigint,
  status text default 'new'::text not null,
  generation integer default 0 not null,
  slot bigint,
  failure_code text,
  failure_message text,
  created_at timestamp with time zone default app_now() not null,
  submitted_at timestamp with time zone,
  progressed_at timestamp with time zone default app_now() not null,
  constraint preparations_pkey PRIMARY KEY (preparation_id),
  constraint preparations_allowance_check CHECK (allowance > 0),
  constraint preparations_check CHECK ((kind = 'approve'::text) = (allowance IS NOT NULL)),
  constraint preparations_check1 CHECK ((status = 'failed'::text) = (failure_code IS NOT NULL)),
  constraint preparations_kind_check CHECK (kind = ANY (ARRAY['approve'::text, 'revoke'::text])),
  constraint preparations_status_check CHECK (status = ANY (ARRAY['new'::text, 'signed'::text, 'confirmed'::text, 'finalized'::text, 'failed'::text])),
  constraint preparations_wallet_id_fkey FOREIGN KEY (wallet_id) REFERENCES wallets(wallet_id)
);
CREATE INDEX preparations_by_wallet ON preparations USING btree (wallet_id, preparation_id DESC);

create table snapshots (
  wallet_id text collate "C" not null,
  token_account_exists boolean default false not null,
  token_account_seen boolean default false not null,
  balance bigint default 0 not null,
  delegate text collate "C",
  allowance bigint default 0 not null,
  delegation_status text default 'none'::text not null,
  slot bigint default 0 not null,
  seen_at timestamp with time zone,
  active_at timestamp with time zone default app_now() not null,
  poll_at timestamp with time zone default app_now() not null,
  constraint snapshots_pkey PRIMARY KEY (wallet_id),
  constraint snapshots_delegation_status_check CHECK (delegation_status = ANY (ARRAY['none'::text, 'pending'::text, 'active'::text, 'exhausted'::text, 'overwritten'::text, 'revoked'::text])),
  constraint snapshots_wallet_id_fkey FOREIGN KEY (wallet_id) REFERENCES wallets(wallet_id)
);
CREATE INDEX snapshots_due ON snapshots USING btree (poll_at);

create table transactions (
  object_id text collate "C" not null,
  type text not null,
  status text not null,
  tx_hash text,
  from_account_id text collate "C",
  to_account_id text collate "C",
  amount bigint,
  fee_amount bigint,
  service_id uuid,
  delegate_id text collate "C",
  item text,
  created_at timestamp with time zone,
  constraint transactions_pkey PRIMARY KEY (object_id),
  constraint transactions_amount_check CHECK (amount > 0),
  constraint transactions_check CHECK (fee_amount >= 0 AND fee_amount < amount),
  constraint transactions_check1 CHECK ((created_at IS NULL) = (amount IS NULL) AND (created_at IS NULL) = (fee_amount IS NULL)),
  constraint transactions_check2 CHECK ((created_at IS NULL) = (from_account_id IS NULL AND to_account_id IS NULL)),
  constraint transactions_status_check CHECK (status = ANY (ARRAY['confirmed'::text, 'finalized'::text, 'reversed'::text])),
  constraint transactions_type_check CHECK (type = ANY (ARRAY['payment'::text, 'deposit'::text, 'withdrawal'::text, 'refund'::text, 'dev_fund'::text]))
);
CREATE INDEX transactions_by_delegate ON transactions USING btree (delegate_id, type, created_at DESC, object_id DESC) WHERE (delegate_id IS NOT NULL);
CREATE INDEX transactions_by_hash ON transactions USING hash (tx_hash);
CREATE INDEX transactions_in ON transactions USING btree (to_account_id, type, created_at DESC, object_id DESC);
CREATE INDEX transactions_out ON transactions USING btree (from_account_id, type, created_at DESC, object_id DESC);

create table wallets (
  wallet_id text collate "C" not null,
  account_id text collate "C" not null,
  kind text not null,
  public_key text collate "C" not null,
  token_account text collate "C" not null,
  authority text collate "C" not null,
  label text,
  backup text,
  is_default boolean not null,
  created_at timestamp with time zone not null,
  token_account_status text,
  token_account_generation integer default 0 not null,
  token_account_dispatch_count integer default 0 not null,
  token_account_progressed_at timestamp with time zone default app_now() not null,
  constraint wallets_pkey PRIMARY KEY (wallet_id),
  constraint wallets_check CHECK ((kind = 'provisioned'::text) = (token_account_status IS NOT NULL)),
  constraint wallets_kind_check CHECK (kind = ANY (ARRAY['external'::text, 'provisioned'::text])),
  constraint wallets_token_account_status_check CHECK (token_account_status = ANY (ARRAY['new'::text, 'signed'::text, 'confirmed'::text, 'finalized'::text, 'failed'::text]))
);
CREATE INDEX wallets_by_account ON wallets USING btree (account_id, wallet_id DESC);
CREATE UNIQUE INDEX wallets_default ON wallets USING btree (account_id) WHERE is_default;
CREATE UNIQUE INDEX wallets_public_key ON wallets USING btree (public_key);
CREATE INDEX wallets_token_account_due ON wallets USING btree (token_account_progressed_at) WHERE (token_account_status = ANY (ARRAY['new'::text, 'signed'::text]));
