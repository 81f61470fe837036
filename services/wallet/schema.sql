-- Generated from the migrations by tools/dump-schema.ts; nothing executes it.

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
  queried_at timestamp with time zone default app_now() not null,
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
CREATE INDEX transactions_incomplete ON transactions USING btree (queried_at) WHERE ((type = 'payment'::text) AND ((status = 'confirmed'::text) OR (created_at IS NULL)));
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

CREATE OR REPLACE FUNCTION wallet.chain_operator_action()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'wallet', 'public', 'pg_temp'
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

CREATE OR REPLACE FUNCTION wallet.operator_action_hash(action operator_actions)
 RETURNS bytea
 LANGUAGE sql
 STABLE
 SET search_path TO 'wallet', 'public', 'pg_temp'
AS $function$
  select sha256(convert_to(jsonb_build_array(
    action.action_id, extract(epoch from action.at), action.actor, action.action, action.target,
    action.reason, action.before, action.after, encode(action.previous_hash, 'hex'))::text, 'UTF8'))
$function$;
