-- The events of accounts, stored for 30 days. Each exists once, however often the event of the
-- service is delivered. Payer and vendor share one.
create table events (
  event_id text collate "C" primary key,
  type text not null,
  object_id text not null,
  -- What each of the two accounts sees, and what only the first or the other one sees besides.
  data jsonb not null,
  account_id text collate "C" not null,
  own jsonb not null,
  other_account_id text collate "C",
  other_own jsonb,
  -- The first half of the SHA-256 of its accounts and key (NewEvent), the same for a repeat.
  event_hash uuid not null,
  created_at timestamptz not null default app_now(),
  check (num_nulls(other_account_id, other_own) in (0, 2)),
  check (other_account_id <> account_id)
);
create index events_by_account on events (account_id, event_id desc);
create index events_by_other_account on events (other_account_id, event_id desc) where other_account_id is not null;
-- Also for operators, who find the events of a payment without its accounts.
create unique index events_by_object on events (object_id, event_hash);

create table endpoints (
  endpoint_id text collate "C" primary key,
  account_id text collate "C" not null,
  url text not null,
  description text,
  event_types text[] not null,
  -- Null: it is enabled.
  disabled_reason text check (disabled_reason in ('owner', 'failing', 'gone')),
  -- The time of the first failure since the last success.
  failing_since timestamptz,
  -- Encrypted (JWE), bound to the endpoint.
  secret text not null,
  previous_secret text,
  previous_secret_expires_at timestamptz,
  created_at timestamptz not null default app_now(),
  check ((previous_secret is null) = (previous_secret_expires_at is null))
);
create index endpoints_by_account on endpoints (account_id, endpoint_id desc);

create table deliveries (
  endpoint_id text collate "C" not null references endpoints on delete cascade,
  event_id text collate "C" not null references events on delete cascade,
  status text not null default 'pending' check (status in ('pending', 'delivered', 'failed')),
  -- The attempts of this round. A redelivery begins another round.
  tries smallint not null default 0,
  -- The log: the last attempts of all rounds.
  attempts jsonb not null default '[]',
  next_attempt_at timestamptz default app_now(),
  -- Until this time the replica that claimed the delivery sends it.
  leased_until timestamptz,
  created_at timestamptz not null default app_now(),
  primary key (endpoint_id, event_id),
  check ((status = 'pending') = (next_attempt_at is not null))
);
create index deliveries_due on deliveries (endpoint_id, next_attempt_at) where status = 'pending';
create index deliveries_by_event on deliveries (event_id);
