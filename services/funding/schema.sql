-- Generated from the migrations by tools/dump-schema.ts; not run by anything.

create table dev_funds (
  fund_id text collate "C" not null,
  account_id text collate "C" not null,
  wallet_id text collate "C" not null,
  owner text collate "C" not null,
  amount bigint not null,
  status text default 'new'::text not null,
  generation integer default 0 not null,
  drive integer default 0 not null,
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
