-- Up Migration
-- Ids are TypeIDs under the C collation. No secret is at rest: links and refresh tokens are derived from ids by
-- IDENTITY_SECRET, keys are kept as SHA-256.
create table accounts (
  account_id text collate "C" primary key,
  -- Normalised (domain/email.ts): one person, one spelling.
  email text collate "C" not null unique,
  created_at timestamptz not null default app_now(),
  display_name text,
  mail_key_events boolean not null default true,
  -- Off: an agent may pay hundreds of times a day.
  mail_payments boolean not null default false,
  spending_alert_threshold bigint check (spending_alert_threshold > 0),
  -- How an account stands with the operators (docs/adr/0018).
  frozen_at timestamptz,
  limit_factor integer not null default 1 check (limit_factor between 1 and 1000)
);
create index accounts_standing on accounts (account_id) where frozen_at is not null or limit_factor > 1;

-- One row per address, so that "the newest link only" holds by itself.
create table login_links (
  email text collate "C" primary key,
  link_id text collate "C" not null,
  token_hash text collate "C" not null unique,
  -- SHA-256 of the nonce of the browser that asked for the link; null where no page of ours asked.
  browser_hash text collate "C",
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

-- Only what verifies: no attestation is asked for, so none is kept.
create table passkeys (
  passkey_id text collate "C" primary key,
  account_id text collate "C" not null references accounts,
  -- Chosen by the authenticator, unique for it; base64url.
  credential_id text collate "C" not null unique,
  public_key bytea not null,
  -- 0 for ever in synced passkeys. Once above 0 it only ever grows, or the passkey was copied.
  counter bigint not null check (counter >= 0),
  transports text[] not null,
  label text not null,
  backed_up boolean not null,
  created_at timestamptz not null default app_now(),
  last_used_at timestamptz
);
create index passkeys_by_account on passkeys (account_id, passkey_id desc);

-- Challenges handed out and not yet answered. An answer deletes its row, so that of many only one finds it.
create table passkey_challenges (
  challenge text collate "C" primary key,
  ceremony text not null check (ceremony in ('register', 'login')),
  -- Whose sign-in asked: a registration is answered by the same.
  session_id text collate "C",
  expires_at timestamptz not null,
  check ((ceremony = 'register') = (session_id is not null))
);
create index passkey_challenges_by_expiry on passkey_challenges (expires_at);

create table services (
  service_id uuid primary key,
  account_id text collate "C" not null references accounts,
  name text not null,
  price bigint not null check (price > 0),
  payout_address text collate "C" not null,
  redeem_window_seconds integer not null check (redeem_window_seconds between 30 and 604800),
  -- How long the key before stays valid when a key is rotated.
  key_grace_hours integer not null default 24 check (key_grace_hours between 0 and 168),
  -- A payout address that does not act yet.
  next_payout_address text collate "C",
  next_payout_at timestamptz,
  status text not null default 'active' check (status in ('active', 'closing', 'closed')),
  closing_at timestamptz,
  -- When the job looks whether a closing service has ended.
  end_check_at timestamptz,
  created_at timestamptz not null,
  check ((next_payout_address is null) = (next_payout_at is null))
);
create index services_by_account on services (account_id, created_at desc, service_id desc);
create index services_to_end on services (end_check_at) where status = 'closing';

-- Their caps and counters are settlement's; this is who they are.
create table delegates (
  delegate_id text collate "C" primary key,
  account_id text collate "C" not null references accounts,
  name text not null,
  wallet_id text collate "C" not null,
  expires_at timestamptz,
  created_at timestamptz not null,
  deleted_at timestamptz
);
create index delegates_by_account on delegates (account_id, delegate_id desc) where deleted_at is null;

create table keys (
  key_id text collate "C" primary key,
  account_id text collate "C" not null references accounts,
  service_id uuid references services,
  delegate_id text collate "C" references delegates,
  key_hash text collate "C" not null unique,
  created_at timestamptz not null default app_now(),
  -- Null: the current key. In the future: in its grace period.
  revoked_at timestamptz,
  constraint keys_of_one check (num_nonnulls(service_id, delegate_id) = 1)
);
create index keys_by_service on keys (service_id, key_id desc);
create index keys_by_delegate on keys (delegate_id, key_id desc) where delegate_id is not null;
-- Rotation is serialised by the row of the service or delegate; these have the last word.
create unique index keys_current_of_service on keys (service_id) where revoked_at is null;
create unique index keys_current_of_delegate on keys (delegate_id) where revoked_at is null;

-- One row per service or delegate, so that "the newest link only" holds by itself.
create table reveal_links (
  owner_id text collate "C" primary key,
  link_id text collate "C" not null,
  token_hash text collate "C" not null unique,
  revoke_previous boolean not null,
  expires_at timestamptz not null,
  used_at timestamptz
);
create index reveal_links_by_expiry on reveal_links (expires_at);

-- Mail to send. The text is made when it is sent, so no link waits here in clear.
create table mails (
  mail_id bigint generated always as identity primary key,
  -- Which kinds there are is the code's to say: what is sent is made from it.
  kind text not null,
  to_address text not null,
  link_id text collate "C",
  -- What the text needs besides; never a secret.
  details jsonb not null default '{}',
  expires_at timestamptz not null,
  attempts integer not null default 0,
  next_attempt_at timestamptz not null default app_now()
);
-- Mails that somebody waits for, those with a link, go before all others (store/mails.ts).
create index mails_in_order on mails ((link_id is null), next_attempt_at);
create index mails_by_address on mails (to_address);

-- Payments that were told of: each is counted and mailed once, however often its fact comes (store/payments.ts).
create table payments (
  settlement_id text collate "C" primary key,
  issued_at timestamptz not null
);
create index payments_by_time on payments (issued_at);

-- What an account has spent in a UTC day.
create table spending_days (
  account_id text collate "C" not null references accounts,
  day date not null,
  spent bigint not null check (spent > 0),
  -- When the owner was last alerted, and that more than this was spent: a threshold up to it is no news any more.
  alerted_at timestamptz,
  alerted_threshold bigint,
  primary key (account_id, day),
  check ((alerted_at is null) = (alerted_threshold is null))
);
create index spending_days_by_day on spending_days (day);

-- Calls with an Idempotency-Key, for 24 hours (docs/adr/0017-idempotency-keys.md).
create table idempotency (
  account_id text collate "C" not null,
  operation text collate "C" not null,
  -- SHA-256 of the key, and of the checked request with the scope of its credential.
  key_hash bytea not null,
  fingerprint bytea not null,
  -- What a call with several steps has begun to create.
  object_id text collate "C",
  -- What the call was answered, without a secret; null while it is under way. Not jsonb: the same text as the first time.
  answer json,
  -- Until then what was begun is left to the call that has begun it.
  leased_until timestamptz not null,
  created_at timestamptz not null default app_now(),
  primary key (account_id, operation, key_hash),
  check (object_id is not null or answer is not null)
);
create index idempotency_by_age on idempotency (created_at);
