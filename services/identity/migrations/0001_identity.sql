-- Up Migration
-- Ids are TypeIDs under the C collation. No secret is at rest: links and refresh tokens are derived from ids by
-- IDENTITY_SECRET, keys are kept as SHA-256.
create table accounts (
  account_id text collate "C" primary key,
  -- Normalised (domain/email.ts): one person, one spelling.
  email text collate "C" not null unique,
  created_at timestamptz not null default app_now()
);

-- One row per address, so that "the newest link only" holds by itself.
create table login_links (
  email text collate "C" primary key,
  link_id text collate "C" not null,
  token_hash text collate "C" not null unique,
  created_at timestamptz not null default app_now(),
  expires_at timestamptz not null,
  used_at timestamptz
);
create index login_links_by_expiry on login_links (expires_at);

create table sessions (
  session_id text collate "C" primary key,
  account_id text collate "C" not null references accounts,
  amr text[] not null,
  -- The sign-in itself (auth_time): refresh does not renew it.
  signed_in_at timestamptz not null default app_now(),
  -- Which refresh token is the current one; each use moves on by one.
  generation integer not null default 1 check (generation > 0),
  rotated_at timestamptz not null default app_now(),
  idle_expires_at timestamptz not null,
  expires_at timestamptz not null,
  revoked_at timestamptz
);
create index sessions_by_account on sessions (account_id, session_id desc);
create index sessions_by_expiry on sessions (expires_at);

create table services (
  service_id uuid primary key,
  account_id text collate "C" not null references accounts,
  name text not null,
  price bigint not null check (price > 0),
  payout_address text collate "C" not null,
  redeem_window_seconds integer not null check (redeem_window_seconds between 30 and 604800),
  status text not null default 'active' check (status in ('active', 'closing')),
  created_at timestamptz not null
);
create index services_by_account on services (account_id, created_at desc, service_id desc);

create table keys (
  key_id text collate "C" primary key,
  account_id text collate "C" not null references accounts,
  service_id uuid not null references services,
  key_hash text collate "C" not null unique,
  created_at timestamptz not null default app_now(),
  -- Null: the current key. In the future: in its grace period.
  ended_at timestamptz
);
create index keys_by_service on keys (service_id, key_id desc);

-- Mail to send. The text is made when it is sent, so no link waits here in clear.
create table mails (
  mail_id bigint generated always as identity primary key,
  kind text not null check (kind in ('sign_in')),
  to_address text not null,
  link_id text collate "C" not null,
  expires_at timestamptz not null,
  attempts integer not null default 0,
  next_attempt_at timestamptz not null default app_now()
);
create index mails_by_attempt on mails (next_attempt_at);
create index mails_by_address on mails (to_address);
