-- Ids are TypeIDs under the C collation. No secret is stored: the tokens of links and sessions are
-- derived from ids by IDENTITY_SECRET, and of a key only the SHA-256 is stored.
create table accounts (
  account_id text collate "C" primary key,
  -- Normalised (sessions/model/email.ts): every mailbox has one spelling.
  -- Null after erasure.
  email text collate "C",
  created_at timestamptz not null default app_now(),
  display_name text,
  mail_key_events boolean not null default true,
  -- Off by default, because an agent may pay hundreds of times a day.
  mail_payments boolean not null default false,
  spending_alert_threshold bigint check (spending_alert_threshold > 0),
  -- The account status, which operators set (docs/adr/0018).
  frozen_at timestamptz,
  limit_factor integer not null default 1 check (limit_factor between 1 and 1000),
  -- While a closure waits for what is under way, the account is frozen until this time. A closure
  -- that was interrupted therefore leaves nothing behind.
  closing_until timestamptz,
  -- An account is closed for good (docs/retention.md). Its personal data are erased after erase_at.
  closed_at timestamptz,
  erase_at timestamptz,
  erased_at timestamptz,
  check ((closed_at is null) = (erase_at is null)),
  check (erased_at is null or closed_at is not null),
  check ((email is null) = (erased_at is not null))
);
-- The address of a closed account may open a new one at once.
create unique index accounts_by_email on accounts (email) where closed_at is null;
create index accounts_to_erase on accounts (erase_at) where closed_at is not null and erased_at is null;
create index accounts_by_status on accounts (account_id) where frozen_at is not null or limit_factor > 1;

-- The newest links of an address, of which each is valid until one is used.
create table login_links (
  link_id text collate "C" primary key,
  email text collate "C" not null,
  token_hash text collate "C" not null unique,
  -- SHA-256 of the nonce of the browser that requested the link; null when no page did.
  browser_hash text collate "C",
  from_known_browser boolean not null,
  -- The page of a payment that requested the link, where its reader goes on.
  continue_to text,
  created_at timestamptz not null default app_now(),
  expires_at timestamptz not null,
  used_at timestamptz,
  -- As browser_hash, of the browser that used it or another link of its address.
  used_by_hash text collate "C"
);
create index login_links_by_email on login_links (email);
create index login_links_by_browser on login_links (browser_hash, created_at desc)
  where browser_hash is not null;
create index login_links_by_expiry on login_links (expires_at);

-- The browsers that have signed in with an address, by the SHA-256 of their nonce. Their requests
-- of links are counted apart from those of strangers.
create table known_browsers (
  email text collate "C" not null,
  browser_hash text collate "C" not null,
  signed_in_at timestamptz not null default app_now(),
  primary key (email, browser_hash)
);
create index known_browsers_by_age on known_browsers (signed_in_at);

create table sessions (
  session_id text collate "C" primary key,
  account_id text collate "C" not null references accounts,
  amr text[] not null,
  -- The name of the device that a person has confirmed; null for a sign-in by mail or passkey.
  client_name text,
  -- What the limits of the delegates that a device has made allow in a day, in micro-units.
  granted_micro bigint not null default 0 check (granted_micro >= 0),
  -- The time of the sign-in (auth_time). A refresh does not change it.
  signed_in_at timestamptz not null default app_now(),
  -- The generation of the current refresh token. Each use increments it.
  generation integer not null default 1 check (generation > 0),
  rotated_at timestamptz not null default app_now(),
  idle_expires_at timestamptz not null,
  expires_at timestamptz not null,
  revoked_at timestamptz
);
create index sessions_by_account on sessions (account_id, session_id desc);
create index sessions_by_expiry on sessions (expires_at);

-- The fields that verify a sign-in. No attestation is requested, so none is stored.
create table passkeys (
  passkey_id text collate "C" primary key,
  account_id text collate "C" not null references accounts,
  -- The authenticator creates it; base64url.
  credential_id text collate "C" not null unique,
  public_key bytea not null,
  -- Always 0 for synced passkeys. Above 0 it must grow with each use; if it does not, the passkey
  -- was copied.
  counter bigint not null check (counter >= 0),
  transports text[] not null,
  label text not null,
  backed_up boolean not null,
  created_at timestamptz not null default app_now(),
  last_used_at timestamptz
);
create index passkeys_by_account on passkeys (account_id, passkey_id desc);

-- Issued challenges without an answer. An answer deletes the row, so of concurrent answers one
-- finds it.
create table passkey_challenges (
  challenge text collate "C" primary key,
  ceremony text not null check (ceremony in ('register', 'login', 'approve')),
  -- The session that requested a registration or an approval. Only the same session may answer.
  session_id text collate "C",
  expires_at timestamptz not null,
  check ((ceremony in ('register', 'approve')) = (session_id is not null))
);
create index passkey_challenges_by_expiry on passkey_challenges (expires_at);

-- Sign-ins of devices that wait for a person (RFC 8628). The device holds the code, and the person
-- reads the short one.
create table device_sign_ins (
  device_hash text collate "C" primary key,
  user_code text collate "C" not null unique,
  client_name text not null,
  -- The network and the program of the device, for the person who decides.
  address text,
  agent text,
  account_id text collate "C" references accounts,
  -- Null: nobody has decided.
  allowed boolean,
  -- The device has got its session. A repeated poll gets no second one.
  used_at timestamptz,
  expires_at timestamptz not null,
  created_at timestamptz not null default app_now(),
  check ((allowed is null) = (account_id is null)),
  check (used_at is null or allowed is true)
);
create index device_sign_ins_by_expiry on device_sign_ins (expires_at);

create table services (
  service_id uuid primary key,
  account_id text collate "C" not null references accounts,
  name text not null,
  price bigint not null check (price > 0),
  payout_address text collate "C" not null,
  redeem_window_seconds integer not null check (redeem_window_seconds between 30 and 604800),
  -- How long the previous key stays valid after a rotation.
  key_grace_hours integer not null default 24 check (key_grace_hours between 0 and 168),
  allowed_ips text[] check (cardinality(allowed_ips) between 1 and 20),
  -- A payout address that is not effective yet.
  next_payout_address text collate "C",
  next_payout_at timestamptz,
  -- The domain that its owner claims, in ASCII. It is shown to buyers while it is proven.
  domain text collate "C" check (length(domain) between 1 and 240),
  -- When the proof was last seen. Null: it was never seen, or is gone.
  domain_verified_at timestamptz,
  domain_checked_at timestamptz,
  -- What the last check found instead of the proof.
  domain_problem text check (domain_problem in ('record_missing', 'record_differs', 'no_answer')),
  -- When the job looks for the proof next.
  domain_check_at timestamptz,
  status text not null default 'active' check (status in ('active', 'closing', 'closed')),
  closing_at timestamptz,
  -- When the job checks next whether a closing service may end.
  end_check_at timestamptz,
  created_at timestamptz not null,
  check ((next_payout_address is null) = (next_payout_at is null)),
  check ((domain is null) = (domain_check_at is null)),
  check (domain is not null or num_nonnulls(domain_verified_at, domain_checked_at, domain_problem) = 0)
);
create index services_by_account on services (account_id, created_at desc, service_id desc);
create index services_to_end on services (end_check_at) where status = 'closing';
create index services_to_prove on services (domain_check_at) where domain is not null and status <> 'closed';

-- The identity of delegates. Settlement stores their limits and counters.
create table delegates (
  delegate_id text collate "C" primary key,
  account_id text collate "C" not null references accounts,
  name text not null,
  wallet_id text collate "C" not null,
  -- The sign-in of the device that made it, with which its owner ends it. Null: a person made it.
  session_id text collate "C" references sessions on delete set null,
  expires_at timestamptz,
  created_at timestamptz not null,
  deleted_at timestamptz
);
create index delegates_by_session on delegates (session_id) where session_id is not null;
create index delegates_by_account on delegates (account_id, delegate_id desc) where deleted_at is null;
create index delegates_revoked on delegates (account_id, delegate_id desc) where deleted_at is not null;

create table keys (
  key_id text collate "C" primary key,
  account_id text collate "C" not null references accounts,
  service_id uuid references services,
  delegate_id text collate "C" references delegates,
  key_hash text collate "C" not null unique,
  -- How the key begins, for its owner to recognise it.
  beginning text not null,
  created_at timestamptz not null default app_now(),
  -- Exact to an hour, because a key is read with every call.
  last_used_at timestamptz,
  -- Null: the current key. In the future: the end of its grace period.
  revoked_at timestamptz,
  constraint keys_of_one check (num_nonnulls(service_id, delegate_id) = 1)
);
create index keys_by_account on keys (account_id, key_id desc);
create index keys_by_service on keys (service_id, key_id desc);
create index keys_by_delegate on keys (delegate_id, key_id desc) where delegate_id is not null;
-- A lock of the service or delegate serialises rotations. These indexes also guarantee it.
create unique index keys_current_of_service on keys (service_id) where revoked_at is null;
create unique index keys_current_of_delegate on keys (delegate_id) where revoked_at is null;

-- One row per service or delegate, so that only the newest link of each exists.
create table reveal_links (
  owner_id text collate "C" primary key,
  link_id text collate "C" not null,
  token_hash text collate "C" not null unique,
  revoke_previous boolean not null,
  expires_at timestamptz not null,
  used_at timestamptz
);
create index reveal_links_by_expiry on reveal_links (expires_at);

-- Mails to send. The text is composed when a mail is sent, so the table contains no token.
create table mails (
  mail_id bigint generated always as identity primary key,
  -- The kind of the text (mailer/notices.ts, mailer/sign-in-mail.ts).
  kind text not null,
  to_address text not null,
  link_id text collate "C",
  -- Further values of the text; never a secret.
  details jsonb not null default '{}',
  expires_at timestamptz not null,
  attempts integer not null default 0,
  next_attempt_at timestamptz not null default app_now()
);
-- Mails with a link come before all others, because a user waits for them (mails/store.ts).
create index mails_in_order on mails ((link_id is null), next_attempt_at);
create index mails_by_address on mails (to_address);

-- What happened to the sign-ins, keys and payout addresses of an account, for its owner.
create table security_events (
  security_event_id text collate "C" primary key,
  account_id text collate "C" not null references accounts,
  kind text not null,
  -- Values that the owner knows, such as names; never a secret.
  details jsonb not null default '{}',
  -- The network and the kind of program of the call that did it. Null: unknown.
  address text,
  agent text,
  created_at timestamptz not null default app_now()
);
create index security_events_by_account on security_events (account_id, security_event_id desc);
create index security_events_by_age on security_events (created_at);

-- Events of other services that were counted or mailed. Until its key expires, a repeat does
-- nothing (mails/store.ts): a payment by its id, an approval by its id, a disabled endpoint by its
-- id and time, and the declines of an account by one key for an hour.
create table handled_events (
  event_key text collate "C" primary key,
  expires_at timestamptz not null
);
create index handled_events_by_expiry on handled_events (expires_at);

-- The spending of an account in a UTC day.
create table spending_days (
  account_id text collate "C" not null references accounts,
  day date not null,
  spent bigint not null check (spent > 0),
  -- The greatest threshold that its owner was alerted about. One up to it does not alert again on
  -- that day.
  alerted_threshold bigint,
  primary key (account_id, day)
);
create index spending_days_by_day on spending_days (day);

-- Whom an account has paid: a service, or the address of a vendor that has no account here. The
-- first payment to a payee is mailed.
create table known_payees (
  account_id text collate "C" not null references accounts,
  payee text collate "C" not null,
  primary key (account_id, payee)
);
