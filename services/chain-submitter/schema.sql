-- Generated from the migrations by tools/dump-schema.ts; nothing executes it.
-- shared/db/schema.sql has the rest.

create table cosigning_factors (
  account_id text collate "C" not null,
  factor smallint not null,
  constraint cosigning_factors_pkey PRIMARY KEY (account_id),
  constraint cosigning_factors_factor_check CHECK (factor >= 2 AND factor <= 1000)
);

create table grants (
  account_id text collate "C" not null,
  owner text collate "C" not null,
  permit smallint not null,
  used_by text collate "C",
  used_slot bigint,
  reserved_lamports bigint,
  reserved_budget text,
  reserved_on timestamp with time zone,
  reserved_until timestamp with time zone,
  reserved_by text collate "C",
  created_at timestamp with time zone default app_now() not null,
  constraint grants_pkey PRIMARY KEY (account_id, owner),
  constraint grants_account_id_permit_key UNIQUE (account_id, permit),
  constraint grants_permit_check CHECK (permit >= 1 AND permit <= 3),
  constraint grants_reservation CHECK (reserved_lamports IS NULL OR reserved_budget IS NOT NULL AND reserved_on IS NOT NULL AND reserved_until IS NOT NULL),
  constraint grants_reserved_lamports_check CHECK (reserved_lamports > 0)
);
CREATE INDEX grants_by_owner ON grants USING btree (owner);
CREATE INDEX grants_reserved ON grants USING btree (reserved_until) WHERE (reserved_lamports IS NOT NULL);

create table intents (
  intent_id text collate "C" not null,
  kind text not null,
  object_id text collate "C" not null,
  request jsonb not null,
  status text not null,
  generation integer default 0 not null,
  signature text collate "C",
  slot bigint,
  failure_code text,
  failure_message text,
  traceparent text,
  worker_id text collate "C",
  next_at timestamp with time zone not null,
  created_at timestamp with time zone default app_now() not null,
  progressed_at timestamp with time zone default app_now() not null,
  constraint intents_pkey PRIMARY KEY (intent_id),
  constraint intents_check CHECK ((status = 'failed'::text) = (failure_code IS NOT NULL)),
  constraint intents_failure_code_check CHECK (failure_code = ANY (ARRAY['insufficient_funds'::text, 'delegation_inactive'::text, 'payment_failed'::text])),
  constraint intents_kind_check CHECK (kind = ANY (ARRAY['settle'::text, 'fund'::text, 'createTokenAccount'::text, 'delegation'::text, 'withdrawal'::text, 'refund'::text, 'incoming'::text, 'outgoing'::text])),
  constraint intents_status_check CHECK (status = ANY (ARRAY['accepted'::text, 'signed'::text, 'confirmed'::text, 'finalized'::text, 'failed'::text, 'reopened'::text]))
);
CREATE INDEX intents_failed_by_quote ON intents USING hash (((request ->> 'quote_token'::text))) WHERE ((kind = 'settle'::text) AND (status = 'failed'::text));
CREATE INDEX intents_incoming_by_source ON intents USING btree (((request ->> 'source_account'::text)), slot) WHERE ((kind = 'incoming'::text) AND (status = ANY (ARRAY['accepted'::text, 'signed'::text, 'confirmed'::text, 'finalized'::text, 'reopened'::text])));
CREATE INDEX intents_incoming_by_vendor ON intents USING btree (((request ->> 'account_id'::text)), slot) WHERE ((kind = 'incoming'::text) AND (status = ANY (ARRAY['accepted'::text, 'signed'::text, 'confirmed'::text, 'finalized'::text, 'reopened'::text])) AND (jsonb_array_length((request -> 'legs'::text)) > 1));
CREATE INDEX intents_incoming_failed ON intents USING btree (((request ->> 'source_account'::text)), created_at) WHERE ((kind = 'incoming'::text) AND (status = 'failed'::text) AND (signature IS NOT NULL));
CREATE INDEX intents_open ON intents USING btree (next_at) WHERE (status = ANY (ARRAY['accepted'::text, 'signed'::text, 'confirmed'::text, 'reopened'::text]));
CREATE INDEX intents_unsent ON intents USING btree (created_at) WHERE ((kind = 'incoming'::text) AND (status = 'failed'::text) AND (slot IS NULL) AND jsonb_exists(request, 'signs_last'::text));

create table lanes (
  lane integer not null,
  replica_id text collate "C",
  moved_at timestamp with time zone default app_now() not null,
  constraint lanes_pkey PRIMARY KEY (lane),
  constraint lanes_lane_check CHECK (lane >= 0 AND lane < 16)
);

create table lost_records (
  lost_id text collate "C" not null,
  signature text collate "C" not null,
  fee_payer text collate "C" not null,
  since timestamp with time zone not null,
  found_at timestamp with time zone default app_now() not null,
  constraint lost_records_pkey PRIMARY KEY (lost_id)
);

create table network_costs (
  account_id text collate "C" not null,
  kind text not null,
  period date not null,
  transactions bigint not null,
  fee_lamports bigint not null,
  rent_lamports bigint not null,
  constraint network_costs_pkey PRIMARY KEY (account_id, kind, period)
);
CREATE INDEX network_costs_by_month ON network_costs USING btree (period) WHERE (account_id <> ''::text);

create table outgoing_messages (
  intent_id text collate "C" not null,
  message_hash text collate "C" not null,
  wire bytea not null,
  last_valid_block_height bigint not null,
  signed_at timestamp with time zone default app_now() not null,
  constraint outgoing_messages_pkey PRIMARY KEY (intent_id),
  constraint outgoing_messages_message_hash_key UNIQUE (message_hash),
  constraint outgoing_messages_intent_id_fkey FOREIGN KEY (intent_id) REFERENCES intents(intent_id)
);

create table preparations (
  preparation_id text collate "C" not null,
  kind text not null,
  account_id text collate "C" not null,
  budget_account_id text collate "C",
  owner text collate "C" not null,
  request jsonb not null,
  message bytea not null,
  creates text collate "C",
  last_valid_block_height bigint not null,
  expires_at timestamp with time zone not null,
  status text default 'open'::text not null,
  submitted_message bytea,
  signature text collate "C",
  created_at timestamp with time zone default app_now() not null,
  constraint preparations_pkey PRIMARY KEY (preparation_id),
  constraint preparations_check CHECK ((status = 'submitted'::text) = (signature IS NOT NULL)),
  constraint preparations_kind_check CHECK (kind = ANY (ARRAY['delegation'::text, 'withdrawal'::text, 'refund'::text])),
  constraint preparations_status_check CHECK (status = ANY (ARRAY['open'::text, 'replaced'::text, 'submitted'::text, 'cancelled'::text]))
);
CREATE INDEX preparations_creating ON preparations USING btree (creates) WHERE ((status = 'open'::text) AND (creates IS NOT NULL));
CREATE UNIQUE INDEX preparations_one_open ON preparations USING btree (owner) WHERE ((status = 'open'::text) AND (kind = 'delegation'::text));
CREATE INDEX preparations_open ON preparations USING btree (expires_at) WHERE (status = 'open'::text);

create table reconcile_checkpoints (
  account text collate "C" not null,
  signature text not null,
  slot bigint not null,
  balance bigint not null,
  known bigint not null,
  records_hash bytea not null,
  foreign_transfers bigint not null,
  foreign_amount bigint not null,
  keys_hash bytea not null,
  compared_at timestamp with time zone default app_now() not null,
  constraint reconcile_checkpoints_pkey PRIMARY KEY (account),
  constraint reconcile_checkpoints_keys_hash_check CHECK (octet_length(keys_hash) = 32),
  constraint reconcile_checkpoints_records_hash_check CHECK (octet_length(records_hash) = 32)
);

create table reconcile_runs (
  run_id bigint generated always as identity not null,
  began_at timestamp with time zone not null,
  ended_at timestamp with time zone default app_now() not null,
  from_start boolean not null,
  accounts integer not null,
  transactions bigint not null,
  broken integer not null,
  lacking integer not null,
  findings jsonb not null,
  constraint reconcile_runs_pkey PRIMARY KEY (run_id)
);

create table refund_cosignatures (
  settlement_id text collate "C" not null,
  refund_id text collate "C" not null,
  created_at timestamp with time zone default app_now() not null,
  constraint refund_cosignatures_pkey PRIMARY KEY (settlement_id)
);

create table replicas (
  replica_id text collate "C" not null,
  load real not null,
  expires_at timestamp with time zone not null,
  constraint replicas_pkey PRIMARY KEY (replica_id)
);

create table settings (
  only_row boolean default true not null,
  paused boolean default false not null,
  compared_slot bigint,
  compared_at timestamp with time zone,
  compared_start timestamp with time zone,
  lost_slot bigint,
  lost_until_height bigint,
  constraint settings_pkey PRIMARY KEY (only_row),
  constraint settings_only_row_check CHECK (only_row)
);

create table spending (
  scope text collate "C" not null,
  period timestamp with time zone not null,
  reserved bigint not null,
  constraint spending_pkey PRIMARY KEY (scope, period),
  constraint spending_reserved_check CHECK (reserved >= 0)
);
CREATE INDEX spending_by_period ON spending USING btree (period);

create table transactions (
  signature text collate "C" not null,
  intent_id text collate "C" not null,
  generation integer not null,
  wire bytea not null,
  last_valid_block_height bigint not null,
  status text default 'live'::text not null,
  creates text collate "C",
  signed_at timestamp with time zone default app_now() not null,
  fee_lamports bigint,
  rent_lamports bigint,
  constraint transactions_pkey PRIMARY KEY (signature, intent_id),
  constraint transactions_intent_id_generation_key UNIQUE (intent_id, generation),
  constraint transactions_status_check CHECK (status = ANY (ARRAY['live'::text, 'expired'::text, 'failed'::text])),
  constraint transactions_intent_id_fkey FOREIGN KEY (intent_id) REFERENCES intents(intent_id)
);
CREATE UNIQUE INDEX transactions_one_creation ON transactions USING btree (creates) WHERE ((status = 'live'::text) AND (creates IS NOT NULL));
CREATE UNIQUE INDEX transactions_one_live ON transactions USING btree (intent_id) WHERE (status = 'live'::text);

create table unread_costs (
  signature text collate "C" not null,
  intent_id text collate "C" not null,
  kind text not null,
  account_id text collate "C" not null,
  read_after timestamp with time zone default app_now() not null,
  created_at timestamp with time zone default app_now() not null,
  constraint unread_costs_pkey PRIMARY KEY (signature)
);
CREATE INDEX unread_costs_due ON unread_costs USING btree (read_after);

create table workers (
  worker_id text collate "C" not null,
  alive_until timestamp with time zone not null,
  constraint workers_pkey PRIMARY KEY (worker_id)
);
