-- Up Migration
-- Services: the grace of their keys, a payout address that does not act yet, and their end.
alter table services
  add column key_grace_hours integer not null default 24 check (key_grace_hours between 0 and 168),
  add column next_payout_address text collate "C",
  add column next_payout_at timestamptz,
  add column closing_at timestamptz,
  -- When the job looks whether a closing service has ended.
  add column end_check_at timestamptz,
  add check ((next_payout_address is null) = (next_payout_at is null)),
  drop constraint services_status_check,
  add constraint services_status_check check (status in ('active', 'closing', 'closed'));
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

alter table keys
  alter column service_id drop not null,
  add column delegate_id text collate "C" references delegates,
  add constraint keys_of_one check (num_nonnulls(service_id, delegate_id) = 1);
create index keys_by_delegate on keys (delegate_id, key_id desc) where delegate_id is not null;
-- Rotation is serialised by the row of the service or delegate; these have the last word.
create unique index keys_current_of_service on keys (service_id) where ended_at is null;
create unique index keys_current_of_delegate on keys (delegate_id) where ended_at is null;

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
