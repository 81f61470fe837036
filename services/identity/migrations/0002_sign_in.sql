-- Up Migration
alter table accounts
  add column display_name text,
  add column mail_key_events boolean not null default true,
  -- Off: an agent may pay hundreds of times a day.
  add column mail_payments boolean not null default false,
  add column spending_alert_threshold bigint check (spending_alert_threshold > 0);

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

-- Mails of other kinds than a sign-in. Which kinds there are is the code's to say: what is sent is made from it.
alter table mails
  drop constraint mails_kind_check,
  alter column link_id drop not null,
  -- What the text needs besides; never a secret.
  add column details jsonb not null default '{}';
