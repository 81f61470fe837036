-- Generated from the migrations by tools/dump-schema.ts; nothing executes it.
-- shared/db/schema.sql has the rest.

create table accounts (
  account_id text collate "C" not null,
  email text collate "C",
  created_at timestamp with time zone default app_now() not null,
  display_name text,
  mail_key_events boolean default true not null,
  mail_payments boolean default false not null,
  spending_alert_threshold bigint,
  frozen_at timestamp with time zone,
  limit_factor integer default 1 not null,
  closing_until timestamp with time zone,
  closed_at timestamp with time zone,
  erase_at timestamp with time zone,
  erased_at timestamp with time zone,
  constraint accounts_pkey PRIMARY KEY (account_id),
  constraint accounts_check CHECK ((closed_at IS NULL) = (erase_at IS NULL)),
  constraint accounts_check1 CHECK (erased_at IS NULL OR closed_at IS NOT NULL),
  constraint accounts_check2 CHECK ((email IS NULL) = (erased_at IS NOT NULL)),
  constraint accounts_limit_factor_check CHECK (limit_factor >= 1 AND limit_factor <= 1000),
  constraint accounts_spending_alert_threshold_check CHECK (spending_alert_threshold > 0)
);
CREATE UNIQUE INDEX accounts_by_email ON accounts USING btree (email) WHERE (closed_at IS NULL);
CREATE INDEX accounts_by_status ON accounts USING btree (account_id) WHERE ((frozen_at IS NOT NULL) OR (limit_factor > 1));
CREATE INDEX accounts_closed_by_email ON accounts USING btree (email) WHERE ((closed_at IS NOT NULL) AND (erased_at IS NULL));
CREATE INDEX accounts_to_erase ON accounts USING btree (erase_at) WHERE ((closed_at IS NOT NULL) AND (erased_at IS NULL));

create table delegates (
  delegate_id text collate "C" not null,
  account_id text collate "C" not null,
  name text not null,
  wallet_id text collate "C" not null,
  session_id text collate "C",
  expires_at timestamp with time zone,
  created_at timestamp with time zone not null,
  deleted_at timestamp with time zone,
  constraint delegates_pkey PRIMARY KEY (delegate_id),
  constraint delegates_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(account_id),
  constraint delegates_session_id_fkey FOREIGN KEY (session_id) REFERENCES sessions(session_id) ON DELETE SET NULL
);
CREATE INDEX delegates_by_account ON delegates USING btree (account_id, delegate_id DESC) WHERE (deleted_at IS NULL);
CREATE INDEX delegates_by_session ON delegates USING btree (session_id) WHERE (session_id IS NOT NULL);
CREATE INDEX delegates_revoked ON delegates USING btree (account_id, delegate_id DESC) WHERE (deleted_at IS NOT NULL);

create table device_sign_ins (
  device_hash text collate "C" not null,
  user_code text collate "C" not null,
  client_name text not null,
  address text,
  agent text,
  account_id text collate "C",
  allowed boolean,
  used_at timestamp with time zone,
  expires_at timestamp with time zone not null,
  created_at timestamp with time zone default app_now() not null,
  constraint device_sign_ins_pkey PRIMARY KEY (device_hash),
  constraint device_sign_ins_user_code_key UNIQUE (user_code),
  constraint device_sign_ins_check CHECK ((allowed IS NULL) = (account_id IS NULL)),
  constraint device_sign_ins_check1 CHECK (used_at IS NULL OR allowed IS TRUE),
  constraint device_sign_ins_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(account_id)
);
CREATE INDEX device_sign_ins_by_expiry ON device_sign_ins USING btree (expires_at);

create table handled_events (
  event_key text collate "C" not null,
  expires_at timestamp with time zone not null,
  constraint handled_events_pkey PRIMARY KEY (event_key)
);
CREATE INDEX handled_events_by_expiry ON handled_events USING btree (expires_at);

create table idempotency (
  account_id text collate "C" not null,
  operation text collate "C" not null,
  key_hash bytea not null,
  fingerprint bytea not null,
  object_id text collate "C",
  answer json,
  leased_until timestamp with time zone not null,
  created_at timestamp with time zone default app_now() not null,
  constraint idempotency_pkey PRIMARY KEY (account_id, operation, key_hash),
  constraint idempotency_check CHECK (object_id IS NOT NULL OR answer IS NOT NULL)
);
CREATE INDEX idempotency_by_age ON idempotency USING btree (created_at);

create table keys (
  key_id text collate "C" not null,
  account_id text collate "C" not null,
  service_id uuid,
  delegate_id text collate "C",
  key_hash text collate "C" not null,
  beginning text not null,
  created_at timestamp with time zone default app_now() not null,
  last_used_at timestamp with time zone,
  revoked_at timestamp with time zone,
  constraint keys_pkey PRIMARY KEY (key_id),
  constraint keys_key_hash_key UNIQUE (key_hash),
  constraint keys_of_one CHECK (num_nonnulls(service_id, delegate_id) = 1),
  constraint keys_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(account_id),
  constraint keys_delegate_id_fkey FOREIGN KEY (delegate_id) REFERENCES delegates(delegate_id),
  constraint keys_service_id_fkey FOREIGN KEY (service_id) REFERENCES services(service_id)
);
CREATE INDEX keys_by_account ON keys USING btree (account_id, key_id DESC);
CREATE INDEX keys_by_delegate ON keys USING btree (delegate_id, key_id DESC) WHERE (delegate_id IS NOT NULL);
CREATE INDEX keys_by_service ON keys USING btree (service_id, key_id DESC);
CREATE UNIQUE INDEX keys_current_of_delegate ON keys USING btree (delegate_id) WHERE (revoked_at IS NULL);
CREATE UNIQUE INDEX keys_current_of_service ON keys USING btree (service_id) WHERE (revoked_at IS NULL);

create table known_browsers (
  email text collate "C" not null,
  browser_hash text collate "C" not null,
  signed_in_at timestamp with time zone default app_now() not null,
  constraint known_browsers_pkey PRIMARY KEY (email, browser_hash)
);
CREATE INDEX known_browsers_by_age ON known_browsers USING btree (signed_in_at);

create table known_payees (
  account_id text collate "C" not null,
  payee text collate "C" not null,
  constraint known_payees_pkey PRIMARY KEY (account_id, payee),
  constraint known_payees_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(account_id)
);

create table login_links (
  link_id text collate "C" not null,
  email text collate "C" not null,
  token_hash text collate "C" not null,
  browser_hash text collate "C",
  from_known_browser boolean not null,
  continue_to text,
  created_at timestamp with time zone default app_now() not null,
  expires_at timestamp with time zone not null,
  used_at timestamp with time zone,
  used_by_hash text collate "C",
  constraint login_links_pkey PRIMARY KEY (link_id),
  constraint login_links_token_hash_key UNIQUE (token_hash)
);
CREATE INDEX login_links_by_browser ON login_links USING btree (browser_hash, created_at DESC) WHERE (browser_hash IS NOT NULL);
CREATE INDEX login_links_by_email ON login_links USING btree (email);
CREATE INDEX login_links_by_expiry ON login_links USING btree (expires_at);

create table mails (
  mail_id bigint generated always as identity not null,
  kind text not null,
  to_address text not null,
  link_id text collate "C",
  details jsonb default '{}'::jsonb not null,
  expires_at timestamp with time zone not null,
  attempts integer default 0 not null,
  next_attempt_at timestamp with time zone default app_now() not null,
  constraint mails_pkey PRIMARY KEY (mail_id)
);
CREATE INDEX mails_by_address ON mails USING btree (to_address);
CREATE INDEX mails_in_order ON mails USING btree (((link_id IS NULL)), next_attempt_at);

create table passkey_challenges (
  challenge text collate "C" not null,
  ceremony text not null,
  session_id text collate "C",
  expires_at timestamp with time zone not null,
  constraint passkey_challenges_pkey PRIMARY KEY (challenge),
  constraint passkey_challenges_ceremony_check CHECK (ceremony = ANY (ARRAY['register'::text, 'login'::text, 'approve'::text])),
  constraint passkey_challenges_check CHECK ((ceremony = ANY (ARRAY['register'::text, 'approve'::text])) = (session_id IS NOT NULL))
);
CREATE INDEX passkey_challenges_by_expiry ON passkey_challenges USING btree (expires_at);

create table passkeys (
  passkey_id text collate "C" not null,
  account_id text collate "C" not null,
  credential_id text collate "C" not null,
  public_key bytea not null,
  counter bigint not null,
  transports text[] not null,
  label text not null,
  backed_up boolean not null,
  created_at timestamp with time zone default app_now() not null,
  last_used_at timestamp with time zone,
  constraint passkeys_pkey PRIMARY KEY (passkey_id),
  constraint passkeys_credential_id_key UNIQUE (credential_id),
  constraint passkeys_counter_check CHECK (counter >= 0),
  constraint passkeys_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(account_id)
);
CREATE INDEX passkeys_by_account ON passkeys USING btree (account_id, passkey_id DESC);

create table reveal_links (
  owner_id text collate "C" not null,
  link_id text collate "C" not null,
  token_hash text collate "C" not null,
  revoke_previous boolean not null,
  expires_at timestamp with time zone not null,
  used_at timestamp with time zone,
  constraint reveal_links_pkey PRIMARY KEY (owner_id),
  constraint reveal_links_token_hash_key UNIQUE (token_hash)
);
CREATE INDEX reveal_links_by_expiry ON reveal_links USING btree (expires_at);

create table security_events (
  security_event_id text collate "C" not null,
  account_id text collate "C" not null,
  kind text not null,
  details jsonb default '{}'::jsonb not null,
  address text,
  agent text,
  created_at timestamp with time zone default app_now() not null,
  constraint security_events_pkey PRIMARY KEY (security_event_id),
  constraint security_events_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(account_id)
);
CREATE INDEX security_events_by_account ON security_events USING btree (account_id, security_event_id DESC);
CREATE INDEX security_events_by_age ON security_events USING btree (created_at);

create table services (
  service_id uuid not null,
  account_id text collate "C" not null,
  name text not null,
  price bigint not null,
  payout_address text collate "C" not null,
  redeem_window_seconds integer not null,
  key_grace_hours integer default 24 not null,
  allowed_ips text[],
  next_payout_address text collate "C",
  next_payout_at timestamp with time zone,
  domain text collate "C",
  domain_verified_at timestamp with time zone,
  domain_checked_at timestamp with time zone,
  domain_problem text,
  domain_check_at timestamp with time zone,
  status text default 'active'::text not null,
  closing_at timestamp with time zone,
  end_check_at timestamp with time zone,
  created_at timestamp with time zone not null,
  constraint services_pkey PRIMARY KEY (service_id),
  constraint services_allowed_ips_check CHECK (cardinality(allowed_ips) >= 1 AND cardinality(allowed_ips) <= 20),
  constraint services_check CHECK ((next_payout_address IS NULL) = (next_payout_at IS NULL)),
  constraint services_check1 CHECK ((domain IS NULL) = (domain_check_at IS NULL)),
  constraint services_check2 CHECK (domain IS NOT NULL OR num_nonnulls(domain_verified_at, domain_checked_at, domain_problem) = 0),
  constraint services_domain_check CHECK (length(domain) >= 1 AND length(domain) <= 240),
  constraint services_domain_problem_check CHECK (domain_problem = ANY (ARRAY['record_missing'::text, 'record_differs'::text, 'no_answer'::text])),
  constraint services_key_grace_hours_check CHECK (key_grace_hours >= 0 AND key_grace_hours <= 168),
  constraint services_price_check CHECK (price > 0),
  constraint services_redeem_window_seconds_check CHECK (redeem_window_seconds >= 30 AND redeem_window_seconds <= 604800),
  constraint services_status_check CHECK (status = ANY (ARRAY['active'::text, 'closing'::text, 'closed'::text])),
  constraint services_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(account_id)
);
CREATE INDEX services_by_account ON services USING btree (account_id, created_at DESC, service_id DESC);
CREATE INDEX services_to_end ON services USING btree (end_check_at) WHERE (status = 'closing'::text);
CREATE INDEX services_to_prove ON services USING btree (domain_check_at) WHERE ((domain IS NOT NULL) AND (status <> 'closed'::text));

create table sessions (
  session_id text collate "C" not null,
  account_id text collate "C" not null,
  amr text[] not null,
  client_name text,
  granted_micro bigint default 0 not null,
  signed_in_at timestamp with time zone default app_now() not null,
  generation integer default 1 not null,
  rotated_at timestamp with time zone default app_now() not null,
  idle_expires_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  revoked_at timestamp with time zone,
  constraint sessions_pkey PRIMARY KEY (session_id),
  constraint sessions_generation_check CHECK (generation > 0),
  constraint sessions_granted_micro_check CHECK (granted_micro >= 0),
  constraint sessions_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(account_id)
);
CREATE INDEX sessions_by_account ON sessions USING btree (account_id, session_id DESC);
CREATE INDEX sessions_by_expiry ON sessions USING btree (expires_at);

create table spending_days (
  account_id text collate "C" not null,
  day date not null,
  spent bigint not null,
  alerted_threshold bigint,
  constraint spending_days_pkey PRIMARY KEY (account_id, day),
  constraint spending_days_spent_check CHECK (spent > 0),
  constraint spending_days_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(account_id)
);
CREATE INDEX spending_days_by_day ON spending_days USING btree (day);
