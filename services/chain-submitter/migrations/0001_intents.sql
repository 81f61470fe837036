-- Up Migration
-- A worker says every second that it lives; its leases are void a few seconds after it stopped. One row per
-- worker instead of a renewal per intent and second.
create table workers (
  worker_id text collate "C" primary key,
  alive_until timestamptz not null
);

-- The operator's pause: update settings set paused = true. Nothing is signed while it stands.
create table settings (
  only_row boolean primary key default true check (only_row),
  paused boolean not null default false
);
insert into settings default values;

-- One row per piece of work, for ever: the key is the inbox (docs/design/settle.md, rule 6).
create table intents (
  -- settle:<account>:<payment_attempt_id> | fund:<id> | tokenAccount:<wallet_id> | delegation:<preparation_id>
  intent_id text collate "C" primary key,
  kind text not null check (kind in ('settle', 'fund', 'createTokenAccount', 'delegation')),
  object_id text collate "C" not null,
  -- The job as it came; a settle's amounts are read from its quote token at every use.
  request jsonb not null,
  status text not null check (status in ('accepted', 'signed', 'confirmed', 'finalized', 'failed', 'reopened')),
  generation integer not null default 0,
  tx_hash text collate "C",
  slot bigint,
  failure_code text check (failure_code in ('insufficient_funds', 'delegation_inactive', 'payment_failed')),
  failure_message text,
  traceparent text,
  -- The lease: whose it is, and from when on the sweeper may take one that is nobody's.
  worker_id text collate "C",
  next_at timestamptz not null,
  created_at timestamptz not null default app_now(),
  progressed_at timestamptz not null default app_now(),
  check ((status = 'failed') = (failure_code is not null))
);
create index intents_open on intents (next_at) where status in ('accepted', 'signed', 'confirmed', 'reopened');

-- Every transaction that was ever signed, committed before it left (rule 8).
create table transactions (
  signature text collate "C" primary key,
  intent_id text collate "C" not null references intents,
  generation integer not null,
  wire bytea not null,
  last_valid_block_height bigint not null,
  -- live: may land or has landed. The others are proven never to move anything.
  status text not null default 'live' check (status in ('live', 'expired', 'failed')),
  -- Owner whose token account it creates at our cost.
  creates text collate "C",
  signed_at timestamptz not null default app_now(),
  unique (intent_id, generation)
);
-- Rule 9, and the wall that a paused worker which wakes late runs into.
create unique index transactions_one_live on transactions (intent_id) where status = 'live';

-- Transactions handed out for a wallet's owner to sign.
create table preparations (
  preparation_id text collate "C" primary key,
  account_id text collate "C" not null,
  owner text collate "C" not null,
  token_account text collate "C" not null,
  authority text collate "C" not null,
  allowance bigint check (allowance > 0),
  message bytea not null,
  creates boolean not null,
  last_valid_block_height bigint not null,
  expires_at timestamptz not null,
  status text not null default 'open' check (status in ('open', 'replaced', 'submitted')),
  submitted_message bytea,
  tx_hash text collate "C",
  created_at timestamptz not null default app_now(),
  check ((status = 'submitted') = (tx_hash is not null))
);
-- At most one per wallet can still be co-signed; a new one replaces it.
create unique index preparations_one_open on preparations (owner) where status = 'open';

-- Token accounts that the platform pays for: at most three per account for life, each address once.
create table grants (
  account_id text collate "C" not null,
  owner text collate "C" not null,
  place smallint not null check (place between 1 and 3),
  -- The intent whose transaction created the account, and its slot: a reading older than that proves nothing.
  used_by text collate "C",
  used_slot bigint,
  created_at timestamptz not null default app_now(),
  primary key (account_id, owner),
  unique (account_id, place)
);
create index grants_by_owner on grants (owner);

-- What may still be signed in an hour (micro-units) or paid in a day (lamports), per scope. Taken in portions by
-- a conditional update, so no race gets past a cap.
create table spending (
  scope text collate "C" not null,
  period timestamptz not null,
  taken bigint not null check (taken >= 0),
  primary key (scope, period)
);
