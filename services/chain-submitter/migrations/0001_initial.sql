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
  -- | withdrawal:<id> | refund:<id>
  intent_id text collate "C" primary key,
  kind text not null check (kind in
    ('settle', 'fund', 'createTokenAccount', 'delegation', 'withdrawal', 'refund')),
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
-- Before a quote is paid whose earlier attempt failed, every provider is asked whether it was paid after all. Only failed
-- attempts are in the index, so that a payment that succeeds writes nothing to it.
create index intents_failed_by_quote on intents using hash ((request ->> 'quote_token'))
  where kind = 'settle' and status = 'failed';

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
-- The platform pays for each address once: while a creation may land, and once it has landed, no other is committed,
-- however many were prepared or planned. The bytes that are proven dead leave the index.
create unique index transactions_one_creation on transactions (creates) where status = 'live' and creates is not null;

-- Transactions handed out for a wallet's owner to sign. What differs between the kinds is the request,
-- which is also what the intent is told.
create table preparations (
  preparation_id text collate "C" primary key,
  kind text not null check (kind in ('delegation', 'withdrawal', 'refund')),
  account_id text collate "C" not null,
  -- The account whose budget pays for the co-signature, where it is not the account of the grant: of a
  -- refund it is the vendor's.
  budget_account_id text collate "C",
  owner text collate "C" not null,
  request jsonb not null,
  message bytea not null,
  -- The owner whose token account the transaction creates at our cost.
  creates text collate "C",
  last_valid_block_height bigint not null,
  expires_at timestamptz not null,
  -- cancelled: nothing of it is ever co-signed.
  status text not null default 'open' check (status in ('open', 'replaced', 'submitted', 'cancelled')),
  submitted_message bytea,
  tx_hash text collate "C",
  created_at timestamptz not null default app_now(),
  check ((status = 'submitted') = (tx_hash is not null))
);
-- At most one delegation per wallet can still be co-signed. A withdrawal or refund is one row under its
-- own id, which a new preparation overwrites.
create unique index preparations_one_open on preparations (owner) where status = 'open' and kind = 'delegation';
create index preparations_creating on preparations (creates) where status = 'open' and creates is not null;

-- Token accounts that the platform pays for: at most three per account for life, each address once. A
-- grant promises the rent of one: the lamports are reserved of a budget until the promise lapses, or
-- until the token account was created. The places stay for life.
create table grants (
  account_id text collate "C" not null,
  owner text collate "C" not null,
  place smallint not null check (place between 1 and 3),
  -- The intent whose transaction created the account, and its slot: a reading older than that proves nothing.
  used_by text collate "C",
  used_slot bigint,
  reserved_lamports bigint check (reserved_lamports > 0),
  -- Of which budget and of which day they were reserved, where they are released to.
  reserved_budget text,
  reserved_on timestamptz,
  reserved_until timestamptz,
  -- The intent whose signed bytes use the reservation: it is not released while they may land.
  reserved_by text collate "C",
  created_at timestamptz not null default app_now(),
  primary key (account_id, owner),
  unique (account_id, place),
  constraint grants_reservation check (reserved_lamports is null or (
    reserved_budget is not null and reserved_on is not null and reserved_until is not null))
);
create index grants_by_owner on grants (owner);
create index grants_reserved on grants (reserved_until) where reserved_lamports is not null;

-- What may still be signed in an hour (micro-units) or paid in a day (lamports), per scope. Taken in portions by
-- a conditional update, so no race gets past a cap.
create table spending (
  scope text collate "C" not null,
  period timestamptz not null,
  taken bigint not null check (taken >= 0),
  primary key (scope, period)
);
-- The running hour is read at every scrape of the metrics, and old periods are dropped every hour: without it, both
-- walk through all wallets of two days.
create index spending_by_period on spending (period);

-- Each settlement has paid for the co-signature of one refund when it was signed. This one has used it.
create table refund_cosignatures (
  settlement_id text collate "C" primary key,
  refund_id text collate "C" not null,
  created_at timestamptz not null default app_now()
);

-- Accounts that may have more co-signed a day than the others.
create table cosigning_factors (
  account_id text collate "C" primary key,
  factor smallint not null check (factor between 2 and 1000)
);
